"""The PSPNets that ChainerCV publishes, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.pspnet.pspnet import PSPNet


def PSPNetResNet50(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    input_size: int | tuple[int, int] | None = None,
    *,
    label_names: Sequence[str] | None = None,
    aux: bool = False,
) -> PSPNet:
    """A `PSPNet` on a ResNet of 50 layers; arguments as there."""
    return PSPNet(50, n_class, pretrained_model, input_size, label_names=label_names, aux=aux)


def PSPNetResNet101(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    input_size: int | tuple[int, int] | None = None,
    *,
    label_names: Sequence[str] | None = None,
    aux: bool = False,
) -> PSPNet:
    """A `PSPNet` on a ResNet of 101 layers; arguments as there."""
    return PSPNet(101, n_class, pretrained_model, input_size, label_names=label_names, aux=aux)
