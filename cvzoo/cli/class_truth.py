"""Ground truth of image classification, from a specification on a command line."""

import dataclasses
import os
import pathlib
from collections.abc import Iterator

import numpy as np

from cvzoo.datasets.cifar_datasets import CIFAR10Dataset, CIFAR100Dataset
from cvzoo.datasets.directory_parsing_label_dataset import DirectoryParsingLabelDataset
from cvzoo.datasets.mnist_dataset import MNISTDataset
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.results.box_records import spellings
from cvzoo.typing.aliases import Array

KINDS = ("folder", "cifar10", "cifar100", "mnist")
_BUNDLES = {"cifar10": CIFAR10Dataset, "cifar100": CIFAR100Dataset, "mnist": MNISTDataset}


@dataclasses.dataclass(frozen=True, eq=False)
class ClassTruth:
    """A data set whose examples are an image and its label.

    names: of the classes; labels: (B,) int; photo_names: B names for display; paths: None if images are not files
    """

    dataset: GetterDataset
    names: tuple[str, ...]
    labels: np.ndarray
    photo_names: list[str]
    paths: list[str] | None

    def imgs(self) -> Iterator[str] | Iterator[Array]:
        """The images: paths if they are files, otherwise arrays."""
        if self.paths is not None:
            return iter(self.paths)
        images = self.dataset.slice[: len(self.labels), "img"]
        return (images[i] for i in range(len(images)))

    @property
    def images_by_name(self) -> dict[str, int]:
        """The index of each image, by all accepted spellings of its name."""
        return spellings(self.photo_names, range(len(self.photo_names)))


def class_kind(spec: str) -> str | None:
    """The prefix of the specification if it is one of KINDS, otherwise None."""
    kind = spec.partition(":")[0]
    return kind if kind in KINDS else None


def load_class_truth(spec: str, *, split: str | None, limit: int | None) -> ClassTruth:
    """The ground truth of `folder:ROOT`, `cifar10:DIR`, `cifar100:DIR` or `mnist:DIR` (DIR may be "auto").

    split: of CIFAR and MNIST; None: "test". Of a folder ROOT with the folders train and val, as training takes it;
        None: "val"
    limit: only the first images
    Raises ConfigError for a malformed specification, DatasetError if files are missing.
    """
    kind, _, root = spec.partition(":")
    if not root:
        raise ConfigError(f"{spec}: the folder of the data set is missing", expected=f"{kind}:FOLDER")
    if kind == "folder":
        root = _folder_of_classes(root, split)
        dataset: DirectoryParsingLabelDataset | CIFAR10Dataset | CIFAR100Dataset | MNISTDataset
        dataset = DirectoryParsingLabelDataset(root)
        paths: list[str] | None = dataset.img_paths[:limit]
        names = [pathlib.PurePath(os.path.relpath(path, root)).as_posix() for path in dataset.img_paths[:limit]]
    else:
        dataset = _BUNDLES[kind](root, split or "test")
        paths, names = None, [str(i) for i in range(len(dataset))][:limit]
    if not len(dataset):
        raise ConfigError(f"{spec} contains no images")
    return ClassTruth(dataset, dataset.label_names, np.asarray(dataset.labels[:limit], np.int64), names, paths)


def _folder_of_classes(root: str, split: str | None) -> str:
    """ROOT with a folder per class, or the folder of a split below it. Raises ConfigError if that is missing."""
    if split is None:
        has_splits = all(os.path.isdir(os.path.join(root, each)) for each in ("train", "val"))
        return os.path.join(root, "val") if has_splits else root
    path = os.path.join(root, split)
    if not os.path.isdir(path):
        hint = "without --split, ROOT has a folder per class, or train and val"
        raise ConfigError(f"--split {split}: {root} has no such folder", hint=hint)
    return path
