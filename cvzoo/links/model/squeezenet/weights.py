"""torchvision's weights of the SqueezeNets: version, then what a user asks for."""

from cvzoo.links.model.publishers.torchvision import torchvision_classifier

WEIGHTS = {
    "1.0": {
        "imagenet": torchvision_classifier(
            "squeezenet1_0_imagenet",
            "squeezenet1_0-b66bff10.pth",
            58.092,
            80.42,
            enum="SqueezeNet1_0_Weights.IMAGENET1K_V1",
        )
    },
    "1.1": {
        "imagenet": torchvision_classifier(
            "squeezenet1_1_imagenet",
            "squeezenet1_1-b8a52dc0.pth",
            58.178,
            80.624,
            enum="SqueezeNet1_1_Weights.IMAGENET1K_V1",
        )
    },
}
