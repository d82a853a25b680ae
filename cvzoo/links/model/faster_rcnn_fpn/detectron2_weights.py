"""Records of detectron2's files: their names carry the first digits of an md5 hash."""

from collections.abc import Mapping

from cvzoo.links.model.faster_rcnn_fpn.settings import FasterRCNNFPNSettings
from cvzoo.links.model.label_names import COCO_LABEL_NAMES
from cvzoo.weights.record import Weights

_SITE = "https://dl.fbaipublicfiles.com/detectron2/"


def detectron2_settings(n_layer: int, *, groups: int = 1) -> FasterRCNNFPNSettings:
    """How detectron2 builds its networks: on MSRA's ResNets, whose first convolution of a block has the stride, or on
    ResNeXt 32x8d.
    """
    return FasterRCNNFPNSettings(
        n_layer=n_layer,
        arch="he" if groups == 1 else "v1.5",
        groups=groups,
        base_width=64 if groups == 1 else 8,
        norm="frozen",
        anchor_style="detectron2",
        sampling_ratio=None,
        roi_aligned=True,
        antialias=True,
        mean=(123.675, 116.28, 103.53),
        std=(1.0, 1.0, 1.0) if groups == 1 else (58.395, 57.12, 57.375),
    )


def detectron2_weights(
    name: str,
    path: str,
    *,
    config: str,
    score: Mapping[str, float],
    label_names: tuple[str, ...] = COCO_LABEL_NAMES,
    data: str = "COCO train2017, on a backbone from ImageNet-1K",
) -> Weights:
    """The record of one file. path: on detectron2's site; config: of detectron2, without its ending"""
    return Weights(
        name=name,
        url=_SITE + path,
        sha256=None,
        licence="CC BY-SA 3.0",
        data=data,
        data_licence="annotations CC BY 4.0; photos: Flickr's terms, each by its owner; ImageNet terms of access",
        score=score,
        source=f"detectron2 model zoo, {config}",
        label_names=label_names,
        preprocessing="short side 800, long side at most 1333, bilinear with antialiasing, padded to multiples of 32, "
        "RGB here and BGR there; x - (123.675, 116.28, 103.53)",
    )
