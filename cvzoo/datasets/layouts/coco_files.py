"""Where COCO's annotation files and images are."""

import pathlib
import re
from collections.abc import Iterable

from cvzoo.errors.exceptions import ConfigError, DatasetError

INSTANCES, KEYPOINTS, LVIS = "instances_*.json", "person_keypoints_*.json", "lvis_*.json"


def coco_files(root: pathlib.Path, *, first: str = INSTANCES) -> list[pathlib.Path]:
    """The annotation files of a folder, in it or in its folder annotations, each of which is a split.

    first: the pattern of the names that are preferred, KEYPOINTS or LVIS; otherwise they are instances_*.json,
        otherwise person_keypoints_*.json, otherwise all
    Raises DatasetError if there are none.
    """
    folder = root / "annotations" if (root / "annotations").is_dir() else root
    for pattern in dict.fromkeys((first, INSTANCES, KEYPOINTS, "*.json")):
        paths = sorted(folder.glob(pattern))
        if paths:
            return paths
    raise DatasetError(f"{root} contains no annotations", expected=f"annotations/{first}")


def coco_file(root: pathlib.Path, split: str | None, *, first: str = INSTANCES) -> pathlib.Path:
    """The annotation file of a split of a folder.

    split: such as val2017, or val for the one that is val with a year; None: the only one
    first, Raises: as `coco_files`; ConfigError if no file is of the split, or several are
    """
    paths = coco_files(root, first=first)
    names = None if split is None else splits_named(split, map(coco_split, paths))
    found = [path for path in paths if names is None or coco_split(path) in names]
    if len(found) == 1:
        return found[0]
    expected = " or ".join(map(coco_split, found or paths))
    if not found:
        raise ConfigError(f"coco:{root} has no split {split}", expected=expected)
    raise ConfigError(f"coco:{root} has several splits", expected=expected, hint="--split, or ,split= after the SPEC")


def splits_named(split: str, known: Iterable[str]) -> list[str]:
    """The split itself if it is known, otherwise the known ones of this name with a year, such as val2017 of val."""
    known = list(known)
    return [split] if split in known else [each for each in known if re.fullmatch(rf"{re.escape(split)}\d+", each)]


def coco_split(path: pathlib.Path) -> str:
    """The split of an annotation file, by its name: val2017 of instances_val2017.json."""
    return path.stem.rpartition("_")[2] or path.stem


def coco_image_folders(path: pathlib.Path) -> list[pathlib.Path]:
    """The usual folders of the images of ROOT/annotations/instances_val2017.json: ROOT/val2017, ROOT/images ..."""
    here, above = path.parent, path.parent.parent
    name = coco_split(path)
    return [above / name, above / "images" / name, above / "images", above, here / "images", here / name, here]
