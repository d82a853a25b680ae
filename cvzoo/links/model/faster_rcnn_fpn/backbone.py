"""What stands before the pyramid."""

from collections.abc import Sequence
from typing import Any

from cvzoo.links.chain import Chain
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig
from cvzoo.links.model.fpn.fpn import FPN
from cvzoo.links.model.mobilenet_v3.extractor import MobileNetV3Extractor
from cvzoo.links.model.resnet.extractor import ResNetExtractor

# layers of MobileNetV3 whose outputs the pyramid takes: the first of the last stage, and the last
_MOBILENET_LAYERS = (13, 16)


def make_backbone(settings: FasterRCNNFPNConfig) -> tuple[Chain, FPN]:
    """The backbone, and the pyramid on `picked_maps` of what it gives for x (B, 3, H, W), with one level more."""
    s = settings
    if s.backbone == "resnet":
        extractor = ResNetExtractor(
            s.n_layer,
            base_channels=s.base_channels,
            arch=s.arch,
            groups=s.groups,
            base_width=s.base_width,
            norm=s.norm,
            eps=s.bn_eps,
        )
    else:
        extractor = MobileNetV3Extractor("large", width=s.width, norm=s.norm, eps=s.bn_eps)
    channels = picked_maps(extractor.channels, s)
    return extractor, FPN(channels, s.channels, n_extra=1, extra_from="pool", norm=s.fpn_norm)


def picked_maps(maps: Sequence[Any], settings: FasterRCNNFPNConfig) -> list[Any]:
    """The backbone's maps that the pyramid takes, the finest first."""
    return list(maps) if settings.backbone == "resnet" else [maps[i] for i in _MOBILENET_LAYERS]
