"""torchvision's weights of GoogLeNet and Inception v3, which Google trained: their photos lie in [-1, 1]."""

from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.publishers.torchvision import torchvision_classifier

_HALF = (0.5, 0.5, 0.5)
GOOGLENET_PREPARATION = CenterCrop(mean=_HALF, std=_HALF)
INCEPTION_V3_PREPARATION = CenterCrop(342, 299, mean=_HALF, std=_HALF)

GOOGLENET = {
    "imagenet": torchvision_classifier(
        "googlenet_imagenet",
        "googlenet-1378be20.pth",
        69.778,
        89.53,
        enum="GoogLeNet_Weights.IMAGENET1K_V1",
        mean=_HALF,
        std=_HALF,
    )
}
INCEPTION_V3 = {
    "imagenet": torchvision_classifier(
        "inception_v3_imagenet",
        "inception_v3_google-0cc3c7bd.pth",
        77.294,
        93.45,
        enum="Inception_V3_Weights.IMAGENET1K_V1",
        short=342,
        crop=299,
        mean=_HALF,
        std=_HALF,
    )
}
