"""MNIST, from its four original files."""

import gzip
import pathlib
import struct
import zlib

import numpy as np

from cvzoo.datasets.archive import Archive, provide
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.text_files import check_choice
from cvzoo.errors.exceptions import DatasetError
from cvzoo.files.file_bytes import file_size
from cvzoo.labels.class_colors import class_colors
from cvzoo.labels.digits_and_cifar import mnist_label_names
from cvzoo.typing.aliases import Array, FilePath, Image

_SITE = "https://ossci-datasets.s3.amazonaws.com/mnist"
_MIRROR = "https://storage.googleapis.com/cvdf-datasets/mnist"
_SHA256 = {
    "train-images-idx3-ubyte.gz": "71524e2cd1ad2968737f7f2f2ff69cbfc32df8ccddff51593f7cb2d4e0eb5b64",
    "train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
}
_MAX_BYTES = 1 << 28  # the largest of the four files has 47 MB


class MNISTDataset(GetterDataset):
    """MNIST: handwritten digits.

    data_dir: "auto" (downloaded to CVZOO_HOME), or a folder with the original files, gzipped or not
    split: "train" (60,000) or "test" (10,000)
    img: (1, 28, 28) float32, 0 is background and 255 is ink; label: () int32
    Fashion-MNIST and others with files of the same format are read, too. All examples are kept in memory, as uint8.
    Source: LeCun et al., "Gradient-based learning applied to document recognition", 1998. Licence CC BY-SA 3.0.
    """

    def __init__(self, data_dir: FilePath = "auto", split: str = "train") -> None:
        super().__init__()
        check_choice("split", split, ("train", "test"))
        self.label_names = mnist_label_names
        self.label_colors = class_colors(len(mnist_label_names))
        prefix = "train" if split == "train" else "t10k"
        self._imgs = _read_idx(_find(data_dir, f"{prefix}-images-idx3-ubyte"), 3)
        self.labels = _read_idx(_find(data_dir, f"{prefix}-labels-idx1-ubyte"), 1).astype(np.int32)
        if len(self._imgs) != len(self.labels):
            raise DatasetError(
                "MNIST: the files have different numbers of images and labels", got=(len(self._imgs), len(self.labels))
            )
        self.add_getter("img", self._get_img)
        self.add_getter("label", self.labels.__getitem__)

    def __len__(self) -> int:
        return len(self.labels)

    def _get_img(self, i: int) -> Image:
        return self._imgs[i][None].astype(np.float32)


def _find(data_dir: FilePath, stem: str) -> pathlib.Path:
    name = f"{stem}.gz"
    archive = Archive(url=f"{_SITE}/{name}", mirrors=(f"{_MIRROR}/{name}",), sha256=_SHA256[name], unpack=False)
    for plain in (stem, stem.replace("-idx", ".idx")):  # both spellings are in use
        if data_dir != "auto" and (path := _path(data_dir, plain)).is_file():
            return path
    root = provide(
        data_dir,
        "mnist",
        needs=name,
        archives=(archive,),
        licence="CC BY-SA 3.0",
        page="http://yann.lecun.com/exdb/mnist",
    )
    return root / name


def _path(data_dir: FilePath, name: str) -> pathlib.Path:
    return pathlib.Path(data_dir) / name


def _read_idx(path: pathlib.Path, n_dim: int) -> Array:
    """The array of an idx file of unsigned bytes with n_dim axes."""
    try:
        file_size(path)  # raises for a FIFO or a device, reading from which might never end
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            data = file.read(_MAX_BYTES)
        magic, *shape = struct.unpack_from(f">{1 + n_dim}I", data)
    except (OSError, EOFError, zlib.error, struct.error) as error:
        raise DatasetError(f"{path} cannot be read or is damaged", got=error) from error
    start = 4 * (1 + n_dim)
    if magic != 0x800 + n_dim or len(data) - start != np.prod(shape, dtype=np.int64):
        raise DatasetError(
            f"{path}: not an idx file of bytes with {n_dim} dimensions, or truncated", got=(hex(magic), shape)
        )
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)
