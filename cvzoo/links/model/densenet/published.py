"""The DenseNets of the paper, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.densenet.densenet import DenseNet


def DenseNet121(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> DenseNet:
    """A `DenseNet` of 121 layers; arguments as there."""
    return DenseNet(121, n_class, pretrained_model, label_names=label_names)


def DenseNet161(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> DenseNet:
    """A `DenseNet` of 161 layers; arguments as there."""
    return DenseNet(161, n_class, pretrained_model, label_names=label_names)


def DenseNet169(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> DenseNet:
    """A `DenseNet` of 169 layers; arguments as there."""
    return DenseNet(169, n_class, pretrained_model, label_names=label_names)


def DenseNet201(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> DenseNet:
    """A `DenseNet` of 201 layers; arguments as there."""
    return DenseNet(201, n_class, pretrained_model, label_names=label_names)
