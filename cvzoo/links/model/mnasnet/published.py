"""The MNASNets of torchvision, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.mnasnet.mnasnet import MNASNet


def MNASNet0_5(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> MNASNet:
    """An `MNASNet` of width 0.5; arguments as there."""
    return MNASNet(0.5, n_class, pretrained_model, label_names=label_names)


def MNASNet0_75(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> MNASNet:
    """An `MNASNet` of width 0.75; arguments as there."""
    return MNASNet(0.75, n_class, pretrained_model, label_names=label_names)


def MNASNet1_0(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> MNASNet:
    """An `MNASNet` of width 1.0; arguments as there."""
    return MNASNet(1.0, n_class, pretrained_model, label_names=label_names)


def MNASNet1_3(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> MNASNet:
    """An `MNASNet` of width 1.3; arguments as there."""
    return MNASNet(1.3, n_class, pretrained_model, label_names=label_names)
