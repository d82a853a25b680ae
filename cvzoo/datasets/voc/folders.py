"""The subfolders of VOC's layout."""

import pathlib
from typing import NamedTuple

from cvzoo.typing.aliases import FilePath


class VOCFolders(NamedTuple):
    """The folders of the XML files, of the images and of the lists of images; each may be missing."""

    annotations: pathlib.Path
    images: pathlib.Path
    lists: pathlib.Path


def voc_folders(root: FilePath) -> VOCFolders:
    """Annotations, JPEGImages and ImageSets/Main below `root`; annotations and images, if only these exist, as in many
    data sets on Kaggle.
    """
    root = pathlib.Path(root)
    return VOCFolders(
        _first(root, "Annotations", "annotations"), _first(root, "JPEGImages", "images"), root / "ImageSets" / "Main"
    )


def _first(root: pathlib.Path, usual: str, other: str) -> pathlib.Path:
    return root / (other if (root / other).is_dir() and not (root / usual).is_dir() else usual)
