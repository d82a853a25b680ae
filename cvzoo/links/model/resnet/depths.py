"""The ResNets of the paper, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.resnet.block import Arch
from cvzoo.links.model.resnet.extractor import Stem
from cvzoo.links.model.resnet.norm import Norm
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.links.model.variant import variant


def _resnet(
    n_layer: int,
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    arch: Arch | None = None,
    stem: Stem = "photo",
    norm: Norm = "batch",
) -> ResNet:
    return ResNet(n_layer, n_class, pretrained_model, label_names=label_names, arch=arch, stem=stem, norm=norm)


ResNet18 = variant("ResNet18", _resnet, 18, "A `ResNet` of 18 layers")
ResNet34 = variant("ResNet34", _resnet, 34, "A `ResNet` of 34 layers")
ResNet50 = variant("ResNet50", _resnet, 50, "A `ResNet` of 50 layers")
ResNet101 = variant("ResNet101", _resnet, 101, "A `ResNet` of 101 layers")
ResNet152 = variant("ResNet152", _resnet, 152, "A `ResNet` of 152 layers")
