"""A list of images with a class each."""

import os
import pathlib
from collections.abc import Sequence

import numpy as np

from cvzoo.datasets.photo_place import check_photo_place, real_folder
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.errors.exceptions import DatasetError, FileError, FileFormatError
from cvzoo.files.file_bytes import file_bytes
from cvzoo.images.read_image import read_image
from cvzoo.labels.class_colors import class_colors

_MOST = 1_000_000  # classes that are believed without names: each gets a name and a color


class LabeledImageDataset(GetterDataset):
    """Images with a class each, as a text file lists them, a line "PATH LABEL" an image; Chainer's data set.

    pairs: the path of such a file (UTF-8; a path may hold blanks, empty lines are skipped), or pairs (path, label)
    root: the folder that relative paths start from; None: that of the file, the current one for pairs
    label_names: names of the classes; None: their numbers, 0 to the greatest label
    color: False: images are grey, (1, H, W)
    allow_outside: whether a file may list images outside of root; pairs may lie anywhere

    img: (3, H, W) float32 RGB in [0, 255]; label: () int32
    img_paths: N of str; labels: (N,) int32; label_names; label_colors; in the order of the list.
    Raises DatasetError that names the line for what is no such line, a label that is no class, or an image outside.
    Unlike Chainer's, whose label_dtype may be any, labels are int32.
    """

    def __init__(
        self,
        pairs: str | os.PathLike | Sequence[tuple[str | os.PathLike, int]],
        root: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        color: bool = True,
        allow_outside: bool = False,
    ):
        super().__init__()
        is_file = isinstance(pairs, str | os.PathLike)
        source = os.fspath(pairs) if is_file else "pairs"
        folder = pathlib.Path(root if root is not None else pathlib.Path(source).parent if is_file else ".")
        rows = _lines(pathlib.Path(source)) if is_file else [_pair(i, pair) for i, pair in enumerate(pairs)]
        labels = [_label(label, f"{source}, {'line' if is_file else 'pair'} {at}") for at, _, label in rows]
        n_class = min(max(labels, default=-1) + 1, _MOST) if label_names is None else len(label_names)
        self.label_names = tuple(map(str, range(n_class)) if label_names is None else label_names)
        self.label_colors = class_colors(n_class)
        self.img_paths = []
        real = real_folder(folder, named=True) if is_file else ""
        for (at, path, _), label in zip(rows, labels):
            where = f"{source}, {'line' if is_file else 'pair'} {at}"
            if not 0 <= label < n_class:
                raise DatasetError(f"{where}: the label is no class", expected=f"0 .. {n_class - 1}", got=label)
            self.img_paths.append(os.path.join(folder, path))
            if is_file:
                check_photo_place(pathlib.Path(self.img_paths[-1]), [real], allow_outside=allow_outside)
        self.labels = np.array(labels, np.int32)
        self._color = color
        self.add_getter("img", self._get_img)
        self.add_getter("label", self.labels.__getitem__)
        self.name_examples(self.img_paths.__getitem__)

    def __len__(self) -> int:
        return len(self.img_paths)

    def _get_img(self, i: int) -> np.ndarray:
        return read_image(self.img_paths[i], color=self._color)


def _lines(path: pathlib.Path) -> list[tuple[int, str, str]]:
    """Number of the line, path and label of each line that is not empty."""
    try:
        text = file_bytes(path).decode("utf-8-sig")
    except (FileError, FileFormatError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: the list of images cannot be read: {error}") from error
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.strip().rsplit(maxsplit=1)
        if len(words) == 1:
            raise DatasetError(f"{path}, line {number}: no image with a label", expected="PATH LABEL", got=line[:80])
        if words:
            rows.append((number, words[0], words[1]))
    return rows


def _pair(i: int, pair: object) -> tuple[int, str, object]:
    try:
        path, label = pair  # type: ignore[misc]
        if not isinstance(pair, str):
            return i, os.fspath(path), label
    except (TypeError, ValueError):
        pass
    raise DatasetError(f"pairs, pair {i}: no image with a label", expected="(path, label)", got=repr(pair)[:80])


def _label(label: object, where: str) -> int:
    try:
        number = int(label)  # type: ignore[call-overload]
        if isinstance(label, str) or number == label:
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise DatasetError(f"{where}: the label is no integer", got=repr(label)[:80])
