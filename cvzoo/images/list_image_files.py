"""Lists the image files in a folder."""

import pathlib

from cvzoo.typing.plain import FilePath

IMAGE_ENDINGS = frozenset(
    [".avif", ".bmp", ".gif", ".jp2", ".jpeg", ".jpg", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp"]
)


def list_image_files(folder: FilePath, *, recursive: bool = False) -> list[pathlib.Path]:
    """The sorted paths of all files in the folder with an image's extension (.jpg, .PNG ...), except hidden files.

    folder: a path
    recursive: include subfolders
    Raises NotADirectoryError (an OSError) if there is no such folder.
    """
    folder = pathlib.Path(folder)
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is not a folder")
    paths = folder.rglob("*") if recursive else folder.iterdir()
    return sorted(
        path
        for path in paths
        if path.suffix.lower() in IMAGE_ENDINGS and not path.name.startswith(".") and path.is_file()
    )
