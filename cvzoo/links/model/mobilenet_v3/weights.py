"""Published weights of MobileNetV3: the size, then what a user asks for."""

from cvzoo.links.model.publishers.timm import timm_classifier
from cvzoo.links.model.publishers.torchvision import torchvision_classifier

WEIGHTS = {
    "large": {
        "imagenet": torchvision_classifier(
            "mobilenet_v3_large_imagenet",
            "mobilenet_v3_large-8738ca79.pth",
            74.042,
            91.34,
            enum="MobileNet_V3_Large_Weights.IMAGENET1K_V1",
        ),
        "imagenet_v2": torchvision_classifier(
            "mobilenet_v3_large_imagenet_v2",
            "mobilenet_v3_large-5c1a4163.pth",
            75.274,
            92.566,
            enum="MobileNet_V3_Large_Weights.IMAGENET1K_V2",
            short=232,
        ),
        "imagenet_timm": timm_classifier(
            "mobilenet_v3_large_imagenet_timm",
            "v0.1-weights/mobilenetv3_large_100_ra-f55367f5.pth",
            75.784,
            92.528,
            model="mobilenetv3_large_100.ra_in1k",
        ),
    },
    "small": {
        "imagenet": torchvision_classifier(
            "mobilenet_v3_small_imagenet",
            "mobilenet_v3_small-047dcff4.pth",
            67.668,
            87.402,
            enum="MobileNet_V3_Small_Weights.IMAGENET1K_V1",
        ),
        "imagenet_timm": timm_classifier(
            "mobilenet_v3_small_imagenet_timm",
            "v0.1-weights/mobilenetv3_small_100_lamb-266a294c.pth",
            67.636,
            87.638,
            model="mobilenetv3_small_100.lamb_in1k",
        ),
    },
}
