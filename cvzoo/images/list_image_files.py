"""The photos in a folder."""

import pathlib

IMAGE_ENDINGS = frozenset(
    [".avif", ".bmp", ".gif", ".jp2", ".jpeg", ".jpg", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp"]
)


def list_image_files(folder, *, recursive=False):
    """The paths of all photos in the folder, told by their endings (.jpg, .PNG ...), sorted; hidden files are left out.

    folder: a path
    recursive: look into folders below, too
    Raises NotADirectoryError (an OSError) if there is no such folder.
    """
    folder = pathlib.Path(folder)
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is not a folder")
    found = folder.rglob("*") if recursive else folder.iterdir()
    return sorted(
        path
        for path in found
        if path.suffix.lower() in IMAGE_ENDINGS and not path.name.startswith(".") and path.is_file()
    )
