"""Published weights of Mask R-CNN on pyramids."""

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig
from cvzoo.links.model.faster_rcnn_fpn.weights import (
    RESNET50_FPN,
    RESNET50_FPN_V2,
    TORCHVISION_PREPROCESSING,
    chainercv_config,
    chainercv_pyramid,
    detectron2_files,
)
from cvzoo.links.model.publishers.torchvision import torchvision_weights
from cvzoo.weights.record import Signature, Weights

# name -> (record, how the network is built)
WEIGHTS: dict[str, tuple[Weights, FasterRCNNFPNConfig]] = {
    "resnet50_coco": (
        torchvision_weights(
            "mask_rcnn_fpn_resnet50_coco",
            "maskrcnn_resnet50_fpn_coco-bf2d0c1e.pth",
            enum="MaskRCNN_ResNet50_FPN_Weights.COCO_V1",
            score={"COCO val2017 box AP": 0.379, "COCO val2017 mask AP": 0.346},
            preprocessing=TORCHVISION_PREPROCESSING,
            label_names=coco_bbox_label_names,
            mib=169.84,
            signature=Signature(307, "roi_heads.box_head.fc7.weight", (1024, 1024)),
        ),
        RESNET50_FPN,
    ),
    "resnet50_coco_v2": (
        torchvision_weights(
            "mask_rcnn_fpn_resnet50_coco_v2",
            "maskrcnn_resnet50_fpn_v2_coco-73cbd019.pth",
            enum="MaskRCNN_ResNet50_FPN_V2_Weights.COCO_V1",
            score={"COCO val2017 box AP": 0.474, "COCO val2017 mask AP": 0.418},
            preprocessing=TORCHVISION_PREPROCESSING,
            label_names=coco_bbox_label_names,
            mib=177.219,
            signature=Signature(363, "roi_heads.box_head.5.weight", (1024, 12544)),
        ),
        RESNET50_FPN_V2,
    ),
    **detectron2_files(
        "mask_rcnn",
        "COCO-InstanceSegmentation",
        {
            "R_50_FPN_1x": ("137260431/model_final_a54504.pkl", (0.386, 0.352)),
            "R_50_FPN_3x": ("137849600/model_final_f10217.pkl", (0.410, 0.372)),
            "R_101_FPN_3x": ("138205316/model_final_a3ec72.pkl", (0.429, 0.386)),
            "X_101_32x8d_FPN_3x": ("139653917/model_final_2d9806.pkl", (0.443, 0.395)),
        },
        scores=("box AP", "mask AP"),
    ),
    "resnet50_coco_chainercv": (
        chainercv_pyramid(
            "mask_rcnn_fpn_resnet50_coco_chainercv",
            "mask_rcnn_fpn_resnet50_coco_trained_2019_03_15.npz",
            score={"COCO val2017 box AP": 0.380, "COCO val2017 mask AP": 0.342},
        ),
        chainercv_config(50),
    ),
    "resnet101_coco_chainercv": (
        chainercv_pyramid(
            "mask_rcnn_fpn_resnet101_coco_chainercv",
            "mask_rcnn_fpn_resnet101_coco_trained_2019_03_15.npz",
            score={"COCO val2017 box AP": 0.404, "COCO val2017 mask AP": 0.360},
        ),
        chainercv_config(101),
    ),
}
