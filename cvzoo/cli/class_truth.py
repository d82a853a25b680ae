"""Photos with a class each, as a command line names them."""

import dataclasses
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from cvzoo.datasets.cifar_datasets import CIFAR10Dataset, CIFAR100Dataset
from cvzoo.datasets.directory_parsing_label_dataset import DirectoryParsingLabelDataset
from cvzoo.datasets.mnist_dataset import MNISTDataset
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.results.box_records import spellings

KINDS = ("folder", "cifar10", "cifar100", "mnist")
_BUNDLES = {"cifar10": CIFAR10Dataset, "cifar100": CIFAR100Dataset, "mnist": MNISTDataset}


@dataclasses.dataclass(frozen=True, eq=False)
class ClassTruth:
    """A data set whose examples are a photo and its class.

    names: of the classes; labels: (B,) int; photo_names: B names, for people; paths: where photos are files, else None
    """

    dataset: GetterDataset
    names: tuple[str, ...]
    labels: np.ndarray
    photo_names: list[str]
    paths: list[str] | None

    def imgs(self) -> Iterator[Any]:
        """The photos one by one: paths where they are files, arrays elsewhere."""
        if self.paths is not None:
            return iter(self.paths)
        photos = self.dataset.slice[: len(self.labels), "img"]
        return (photos[i] for i in range(len(photos)))

    @property
    def photos(self) -> dict[str, int]:
        """Every spelling of a photo that is understood, and its place."""
        return spellings(self.photo_names, range(len(self.photo_names)))


def class_kind(spec: str) -> str | None:
    """Which of KINDS the words before the colon name; None if another."""
    kind = spec.partition(":")[0]
    return kind if kind in KINDS else None


def load_class_truth(spec: str, *, split: str | None, limit: int | None) -> ClassTruth:
    """What `folder:ROOT`, `cifar10:DIR`, `cifar100:DIR` or `mnist:DIR` names (DIR may be "auto").

    split: of CIFAR and MNIST; None: "test"; limit: the first so many photos only
    Raises ConfigError for words that make no sense, DatasetError if the files are not there.
    """
    kind, _, root = spec.partition(":")
    if not root:
        raise ConfigError(f"{spec}: where?", expected=f"{kind}:FOLDER")
    if kind == "folder":
        if split is not None:
            raise ConfigError("--split is for data sets that have lists; name the folder of the split instead")
        dataset = DirectoryParsingLabelDataset(root)
        paths = dataset.img_paths[:limit]
        names = [pathlib.PurePath(os.path.relpath(path, root)).as_posix() for path in paths]
    else:
        dataset = _BUNDLES[kind](root, split or "test")
        paths, names = None, [str(i) for i in range(len(dataset))][:limit]
    if not len(dataset):
        raise ConfigError(f"{spec}: no photos")
    return ClassTruth(dataset, dataset.label_names, np.asarray(dataset.labels[:limit], np.int64), names, paths)
