"""Published weights of Keypoint R-CNN on pyramids."""

from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig
from cvzoo.links.model.faster_rcnn_fpn.weights import RESNET50_FPN, TORCHVISION_PREPROCESSING, detectron2_files
from cvzoo.links.model.publishers.torchvision import torchvision_weights
from cvzoo.weights.record import Signature, Weights

PERSON = ("person",)
COCO_POINT_NAMES = (
    "nose", "left_eye", "right_eye", "left_ear", "right_ear", "left_shoulder", "right_shoulder", "left_elbow",
    "right_elbow", "left_wrist", "right_wrist", "left_hip", "right_hip", "left_knee", "right_knee", "left_ankle",
    "right_ankle",
)  # fmt: skip


def _record(name: str, file: str, enum: str, box: float, point: float) -> Weights:
    return torchvision_weights(
        name,
        file,
        enum=f"KeypointRCNN_ResNet50_FPN_Weights.{enum}",
        score={"COCO val2017 box AP": box, "COCO val2017 keypoint AP": point},
        preprocessing=TORCHVISION_PREPROCESSING,
        label_names=PERSON,
        mib=226.054,
        signature=Signature(313, "roi_heads.box_head.fc7.weight", (1024, 1024)),
    )


# name -> (record, how the network is built)
WEIGHTS: dict[str, tuple[Weights, FasterRCNNFPNConfig]] = {
    "resnet50_coco": (
        _record(
            "keypoint_rcnn_fpn_resnet50_coco", "keypointrcnn_resnet50_fpn_coco-fc266e95.pth", "COCO_V1", 0.546, 0.650
        ),
        RESNET50_FPN,
    ),
    "resnet50_coco_legacy": (
        _record(
            "keypoint_rcnn_fpn_resnet50_coco_legacy",
            "keypointrcnn_resnet50_fpn_coco-9f466800.pth",
            "COCO_LEGACY",
            0.506,
            0.611,
        ),
        RESNET50_FPN,
    ),
    **detectron2_files(
        "keypoint_rcnn",
        "COCO-Keypoints",
        {
            "R_50_FPN_1x": ("137261548/model_final_04e291.pkl", (0.536, 0.640)),
            "R_50_FPN_3x": ("137849621/model_final_a6e10b.pkl", (0.554, 0.655)),
            "R_101_FPN_3x": ("138363331/model_final_997cc7.pkl", (0.564, 0.661)),
            "X_101_32x8d_FPN_3x": ("139686956/model_final_5ad38f.pkl", (0.573, 0.660)),
        },
        scores=("box AP", "keypoint AP"),
        label_names=PERSON,
    ),
}
