"""Writes a data set in any layout."""

import pathlib
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

from cvzoo.datasets.layouts.annotated_set import AnnotatedSet
from cvzoo.datasets.layouts.copy_image import copy_image
from cvzoo.datasets.layouts.new_folder import new_folder, plain_names
from cvzoo.datasets.layouts.write_coco import write_coco
from cvzoo.datasets.layouts.write_labelme import write_labelme
from cvzoo.datasets.layouts.write_sroie import write_sroie
from cvzoo.datasets.layouts.write_voc import write_voc
from cvzoo.datasets.layouts.write_yolo import write_yolo
from cvzoo.errors.exceptions import ConfigError, DatasetError
from cvzoo.typing.aliases import FilePath

Writer = Callable[[AnnotatedSet, pathlib.Path, Mapping[str, str]], None]
_WRITERS: Mapping[str, Writer] = MappingProxyType(
    {"voc": write_voc, "coco": write_coco, "yolo": write_yolo, "sroie": write_sroie, "labelme": write_labelme}
)
PHOTO_FOLDERS = MappingProxyType(
    {"voc": "JPEGImages", "coco": "images", "yolo": "images", "sroie": "img", "labelme": "."}
)
_FLAT = (
    "voc",
    "sroie",
    "labelme",
)  # layouts with all images in one folder, identified by their names without extension


def write_annotated_set(
    annotated: AnnotatedSet,
    out: FilePath,
    *,
    kind: str,
    as_stored: Collection[str] = (),
    finish: Callable[[pathlib.Path], None] | None = None,
    step: Callable[[], None] | None = None,
) -> dict[str, str]:
    """Writes the data set to `out` atomically, and returns the images' new names by their old ones.

    annotated: every image has a path; objects without a class or a box are dropped
    out: a folder that does not exist or is empty, outside of the original
    kind: the layout to write; as_stored: names of images whose EXIF orientation is reset in the copy
    finish: called with the temporary folder, to add files; step: called after each image
    Raises ConfigError for an invalid `out`, OSError.
    """
    check_apart(annotated.root, out)
    for image in annotated.images:
        if image.path is not None:
            check_apart(image.path.parent, out)
    return write_new_set(annotated, out, kind=kind, as_stored=as_stored, finish=finish, step=step)


def write_new_set(
    annotated: AnnotatedSet,
    out: FilePath,
    *,
    kind: str,
    as_stored: Collection[str] = (),
    finish: Callable[[pathlib.Path], None] | None = None,
    step: Callable[[], None] | None = None,
) -> dict[str, str]:
    """As `write_annotated_set`, for annotations of loose images, in whose folder `out` may be."""
    names = plain_names([image.name for image in annotated.images], flat=kind in _FLAT)
    with new_folder(out) as folder:
        image_dir = folder / PHOTO_FOLDERS[kind]
        image_dir.mkdir(exist_ok=True)
        for image in annotated.images:
            if image.path is None:
                raise DatasetError(f"{image.name}: the image to copy does not exist")
            copy_image(image.path, image_dir / names[image.name], as_stored=image.name in as_stored)
            if step is not None:
                step()
        _WRITERS[kind](annotated, folder, names)
        if finish is not None:
            finish(folder)
    return names


def check_apart(original: pathlib.Path, out: FilePath) -> None:
    """Raises ConfigError if `out` is the original's folder or in it."""
    inside, whole = pathlib.Path(out).resolve(), original.resolve()
    whole = whole if whole.is_dir() else whole.parent
    if inside == whole or inside.is_relative_to(whole):
        raise ConfigError(f"{out} is in the original {whole}, which must not be changed", hint="another folder")
