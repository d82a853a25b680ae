"""The training and evaluation sets of an image classifier, from a specification such as folder:ROOT."""

import pathlib
from typing import NamedTuple

from cvzoo.datasets.cifar_datasets import CIFAR10Dataset, CIFAR100Dataset
from cvzoo.datasets.directory_parsing_label_dataset import DirectoryParsingLabelDataset
from cvzoo.datasets.mnist_dataset import MNISTDataset
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.errors.exceptions import ConfigError, DatasetError

_BUNDLES = {"cifar10": CIFAR10Dataset, "cifar100": CIFAR100Dataset, "mnist": MNISTDataset}


class ClassSplits(NamedTuple):
    """A training set and an evaluation set with the same classes.

    train, val: examples are (img, label)
    label_names: the classes in the order of their labels
    """

    train: AbstractSliceableDataset
    val: AbstractSliceableDataset
    label_names: tuple[str, ...]


def class_splits(spec: str) -> ClassSplits:
    """The training set and the evaluation set that a specification names.

    spec: "folder:ROOT", the folders train and val below ROOT, each with one folder per class, as ImageNet's; or
        "cifar10:DIR", "cifar100:DIR", "mnist:DIR", where val is the test set; without ":DIR", the data set below
        CVZOO_HOME, downloaded where that is allowed
    Raises ConfigError for a malformed specification, DatasetError if a part is missing or empty, or if the two parts
    have different classes.
    """
    kind, _, root = spec.partition(":")
    if kind in _BUNDLES:
        train, val = (_BUNDLES[kind](root or "auto", split) for split in ("train", "test"))
    elif kind == "folder" and root:
        train, val = (DirectoryParsingLabelDataset(pathlib.Path(root, split)) for split in ("train", "val"))
    else:
        known = ("folder:ROOT", *(f"{each}[:DIR]" for each in _BUNDLES))
        raise ConfigError(f"{spec}: unknown kind of data set", expected=" or ".join(known))
    for name, each in (("train", train), ("val", val)):
        if not len(each):
            raise DatasetError(f"{spec}: {name} has no images")
    if train.label_names != val.label_names:
        ours, theirs = set(train.label_names), set(val.label_names)
        raise DatasetError(
            f"{spec}: train and val have different classes",
            expected=f"{len(ours)}, {', '.join(sorted(ours - theirs)[:3]) or 'all'} among them",
            got=f"{len(theirs)}, {', '.join(sorted(theirs - ours)[:3]) or 'none'} of their own",
        )
    return ClassSplits(train, val, tuple(train.label_names))
