"""A list of images."""

import os
import pathlib
from collections.abc import Sequence

import numpy as np

from cvzoo.datasets.photo_place import check_photo_place, real_folder
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.errors.exceptions import DatasetError, FileError, FileFormatError
from cvzoo.files.file_bytes import file_bytes
from cvzoo.images.read_image import read_image


class ImageDataset(GetterDataset):
    """Images as a text file lists them, a path a line; Chainer's data set.

    paths: the path of such a file (UTF-8; empty lines are skipped), or the images' paths
    root: the folder that relative paths start from; None: that of the file, the current one for a list
    color: False: images are grey, (1, H, W)
    allow_outside: whether a file may list images outside of root; a list may

    Each example is an image, (3, H, W) float32 RGB in [0, 255]; img_paths: N of str, in the order of the list.
    Raises DatasetError if the file cannot be read or lists an image outside.
    """

    def __init__(
        self,
        paths: str | os.PathLike | Sequence[str | os.PathLike],
        root: str | os.PathLike | None = None,
        *,
        color: bool = True,
        allow_outside: bool = False,
    ):
        super().__init__()
        is_file = isinstance(paths, str | os.PathLike)
        folder = pathlib.Path(root if root is not None else pathlib.Path(paths).parent if is_file else ".")  # type: ignore[arg-type]
        names = _lines(pathlib.Path(paths)) if is_file else [os.fspath(path) for path in paths]  # type: ignore[arg-type, union-attr]
        self.img_paths = [os.path.join(folder, name) for name in names]
        if is_file:
            real = real_folder(folder, named=True)
            for path in self.img_paths:
                check_photo_place(pathlib.Path(path), [real], allow_outside=allow_outside)
        self._color = color
        self.add_getter("img", self._get_img)
        self.keys = "img"
        self.name_examples(self.img_paths.__getitem__)

    def __len__(self) -> int:
        return len(self.img_paths)

    def _get_img(self, i: int) -> np.ndarray:
        return read_image(self.img_paths[i], color=self._color)


def _lines(path: pathlib.Path) -> list[str]:
    try:
        text = file_bytes(path).decode("utf-8-sig")
    except (FileError, FileFormatError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: the list of images cannot be read: {error}") from error
    return [line.strip() for line in text.split("\n") if line.strip()]
