"""Records of detectron2's files: their names carry the first digits of an md5 hash."""

from collections.abc import Mapping

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig, pyramid_preparation
from cvzoo.weights.record import Weights

_SITE = "https://dl.fbaipublicfiles.com/detectron2/"
_BACKBONES = {"R": "resnet", "X": "resnext"}


def detectron2_config(n_layer: int, *, groups: int = 1) -> FasterRCNNFPNConfig:
    """How detectron2 builds its networks: on MSRA's ResNets, whose first convolution of a block has the stride, or on
    ResNeXt 32x8d.
    """
    return FasterRCNNFPNConfig(
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


def detectron2_files(
    network: str,
    folder: str,
    files: Mapping[str, tuple[str, tuple[float, ...]]],
    *,
    scores: tuple[str, ...],
    label_names: tuple[str, ...] = coco_bbox_label_names,
) -> dict[str, tuple[Weights, FasterRCNNFPNConfig]]:
    """Files of one kind of network: name, such as "resnet50_coco_detectron2_1x" -> (record, how it is built).

    network: detectron2's name of it, such as "mask_rcnn"
    folder: of its configurations
    files: the rest of a configuration's name, such as "R_50_FPN_1x" -> (the file's name from its number on, its scores)
    scores: what they are, on COCO val2017
    """
    found = {}
    for variant, (file, values) in files.items():
        letter, depth, *width, _, schedule = variant.split("_")
        backbone = "_".join([f"{_BACKBONES[letter]}{depth}", *width])
        name = f"{backbone}_coco_detectron2_{schedule}"
        config = f"{folder}/{network}_{variant}"
        built = detectron2_config(int(depth), groups=32 if width else 1)
        record = Weights(
            name=f"{network}_fpn_{name}",
            url=f"{_SITE}{config}/{file}",
            sha256=None,
            licence="CC BY-SA 3.0",
            data="COCO train2017, on a backbone from ImageNet-1K",
            data_licence="annotations CC BY 4.0; photos: Flickr's terms, each by its owner; ImageNet terms of access",
            score={f"COCO val2017 {score}": value for score, value in zip(scores, values)},
            source=f"detectron2 model zoo, {config}",
            label_names=label_names,
            preprocessing=f"{pyramid_preparation(built).describe()}; detectron2's networks see BGR",
        )
        found[name] = record, built
    return found
