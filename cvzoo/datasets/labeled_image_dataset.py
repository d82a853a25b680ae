"""Image classification data from a list of paths and labels."""

import os
import pathlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cvzoo.datasets.image_location import check_image_location, real_folder
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.errors.exceptions import DatasetError, FileError, FileFormatError
from cvzoo.files.file_bytes import file_bytes
from cvzoo.images.read_image import read_image
from cvzoo.labels.class_colors import class_colors
from cvzoo.typing.aliases import FilePath, Image

_MAX_CLASSES = 1_000_000  # without label_names, since each class gets a name and a color


class LabeledImageDataset(GetterDataset):
    """Images with one label each, listed in a text file with a line "PATH LABEL" per image, as in Chainer.

    pairs: the path of such a file (UTF-8; a path may contain spaces, empty lines are skipped), or pairs (path, label)
    root: the folder of relative paths; None: that of the file, the current one for pairs
    label_names: names of the classes; None: "0" to the largest label
    color: False: images are gray, (1, H, W)
    allow_outside: whether a file may list images outside of root; pairs may be anywhere

    img: (3, H, W) float32 RGB in [0, 255]; label: () int32
    img_paths: N of str; labels: (N,) int32; label_names; label_colors; in the order of the list.
    Raises DatasetError that names the line if it is malformed, its label is out of range, or its image is outside.
    Unlike in Chainer, which has label_dtype=, labels are int32.
    """

    def __init__(
        self,
        pairs: FilePath | Sequence[tuple[FilePath, int]],
        root: FilePath | None = None,
        *,
        label_names: Sequence[str] | None = None,
        color: bool = True,
        allow_outside: bool = False,
    ):
        super().__init__()
        if isinstance(pairs, str | os.PathLike):
            is_file, source, rows = True, os.fspath(pairs), _lines(pathlib.Path(pairs))
        else:
            is_file, source, rows = False, "pairs", [_pair(i, pair) for i, pair in enumerate(pairs)]
        folder = pathlib.Path(root if root is not None else pathlib.Path(source).parent if is_file else ".")
        labels = [_label(label, f"{source}, {'line' if is_file else 'pair'} {at}") for at, _, label in rows]
        n_class = min(max(labels, default=-1) + 1, _MAX_CLASSES) if label_names is None else len(label_names)
        self.label_names = tuple(map(str, range(n_class)) if label_names is None else label_names)
        self.label_colors = class_colors(n_class)
        self.img_paths: list[str] = []
        real = real_folder(folder, named=True) if is_file else ""
        for (at, path, _), label in zip(rows, labels):
            where = f"{source}, {'line' if is_file else 'pair'} {at}"
            if not 0 <= label < n_class:
                raise DatasetError(f"{where}: the label is out of range", expected=f"0 .. {n_class - 1}", got=label)
            self.img_paths.append(os.path.join(folder, path))
            if is_file:
                check_image_location(pathlib.Path(self.img_paths[-1]), [real], allow_outside=allow_outside)
        self.labels = np.array(labels, np.int32)
        self._color = color
        self.add_getter("img", self._get_img)
        self.add_getter("label", self.labels.__getitem__)
        self.name_examples(self.img_paths.__getitem__)

    def __len__(self) -> int:
        return len(self.img_paths)

    def _get_img(self, i: int) -> Image:
        return read_image(self.img_paths[i], color=self._color)


def _lines(path: pathlib.Path) -> list[tuple[int, str, object]]:
    """(line number, path, label) of each line that is not empty."""
    try:
        text = file_bytes(path).decode("utf-8-sig")
    except (FileError, FileFormatError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: the list of images cannot be read: {error}") from error
    rows: list[tuple[int, str, object]] = []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.strip().rsplit(maxsplit=1)
        if len(words) == 1:
            raise DatasetError(f"{path}, line {number}: not a path and a label", expected="PATH LABEL", got=line[:80])
        if words:
            rows.append((number, words[0], words[1]))
    return rows


def _pair(i: int, pair: object) -> tuple[int, str, object]:
    if isinstance(pair, Iterable) and not isinstance(pair, str):
        try:
            path, label = pair
            return i, os.fspath(path), label
        except (TypeError, ValueError):
            pass
    raise DatasetError(f"pairs, pair {i}: not a path and a label", expected="(path, label)", got=repr(pair)[:80])


def _label(label: Any, where: str) -> int:
    try:
        number = int(label)
        if isinstance(label, str) or number == label:
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise DatasetError(f"{where}: the label is not an integer", got=repr(label)[:80])
