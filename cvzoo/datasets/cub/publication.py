"""Where CUB-200-2011 is published, and its tables."""

import pathlib

import numpy as np

from cvzoo.datasets.archive import Archive, provide
from cvzoo.datasets.text_files import read_lines
from cvzoo.errors.exceptions import DatasetError

_RECORDS = "https://data.caltech.edu/records"
_PHOTOS = Archive(
    url=f"{_RECORDS}/65de6-vp158/files/CUB_200_2011.tgz?download=1", md5="97eceeb196236b17998738112f37df78"
)
_MASKS = Archive(
    url=f"{_RECORDS}/w9d68-gec53/files/segmentations.tgz?download=1", md5="4d47ba1228eae64f2fa547c47bc65255"
)
_PAGE = "https://www.vision.caltech.edu/datasets/cub_200_2011/"
_LICENCE = "photos for non-commercial research"


def provide_cub(data_dir):
    """The folder CUB_200_2011: data_dir itself, or in it."""
    return _provide(data_dir, "images.txt", "CUB_200_2011", _PHOTOS)


def provide_cub_masks(data_dir):
    """The folder segmentations: data_dir itself, or in it."""
    return _provide(data_dir, "001.Black_footed_Albatross", "segmentations", _MASKS)


def _provide(data_dir, needs, folder, archive):
    if data_dir != "auto" and (pathlib.Path(data_dir) / needs).exists():
        return pathlib.Path(data_dir)
    root = provide(data_dir, "cub", needs=f"{folder}/{needs}", archives=(archive,), licence=_LICENCE, page=_PAGE)
    return root / folder


def read_paths(root):
    """The photos' paths below `images`, in the order of their ids."""
    return [line.split(maxsplit=1)[1] for line in read_lines(root / "images.txt")]


def read_table(path, n_photo, n_number):
    """(n_photo, n_number) float64: each photo's numbers, from lines of its id (1 ...) and the numbers.

    Raises DatasetError that names the file.
    """
    try:
        rows = np.array([line.split() for line in read_lines(path)], np.float64)
    except ValueError as error:
        raise DatasetError(f"{path}: not a table of numbers", got=error) from error
    if rows.shape != (n_photo, 1 + n_number) or not np.array_equal(rows[:, 0], np.arange(1, n_photo + 1)):
        raise DatasetError(f"{path}: not one line a photo", expected=(n_photo, 1 + n_number), got=rows.shape)
    return rows[:, 1:]
