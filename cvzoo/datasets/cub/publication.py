"""Locates or downloads the files of CUB-200-2011, and reads its tables."""

import pathlib

import numpy as np

from cvzoo.datasets.archive import Archive, provide
from cvzoo.datasets.text_files import read_lines
from cvzoo.errors.exceptions import DatasetError
from cvzoo.typing.aliases import Array, FilePath

_RECORDS = "https://data.caltech.edu/records"
_PHOTOS = Archive(
    url=f"{_RECORDS}/65de6-vp158/files/CUB_200_2011.tgz?download=1", md5="97eceeb196236b17998738112f37df78"
)
_MASKS = Archive(
    url=f"{_RECORDS}/w9d68-gec53/files/segmentations.tgz?download=1", md5="4d47ba1228eae64f2fa547c47bc65255"
)
_PAGE = "https://www.vision.caltech.edu/datasets/cub_200_2011/"
_LICENCE = "images for non-commercial research"


def provide_cub(data_dir: FilePath) -> pathlib.Path:
    """The path of the folder CUB_200_2011: data_dir itself, or in it."""
    return _provide(data_dir, "images.txt", "CUB_200_2011", _PHOTOS)


def provide_cub_masks(data_dir: FilePath) -> pathlib.Path:
    """The path of the folder segmentations: data_dir itself, or in it."""
    return _provide(data_dir, "001.Black_footed_Albatross", "segmentations", _MASKS)


def _provide(data_dir: FilePath, needs: str, folder: str, archive: Archive) -> pathlib.Path:
    if data_dir != "auto" and (pathlib.Path(data_dir) / needs).exists():
        return pathlib.Path(data_dir)
    root = provide(data_dir, "cub", needs=f"{folder}/{needs}", archives=(archive,), licence=_LICENCE, page=_PAGE)
    return root / folder


def read_paths(root: pathlib.Path) -> list[str]:
    """The images' paths below `images`, in the order of their ids."""
    return [line.split(maxsplit=1)[1] for line in read_lines(root / "images.txt")]


def read_table(path: pathlib.Path, n_image: int, n_number: int) -> Array:
    """(n_photo, n_number) float64, from lines of an image's id (1 ...) and n_number numbers.

    Raises DatasetError that names the file.
    """
    try:
        rows = np.array([line.split() for line in read_lines(path)], np.float64)
    except ValueError as error:
        raise DatasetError(f"{path} is not a table of numbers", got=error) from error
    if rows.shape != (n_image, 1 + n_number) or not np.array_equal(rows[:, 0], np.arange(1, n_image + 1)):
        raise DatasetError(f"{path} must have one line per image", expected=(n_image, 1 + n_number), got=rows.shape)
    return rows[:, 1:]
