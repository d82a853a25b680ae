"""The PSPNets that ChainerCV publishes, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.pspnet.pspnet import PSPNet
from cvzoo.links.model.variant import variant


def _pspnet(
    n_layer: int,
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    input_size: int | tuple[int, int] | None = None,
    *,
    label_names: Sequence[str] | None = None,
    aux: bool = False,
) -> PSPNet:
    return PSPNet(n_layer, n_class, pretrained_model, input_size, label_names=label_names, aux=aux)


PSPNetResNet50 = variant("PSPNetResNet50", _pspnet, 50, "A `PSPNet` on a ResNet of 50 layers")
PSPNetResNet101 = variant("PSPNetResNet101", _pspnet, 101, "A `PSPNet` on a ResNet of 101 layers")
