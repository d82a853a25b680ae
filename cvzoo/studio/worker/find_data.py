"""Recognizes what a folder has: a layout of annotated images, a folder per class, or images alone."""

import dataclasses
import os
import pathlib
from collections.abc import Collection

from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, AnnotatedSet
from cvzoo.datasets.layouts.data_spec import KINDS, DataSpec, parse_data_spec
from cvzoo.datasets.layouts.lenient_text import read_list
from cvzoo.datasets.layouts.read import read_annotated_set
from cvzoo.datasets.voc.folders import voc_folders
from cvzoo.errors.exceptions import ConfigError, DatasetError
from cvzoo.images.list_image_files import IMAGE_ENDINGS, list_image_files

_SPLITS = ("train", "val", "test")
_SAID = "with a data set in VOC's, COCO's, YOLO's, labelme's or SROIE's layout, a folder per class, or images"


@dataclasses.dataclass(frozen=True)
class FoundData:
    """What was found.

    task: "boxes" or "classes"; annotated: the images in the order that training reads them
    """

    task: str
    annotated: AnnotatedSet


def find_data(text: str, classes: Collection[str] = (), *, is_unpacked: bool = False) -> FoundData:
    """The data set of a specification as `cvzoo train --data` has, or of a path, whose layout is recognized.

    classes: names of folders that are known as classes, so that one of them alone is a class, too
    is_unpacked: whether the folder has what was uploaded, which errors then name instead of it
    Raises ConfigError or DatasetError if there are no images.
    """
    kind, colon, rest = text.partition(":")
    if colon and kind == "folder":
        return _class_folders(pathlib.Path(rest), wanted=True) or _no_images(pathlib.Path(rest))
    if colon and kind in KINDS:
        return _annotated(parse_data_spec(text))
    path = pathlib.Path(text)
    if not path.exists():
        raise ConfigError(f"{text}: there is no such folder", expected="voc:FOLDER, coco:FILE.json ... or a folder")
    if path.is_dir():
        return _in_folder(path, classes, is_unpacked=is_unpacked)
    return _annotated(parse_data_spec(text))


def _in_folder(path: pathlib.Path, classes: Collection[str], *, is_unpacked: bool) -> FoundData:
    try:
        return _annotated(DataSpec("", path) if "," in path.name else parse_data_spec(path))
    except ConfigError:
        pass
    files = [each for each in path.iterdir() if each.suffix == ".json"]
    images = list_image_files(path)
    if len(files) == 1 and (path / "images").is_dir():
        return _annotated(DataSpec("coco", files[0]))
    stems = {each.stem for each in images}
    if any(each.stem in stems for each in files):
        return _annotated(DataSpec("labelme", path))
    if len(files) == 1 and images:
        return _annotated(DataSpec("coco", files[0]))
    is_known = any(each.name in classes for each in path.iterdir() if each.is_dir())
    return (None if images else _class_folders(path, wanted=is_known)) or _loose(path, is_unpacked=is_unpacked)


def _annotated(spec: DataSpec) -> FoundData:
    annotated = read_annotated_set(spec)
    if not any(image.path for image in annotated.images):
        raise DatasetError(f"{spec} has no images", expected="images next to the annotations, or photos=FOLDER")
    return FoundData("boxes", dataclasses.replace(annotated, images=_in_order(annotated, spec)))


def _in_order(annotated: AnnotatedSet, spec: DataSpec) -> tuple[AnnotatedImage, ...]:
    """The images in the order of the data set that `cvzoo train` makes of the specification, so that bits agree."""
    if annotated.kind == "coco":  # by id
        ids = {image.name: image.extra.get("id") for image in annotated.images}
        if all(isinstance(each, int) for each in ids.values()):
            return tuple(sorted(annotated.images, key=lambda image: int(ids[image.name] or 0)))
        return annotated.images
    folder = spec.lists or (voc_folders(spec.path).lists if spec.kind == "voc" else spec.path)
    rank: dict[str, int] = {}
    for split in annotated.splits:
        path = folder / f"{split}.txt"
        for line in read_list(path, []) if path.is_file() else ():
            rank.setdefault(
                line.removesuffix(".jpg") if spec.kind == "sroie" else pathlib.PurePath(line).stem, len(rank)
            )
    stem = lambda image: pathlib.PurePath(image.name).stem  # noqa: E731
    return tuple(sorted(annotated.images, key=lambda image: rank.get(stem(image), len(rank))))


def _class_folders(path: pathlib.Path, *, wanted: bool) -> FoundData | None:
    """The images of a folder per class, below a folder per split or not; None if there are none.

    wanted: one class alone, or a folder without images, is a class, too
    """
    if not path.is_dir():
        return None
    parts = {split: path / split for split in _SPLITS if (path / split).is_dir()}
    images: list[AnnotatedImage] = []
    names: set[str] = set()
    for split, folder in (parts or {"": path}).items():
        for inner in sorted(each for each in folder.iterdir() if each.is_dir() and not each.name.startswith(".")):
            found = list_image_files(inner, recursive=True)
            names |= {inner.name} if found or wanted else set()
            for file in found:
                name = file.relative_to(path).as_posix()
                object_ = AnnotatedObject(0, inner.name, None)
                images.append(AnnotatedImage(name, file, None, None, (split,) if split else (), (object_,)))
    if not images or (len(names) < 2 and not wanted and not parts) or names <= {"images", "img"}:
        return None
    annotated = AnnotatedSet("folder", path, tuple(images), tuple(sorted(names)), splits=tuple(parts))
    return FoundData("classes", annotated)


def _loose(path: pathlib.Path, *, is_unpacked: bool) -> FoundData:
    files = list_image_files(path, recursive=True)
    if not files:
        return _no_images(path, is_unpacked=is_unpacked)
    images = tuple(AnnotatedImage(file.relative_to(path).as_posix(), file) for file in files)
    return FoundData("boxes", AnnotatedSet("images", path, images, ()))


def _no_images(path: pathlib.Path, *, is_unpacked: bool = False) -> FoundData:
    endings = " ".join(sorted(IMAGE_ENDINGS))
    names = sorted(os.listdir(path))[:5] if path.is_dir() else ["no folder"]
    raise DatasetError(
        f"there are no images: no file ends in one of {endings}",
        expected=f"a {'zip or tar file' if is_unpacked else 'folder'} {_SAID}",
        got=", ".join(names) or f"an empty {'archive' if is_unpacked else 'folder'}",
    )
