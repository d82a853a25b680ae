"""What to train a classifier on, and what to score it on, from one word of a command line."""

import pathlib
from typing import NamedTuple

from cvzoo.datasets.cifar_datasets import CIFAR10Dataset, CIFAR100Dataset
from cvzoo.datasets.directory_parsing_label_dataset import DirectoryParsingLabelDataset
from cvzoo.datasets.mnist_dataset import MNISTDataset
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.errors.exceptions import ConfigError, DatasetError

_BUNDLES = {"cifar10": CIFAR10Dataset, "cifar100": CIFAR100Dataset, "mnist": MNISTDataset}


class ClassSplits(NamedTuple):
    """Two data sets with the same classes.

    train, val: examples are (img, label), the label of the whole photo
    label_names: the classes in the order of their labels
    """

    train: AbstractSliceableDataset
    val: AbstractSliceableDataset
    label_names: tuple[str, ...]


def class_splits(spec: str) -> ClassSplits:
    """The data sets that the text names, both parts of it.

    spec: "folder:ROOT", the folders train and val below ROOT, with a folder a class in each, as ImageNet's; or
        "cifar10:DIR", "cifar100:DIR", "mnist:DIR", whose val are the test photos; without ":DIR", what lies below
        CVZOO_HOME, fetched where it may be
    Raises ConfigError if the text is not understood, DatasetError if a part is not there, has no photo, or the two
    parts differ in their classes.
    """
    kind, _, root = spec.partition(":")
    if kind in _BUNDLES:
        train, val = (_BUNDLES[kind](root or "auto", split) for split in ("train", "test"))
    elif kind == "folder" and root:
        train, val = (DirectoryParsingLabelDataset(pathlib.Path(root, split)) for split in ("train", "val"))
    else:
        known = ("folder:ROOT", *(f"{each}[:DIR]" for each in _BUNDLES))
        raise ConfigError(f"{spec}: no such data", expected=" or ".join(known))
    for name, each in (("train", train), ("val", val)):
        if not len(each):
            raise DatasetError(f"{spec}: {name} has no photo")
    if train.label_names != val.label_names:
        ours, theirs = set(train.label_names), set(val.label_names)
        raise DatasetError(
            f"{spec}: train and val have other classes",
            expected=f"{len(ours)}, {', '.join(sorted(ours - theirs)[:3]) or 'all'} among them",
            got=f"{len(theirs)}, {', '.join(sorted(theirs - ours)[:3]) or 'none'} of their own",
        )
    return ClassSplits(train, val, tuple(train.label_names))
