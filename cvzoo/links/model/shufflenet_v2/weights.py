"""Published weights of the ShuffleNetV2s: the width, then what a user asks for."""

from cvzoo.links.model.publishers.torchvision import torchvision_classifier

WEIGHTS = {
    0.5: {
        "imagenet": torchvision_classifier(
            "shufflenet_v2_x0_5_imagenet",
            "shufflenetv2_x0.5-f707e7126e.pth",
            60.552,
            81.746,
            enum="ShuffleNet_V2_X0_5_Weights.IMAGENET1K_V1",
        ),
    },
    1.0: {
        "imagenet": torchvision_classifier(
            "shufflenet_v2_x1_0_imagenet",
            "shufflenetv2_x1-5666bf0f80.pth",
            69.362,
            88.316,
            enum="ShuffleNet_V2_X1_0_Weights.IMAGENET1K_V1",
        ),
    },
    1.5: {
        "imagenet": torchvision_classifier(
            "shufflenet_v2_x1_5_imagenet",
            "shufflenetv2_x1_5-3c479a10.pth",
            72.996,
            91.086,
            enum="ShuffleNet_V2_X1_5_Weights.IMAGENET1K_V1",
            short=232,
        ),
    },
    2.0: {
        "imagenet": torchvision_classifier(
            "shufflenet_v2_x2_0_imagenet",
            "shufflenetv2_x2_0-8be3c8ee.pth",
            76.23,
            93.006,
            enum="ShuffleNet_V2_X2_0_Weights.IMAGENET1K_V1",
            short=232,
        ),
    },
}
