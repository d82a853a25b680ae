"""The files of images."""

import pathlib
from typing import Annotated, TypeAlias

from fastapi import Depends, Path, Request
from fastapi.responses import FileResponse, Response

from cvzoo.studio.access.who import Reader
from cvzoo.studio.photos.store import ImageStore, media_type_of
from cvzoo.studio.problems import Problem
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import studio_of

router = api_router("images")
_SHA256: TypeAlias = Annotated[str, Path(pattern="^[0-9a-f]{64}$")]
# the bytes of a name never change; of a file that is more than an image nothing is executed
_HEADERS = {
    "cache-control": "private, max-age=31536000, immutable",
    "content-security-policy": "sandbox; default-src 'none'",
}


async def _store(request: Request, _: Reader) -> ImageStore:  # waits for nothing, and needs no thread
    return studio_of(request).data.store


_Store: TypeAlias = Annotated[ImageStore, Depends(_store)]


@router.get("/images/{sha256}/thumbnail.jpg")
def get_thumbnail(store: _Store, sha256: _SHA256) -> Response:
    """A JPEG of at most 256 pixels a side."""
    try:
        # read at once: FileResponse would change threads four times for a few kB
        return Response(store.thumbnail(sha256).read_bytes(), media_type="image/jpeg", headers=_HEADERS)
    except (FileNotFoundError, IsADirectoryError):
        raise Problem(404, "there is no such image, or it cannot be decoded") from None


@router.get("/images/{sha256}/view")
def get_view(store: _Store, sha256: _SHA256) -> Response:
    """The image as browsers show it: its file, or for a format that they do not know a JPEG."""
    path = store.image(sha256)
    media = media_type_of(path) if path.is_file() else None
    if media is None or store.view(sha256).is_file():
        return _jpeg(store.view(sha256))
    return FileResponse(path, media_type=media, headers=_HEADERS)


@router.get("/images/{sha256}/file")
def get_file(store: _Store, sha256: _SHA256) -> Response:
    """The file, to download."""
    path = store.image(sha256)
    if not path.is_file():
        raise Problem(404, "there is no such image")
    return FileResponse(path, media_type="application/octet-stream", filename=sha256, headers=_HEADERS)


def _jpeg(path: pathlib.Path) -> Response:
    if not path.is_file():
        raise Problem(404, "there is no such image, or it cannot be decoded")
    return FileResponse(path, media_type="image/jpeg", headers=_HEADERS)
