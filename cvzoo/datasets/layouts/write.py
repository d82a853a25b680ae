"""Writes a data set in any layout."""

import pathlib
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

from cvzoo.datasets.layouts.annotated_set import AnnotatedSet
from cvzoo.datasets.layouts.copy_photo import copy_photo
from cvzoo.datasets.layouts.new_folder import new_folder, plain_names
from cvzoo.datasets.layouts.write_coco import write_coco
from cvzoo.datasets.layouts.write_sroie import write_sroie
from cvzoo.datasets.layouts.write_voc import write_voc
from cvzoo.datasets.layouts.write_yolo import write_yolo
from cvzoo.errors.exceptions import ConfigError, DatasetError
from cvzoo.typing.aliases import FilePath

Writer = Callable[[AnnotatedSet, pathlib.Path, Mapping[str, str]], None]
_WRITERS: Mapping[str, Writer] = MappingProxyType(
    {"voc": write_voc, "coco": write_coco, "yolo": write_yolo, "sroie": write_sroie}
)
PHOTO_FOLDERS = MappingProxyType({"voc": "JPEGImages", "coco": "images", "yolo": "images", "sroie": "img"})
_FLAT = ("voc", "sroie")  # layouts with all images in one folder, identified by their names without extension


def write_annotated_set(
    found: AnnotatedSet,
    out: FilePath,
    *,
    kind: str,
    as_stored: Collection[str] = (),
    finish: Callable[[pathlib.Path], None] | None = None,
    step: Callable[[], None] | None = None,
) -> dict[str, str]:
    """Writes the data set to `out` atomically, and returns the images' new names by their old ones.

    found: every image has a path; objects without a class or a box are dropped
    out: a folder that does not exist or is empty, outside of the original
    kind: the layout to write; as_stored: names of images whose EXIF orientation is reset in the copy
    finish: called with the temporary folder, to add files; step: called after each image
    Raises ConfigError for an invalid `out`, OSError.
    """
    check_apart(found.root, out)
    for photo in found.photos:
        if photo.path is not None:
            check_apart(photo.path.parent, out)
    names = plain_names([photo.name for photo in found.photos], flat=kind in _FLAT)
    with new_folder(out) as folder:
        photo_dir = folder / PHOTO_FOLDERS[kind]
        photo_dir.mkdir()
        for photo in found.photos:
            if photo.path is None:
                raise DatasetError(f"{photo.name}: the image to copy does not exist")
            copy_photo(photo.path, photo_dir / names[photo.name], as_stored=photo.name in as_stored)
            if step is not None:
                step()
        _WRITERS[kind](found, folder, names)
        if finish is not None:
            finish(folder)
    return names


def check_apart(original: pathlib.Path, out: FilePath) -> None:
    """Raises ConfigError if `out` is the original's folder or in it."""
    inside, whole = pathlib.Path(out).resolve(), original.resolve()
    whole = whole if whole.is_dir() else whole.parent
    if inside == whole or inside.is_relative_to(whole):
        raise ConfigError(f"{out} is in the original {whole}, which must not be changed", hint="another folder")
