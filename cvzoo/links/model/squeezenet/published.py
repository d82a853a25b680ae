"""The SqueezeNets, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.squeezenet.squeezenet import SqueezeNet


def SqueezeNet1_0(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> SqueezeNet:
    """A `SqueezeNet` of version 1.0; arguments as there."""
    return SqueezeNet("1.0", n_class, pretrained_model, label_names=label_names)


def SqueezeNet1_1(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> SqueezeNet:
    """A `SqueezeNet` of version 1.1; arguments as there."""
    return SqueezeNet("1.1", n_class, pretrained_model, label_names=label_names)
