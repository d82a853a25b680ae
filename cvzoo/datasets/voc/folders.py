"""The folders of VOC's layout."""

import os
import pathlib
from typing import NamedTuple


class VOCFolders(NamedTuple):
    """Where the XML files, the photos and the lists of photos lie; each may be absent."""

    annotations: pathlib.Path
    photos: pathlib.Path
    lists: pathlib.Path


def voc_folders(root: str | os.PathLike) -> VOCFolders:
    """Annotations, JPEGImages and ImageSets/Main below `root`.

    Where there is no such folder but annotations or images, as in many sets of Kaggle, those are meant.
    """
    root = pathlib.Path(root)
    return VOCFolders(
        _first(root, "Annotations", "annotations"), _first(root, "JPEGImages", "images"), root / "ImageSets" / "Main"
    )


def _first(root, usual, other):
    return root / (other if (root / other).is_dir() and not (root / usual).is_dir() else usual)
