"""Published weights of MobileNetV2: (arch, width), then what a user asks for."""

from cvzoo.labels.imagenet import imagenet_label_names
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.publishers.chainercv import chainercv_classifier
from cvzoo.links.model.publishers.timm import timm_classifier
from cvzoo.links.model.publishers.torchvision import torchvision_classifier

TF_PREPARATION = CenterCrop(mean=(128 / 255,) * 3, std=(128 / 255,) * 3)
TF_LABEL_NAMES = ("background", *imagenet_label_names)


def _chainercv(width: float, top1: float) -> ClassWeights:
    return chainercv_classifier(
        f"mobilenet_v2_tf_{width}_imagenet",
        f"mobilenet_v2_depth_multiplier_{width}_imagenet_converted_2019_05_13.npz",
        100 * top1,
        source="TensorFlow's checkpoint, converted by ChainerCV (after 0.13.1)",
        preparation=TF_PREPARATION,
        licence="not stated; TensorFlow's models are Apache-2.0",
        label_names=TF_LABEL_NAMES,
    )


WEIGHTS = {
    ("torchvision", 1.0): {
        "imagenet": torchvision_classifier(
            "mobilenet_v2_imagenet",
            "mobilenet_v2-b0353104.pth",
            71.878,
            90.286,
            enum="MobileNet_V2_Weights.IMAGENET1K_V1",
        ),
        "imagenet_v2": torchvision_classifier(
            "mobilenet_v2_imagenet_v2",
            "mobilenet_v2-7ebf99e0.pth",
            72.154,
            90.822,
            enum="MobileNet_V2_Weights.IMAGENET1K_V2",
            short=232,
        ),
        "imagenet_timm": timm_classifier(
            "mobilenet_v2_imagenet_timm",
            "v0.1-weights/mobilenetv2_100_ra-b33bc2c4.pth",
            72.91,
            91.0,
            model="mobilenetv2_100.ra_in1k",
        ),
    },
    ("torchvision", 0.5): {
        "imagenet_timm": timm_classifier(
            "mobilenet_v2_0.5_imagenet_timm",
            "v0.1-weights/mobilenetv2_050-3d30d450.pth",
            65.928,
            86.114,
            model="mobilenetv2_050.lamb_in1k",
        ),
    },
    ("torchvision", 1.4): {
        "imagenet_timm": timm_classifier(
            "mobilenet_v2_1.4_imagenet_timm",
            "v0.1-weights/mobilenetv2_140_ra-21a4e913.pth",
            76.528,
            93.008,
            model="mobilenetv2_140.ra_in1k",
        ),
    },
    ("tf", 1.0): {"imagenet": _chainercv(1.0, 0.717)},
    ("tf", 1.4): {"imagenet": _chainercv(1.4, 0.757)},
}
