"""Published weights of Faster R-CNN on pyramids."""

from collections.abc import Mapping

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig, pyramid_preparation
from cvzoo.links.model.publishers.chainercv import chainercv_weights
from cvzoo.links.model.publishers.torchvision import torchvision_weights
from cvzoo.weights.record import Signature, Weights

_SITE = "https://dl.fbaipublicfiles.com/detectron2/"
_BACKBONES = {"R": "resnet", "X": "resnext"}


def detectron2_config(n_layer: int, *, groups: int = 1) -> FasterRCNNFPNConfig:
    """detectron2's config: on MSRA's ResNets, whose first convolution of a block has the stride, or ResNeXt 32x8d."""
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
    """Files of one kind of network: name, such as "resnet50_coco_detectron2_1x" -> (record, config).

    network: detectron2's name of it, such as "mask_rcnn"
    folder: of its configurations
    files: the rest of a configuration's name, such as "R_50_FPN_1x" -> (the file's name from its number on, its scores)
    scores: names of the scores, on COCO val2017
    """
    files_by_name = {}
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
            data_licence="annotations CC BY 4.0; images: Flickr's terms, each by its owner; ImageNet terms of access",
            score={f"COCO val2017 {score}": value for score, value in zip(scores, values)},
            source=f"detectron2 model zoo, {config}",
            label_names=label_names,
            preprocessing=f"{pyramid_preparation(built).describe()}; detectron2's networks see BGR",
        )
        files_by_name[name] = record, built
    return files_by_name


# its normalizations have an eps of 0
RESNET50_FPN = FasterRCNNFPNConfig(norm="frozen", bn_eps=0.0)
TORCHVISION_PREPROCESSING = pyramid_preparation(RESNET50_FPN).describe()
RESNET50_FPN_V2 = FasterRCNNFPNConfig(fpn_norm="batch", rpn_depth=2, head_convs=4, head_fcs=1)
_ALL_SIZES = ((32, 64, 128, 256, 512),) * 3
MOBILENET_V3_LARGE_FPN = FasterRCNNFPNConfig(
    backbone="mobilenet_v3_large", norm="frozen", anchor_sizes=_ALL_SIZES, rpn_score_thresh=0.05
)
MOBILENET_V3_LARGE_320_FPN = FasterRCNNFPNConfig(
    backbone="mobilenet_v3_large",
    norm="frozen",
    anchor_sizes=_ALL_SIZES,
    rpn_score_thresh=0.05,
    n_proposal=150,
    min_size=320,
    max_size=640,
)


def chainercv_config(n_layer: int) -> FasterRCNNFPNConfig:
    """ChainerCV's config, with Chainer's eps."""
    return FasterRCNNFPNConfig(
        n_layer=n_layer,
        arch="he",
        norm="frozen",
        bn_eps=2e-5,
        anchor_style="chainercv",
        mean=(123.15163084, 115.90288257, 103.0626238),
        std=(1.0, 1.0, 1.0),
    )


def chainercv_pyramid(name: str, file: str, *, score: Mapping[str, float]) -> Weights:
    """The record of one of ChainerCV's files."""
    return chainercv_weights(
        name,
        file,
        data="COCO train2017, on a backbone from ImageNet-1K",
        data_licence="annotations CC BY 4.0; images: Flickr's terms, each by its owner; ImageNet terms of access",
        score=score,
        source="ChainerCV, trained by its script of feature pyramids, 2019-03-15",
        label_names=coco_bbox_label_names,
        preprocessing=pyramid_preparation(chainercv_config(50)).describe(),
    )


# name -> (record, config)
WEIGHTS: dict[str, tuple[Weights, FasterRCNNFPNConfig]] = {
    "resnet50_coco": (
        torchvision_weights(
            "faster_rcnn_fpn_resnet50_coco",
            "fasterrcnn_resnet50_fpn_coco-258fb6c6.pth",
            enum="FasterRCNN_ResNet50_FPN_Weights.COCO_V1",
            score={"COCO val2017 AP": 0.370},
            preprocessing=TORCHVISION_PREPROCESSING,
            label_names=coco_bbox_label_names,
            mib=159.743,
            signature=Signature(295, "roi_heads.box_head.fc7.weight", (1024, 1024)),
        ),
        RESNET50_FPN,
    ),
    "resnet50_coco_v2": (
        torchvision_weights(
            "faster_rcnn_fpn_resnet50_coco_v2",
            "fasterrcnn_resnet50_fpn_v2_coco-dd69338a.pth",
            enum="FasterRCNN_ResNet50_FPN_V2_Weights.COCO_V1",
            score={"COCO val2017 AP": 0.467},
            preprocessing=TORCHVISION_PREPROCESSING,
            label_names=coco_bbox_label_names,
            mib=167.104,
            signature=Signature(339, "roi_heads.box_head.5.weight", (1024, 12544)),
        ),
        RESNET50_FPN_V2,
    ),
    "mobilenet_v3_large_coco": (
        torchvision_weights(
            "faster_rcnn_fpn_mobilenet_v3_large_coco",
            "fasterrcnn_mobilenet_v3_large_fpn-fb6a3cc7.pth",
            enum="FasterRCNN_MobileNet_V3_Large_FPN_Weights.COCO_V1",
            score={"COCO val2017 AP": 0.328},
            preprocessing=TORCHVISION_PREPROCESSING,
            label_names=coco_bbox_label_names,
            mib=74.239,
            signature=Signature(284, "roi_heads.box_head.fc7.weight", (1024, 1024)),
        ),
        MOBILENET_V3_LARGE_FPN,
    ),
    "mobilenet_v3_large_320_coco": (
        torchvision_weights(
            "faster_rcnn_fpn_mobilenet_v3_large_320_coco",
            "fasterrcnn_mobilenet_v3_large_320_fpn-907ea3f9.pth",
            enum="FasterRCNN_MobileNet_V3_Large_320_FPN_Weights.COCO_V1",
            score={"COCO val2017 AP": 0.228},
            preprocessing=pyramid_preparation(MOBILENET_V3_LARGE_320_FPN).describe(),
            label_names=coco_bbox_label_names,
            mib=74.239,
            signature=Signature(284, "roi_heads.box_head.fc7.weight", (1024, 1024)),
        ),
        MOBILENET_V3_LARGE_320_FPN,
    ),
    **detectron2_files(
        "faster_rcnn",
        "COCO-Detection",
        {
            "R_50_FPN_1x": ("137257794/model_final_b275ba.pkl", (0.379,)),
            "R_50_FPN_3x": ("137849458/model_final_280758.pkl", (0.402,)),
            "R_101_FPN_3x": ("137851257/model_final_f6e8b1.pkl", (0.420,)),
            "X_101_32x8d_FPN_3x": ("139173657/model_final_68b088.pkl", (0.430,)),
        },
        scores=("AP",),
    ),
    "resnet50_coco_chainercv": (
        chainercv_pyramid(
            "faster_rcnn_fpn_resnet50_coco_chainercv",
            "faster_rcnn_fpn_resnet50_coco_trained_2019_03_15.npz",
            score={"COCO val2017 AP": 0.371},
        ),
        chainercv_config(50),
    ),
    "resnet101_coco_chainercv": (
        chainercv_pyramid(
            "faster_rcnn_fpn_resnet101_coco_chainercv",
            "faster_rcnn_fpn_resnet101_coco_trained_2019_03_15.npz",
            score={"COCO val2017 AP": 0.395},
        ),
        chainercv_config(101),
    ),
}
