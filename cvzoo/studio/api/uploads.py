"""Resumable uploads by tus 1.0: core, creation, checksum and termination.

Source: https://tus.io/protocols/resumable-upload, version 1.0.0.
"""

import base64
from typing import Annotated

from fastapi import Depends, Header, Request
from fastapi.responses import Response

from cvzoo.studio.access.who import Annotator, Reader, require_owner
from cvzoo.studio.ids import is_id
from cvzoo.studio.problems import Problem
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import studio_of
from cvzoo.studio.uploads.limits import MAX_UPLOAD
from cvzoo.studio.uploads.upload import Upload, decoded

router = api_router("uploads")
_VERSION = "1.0.0"
_BYTES = "application/offset+octet-stream"
_CHECKSUM_MISMATCH = 460


def found_upload(request: Request, upload: str, _: Reader) -> Upload:
    """The upload. Raises Problem 401 or 404."""
    found = studio_of(request).data.uploads.get(upload) if is_id(upload, "up") else None
    if found is None:
        raise Problem(404, "there is no such upload", hint="it may have been imported, or have expired")
    return found


FoundUpload = Annotated[Upload, Depends(found_upload)]


@router.options("/uploads")
def describe(_: Reader) -> Response:
    """What this server understands of tus."""
    more = {"Tus-Version": _VERSION, "Tus-Extension": "creation,checksum,termination", "Tus-Max-Size": str(MAX_UPLOAD)}
    return _answer(204, more | {"Tus-Checksum-Algorithm": "sha256"})


@router.post("/uploads", status_code=201)
def create_upload(
    request: Request,
    who: Annotator,
    upload_length: Annotated[int, Header(ge=1)],
    upload_metadata: Annotated[str, Header(max_length=2000)] = "",
) -> Response:
    """A new upload. Upload-Metadata: `filename` and its base64"""
    name = ""
    for pair in upload_metadata.split(","):
        key, _, value = pair.strip().partition(" ")
        if key == "filename":
            name = decoded(value)
    upload = studio_of(request).data.uploads.create(name, upload_length, who.user)
    return _answer(201, {"Location": f"/api/v1/uploads/{upload.id}"})


@router.head("/uploads/{upload}")
def get_offset(upload: FoundUpload) -> Response:
    """How many bytes are accepted."""
    return _answer(200, {"Upload-Offset": str(upload.offset), "Upload-Length": str(upload.size)})


@router.patch("/uploads/{upload}", status_code=204)
async def append(
    request: Request,
    upload: FoundUpload,
    who: Annotator,
    upload_offset: Annotated[int, Header(ge=0)],
    content_type: Annotated[str, Header()] = "",
    upload_checksum: Annotated[str, Header(max_length=100)] = "",
) -> Response:
    """Adds bytes. 409 for another offset than that of HEAD, 460 if they have not the checksum"""
    require_owner(who, upload.created_by)
    if content_type != _BYTES:
        raise Problem(415, "the body is of another type", expected=_BYTES, got=content_type[:80])
    sha256 = _sha256(upload_checksum) if upload_checksum else None
    after, is_right = await studio_of(request).data.uploads.append(upload, upload_offset, request.stream(), sha256)
    if not is_right:
        raise Problem(_CHECKSUM_MISMATCH, "the bytes have another checksum", hint="send them again")
    return _answer(204, {"Upload-Offset": str(after.offset)})


@router.delete("/uploads/{upload}", status_code=204)
def delete_upload(request: Request, upload: FoundUpload, who: Annotator) -> Response:
    """Removes an upload."""
    require_owner(who, upload.created_by)
    studio_of(request).data.uploads.delete(upload.id)
    return _answer(204, {})


def _sha256(text: str) -> bytes:
    algorithm, _, value = text.partition(" ")
    try:
        digest = base64.b64decode(value, validate=True)
    except ValueError:
        digest = b""
    if algorithm != "sha256" or len(digest) != 32:
        raise Problem(400, "Upload-Checksum is malformed", expected="sha256 and the base64 of 32 bytes")
    return digest


def _answer(status: int, headers: dict[str, str]) -> Response:
    return Response(status_code=status, headers={"Tus-Resumable": _VERSION} | headers)
