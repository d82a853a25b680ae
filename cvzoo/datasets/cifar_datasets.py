"""CIFAR-10 and CIFAR-100, from the binary version of their original files, which needs no unpickling."""

import pathlib
from collections.abc import Sequence

import numpy as np

from cvzoo.datasets.archive import Archive, provide
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.text_files import check_choice
from cvzoo.errors.exceptions import DatasetError
from cvzoo.files.file_bytes import file_size
from cvzoo.labels.class_colors import class_colors
from cvzoo.labels.digits_and_cifar import (
    cifar10_label_names,
    cifar100_label_names,
    cifar100_super_label_names,
)
from cvzoo.typing.aliases import Array, FilePath, Image

_PAGE = "https://www.cs.toronto.edu/~kriz/cifar.html"
_SITE = "https://www.cs.toronto.edu/~kriz"
_ARCHIVES = {
    "cifar-10-batches-bin": Archive(
        url=f"{_SITE}/cifar-10-binary.tar.gz",
        sha256="c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        size=170052171,
    ),
    "cifar-100-binary": Archive(url=f"{_SITE}/cifar-100-binary.tar.gz", md5="03b5dce01913d631647c71ecec9e9cb8"),
}
_N_PIXEL = 3 * 32 * 32


class CIFAR10Dataset(GetterDataset):
    """CIFAR-10: 32 x 32 images of ten classes (`cifar10_label_names`).

    data_dir: "auto" (downloaded to CVZOO_HOME), the folder cifar-10-batches-bin, or its parent
    split: "train" (50,000) or "test" (10,000)
    img: (3, 32, 32) float32; label: () int32
    All examples are kept in memory, as uint8.
    Source: Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009.
    """

    def __init__(self, data_dir: FilePath = "auto", split: str = "train") -> None:
        super().__init__()
        check_choice("split", split, ("train", "test"))
        self.label_names = cifar10_label_names
        self.label_colors = class_colors(len(cifar10_label_names))
        names = [f"data_batch_{i}.bin" for i in range(1, 6)] if split == "train" else ["test_batch.bin"]
        root = _provide(data_dir, "cifar-10-batches-bin", names[0])
        # some of the five files are enough for a trial
        paths = [root / name for name in names if (root / name).is_file()]
        numbers, self._imgs = _read(paths, 1, (len(cifar10_label_names),))
        self.labels = numbers[:, 0]
        self.add_getter("img", self._get_img)
        self.add_getter("label", self.labels.__getitem__)

    def __len__(self) -> int:
        return len(self.labels)

    def _get_img(self, i: int) -> Image:
        return self._imgs[i].astype(np.float32)


class CIFAR100Dataset(GetterDataset):
    """CIFAR-100: 32 x 32 images of 100 classes (`cifar100_label_names`) in 20 groups (`cifar100_super_label_names`).

    data_dir: "auto" (downloaded to CVZOO_HOME), the folder cifar-100-binary, or its parent
    split: "train" (50,000) or "test" (10,000)
    return_super_label: examples have a third value, the group: () int32
    img: (3, 32, 32) float32; label: () int32
    """

    def __init__(self, data_dir: FilePath = "auto", split: str = "train", return_super_label: bool = False) -> None:
        super().__init__()
        check_choice("split", split, ("train", "test"))
        self.label_names = cifar100_label_names
        self.label_colors = class_colors(len(cifar100_label_names))
        path = _provide(data_dir, "cifar-100-binary", f"{split}.bin") / f"{split}.bin"
        numbers, self._imgs = _read([path], 2, (len(cifar100_super_label_names), len(cifar100_label_names)))
        self.super_labels, self.labels = numbers.T
        self.add_getter("img", self._get_img)
        self.add_getter("label", self.labels.__getitem__)
        self.add_getter("super_label", self.super_labels.__getitem__)
        if not return_super_label:
            self.keys = ("img", "label")

    def __len__(self) -> int:
        return len(self.labels)

    def _get_img(self, i: int) -> Image:
        return self._imgs[i].astype(np.float32)


def _provide(data_dir: FilePath, folder: str, needs: str) -> pathlib.Path:
    if data_dir != "auto" and (pathlib.Path(data_dir) / needs).is_file():
        return pathlib.Path(data_dir)
    name = "cifar10" if folder.startswith("cifar-10-") else "cifar100"
    root = provide(
        data_dir,
        name,
        needs=f"{folder}/{needs}",
        archives=(_ARCHIVES[folder],),
        licence="not stated; the authors ask to be cited",
        page=_PAGE,
    )
    return root / folder


def _read(paths: Sequence[pathlib.Path], n_label: int, limits: tuple[int, ...]) -> tuple[Array, Array]:
    """((N, n_label) int32, (N, 3, 32, 32) uint8) of files of records: labels, then red, green and blue planes."""
    parts = []
    for path in paths:
        file_size(path)  # raises for a FIFO or a device, reading from which might never end
        data = np.fromfile(path, np.uint8)
        if len(data) == 0 or len(data) % (n_label + _N_PIXEL):
            raise DatasetError(
                f"{path}: the file size is not a multiple of the record size",
                expected=f"records of {n_label + _N_PIXEL} bytes",
                got=len(data),
            )
        parts.append(data.reshape(-1, n_label + _N_PIXEL))
    records = np.concatenate(parts)
    numbers = records[:, :n_label].astype(np.int32)
    if (numbers >= limits).any():
        raise DatasetError(f"{paths[0].parent}: a label is too large", expected=limits, got=numbers.max(axis=0))
    return numbers, records[:, n_label:].reshape(-1, 3, 32, 32)
