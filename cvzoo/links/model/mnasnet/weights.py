"""Published weights of the MNASNets: the width, then what a user asks for."""

from cvzoo.links.model.publishers.timm import timm_classifier
from cvzoo.links.model.publishers.torchvision import torchvision_classifier

WEIGHTS = {
    0.5: {
        "imagenet": torchvision_classifier(
            "mnasnet_0_5_imagenet",
            "mnasnet0.5_top1_67.823-3ffadce67e.pth",
            67.734,
            87.49,
            enum="MNASNet0_5_Weights.IMAGENET1K_V1",
        ),
    },
    0.75: {
        "imagenet": torchvision_classifier(
            "mnasnet_0_75_imagenet",
            "mnasnet0_75-7090bc5f.pth",
            71.18,
            90.496,
            enum="MNASNet0_75_Weights.IMAGENET1K_V1",
            short=232,
        ),
    },
    1.0: {
        "imagenet": torchvision_classifier(
            "mnasnet_1_0_imagenet",
            "mnasnet1.0_top1_73.512-f206786ef8.pth",
            73.456,
            91.51,
            enum="MNASNet1_0_Weights.IMAGENET1K_V1",
        ),
        "imagenet_timm": timm_classifier(
            "mnasnet_1_0_imagenet_timm",
            "v0.1-weights/mnasnet_b1-74cb7081.pth",
            74.672,
            92.108,
            model="mnasnet_100.rmsp_in1k",
        ),
    },
    1.3: {
        "imagenet": torchvision_classifier(
            "mnasnet_1_3_imagenet",
            "mnasnet1_3-a4c69d6f.pth",
            76.506,
            93.522,
            enum="MNASNet1_3_Weights.IMAGENET1K_V1",
            short=232,
        ),
    },
}
