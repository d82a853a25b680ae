"""torchvision's weights of GoogLeNet and Inception v3, which Google trained on images in [-1, 1].

torchvision's names in GoogLeNet and Inception v3, and cvzoo's.
"""

import re
from collections.abc import Mapping

from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.torchvision import torchvision_classifier
from cvzoo.weights.record import Signature


def googlenet_names(*, aux: bool) -> Mapping[str, Names]:
    """torchvision's names in a GoogLeNet; without `aux`, the auxiliary classifiers are dropped."""
    drop = () if aux else ("aux1/", "aux2/")
    return {"torchvision": Names(marks=("conv1.conv.weight",), modules=_googlenet_place, drop=drop)}


def inception_v3_names(*, aux: bool) -> Mapping[str, Names]:
    """As `googlenet_names`, for Inception v3."""
    drop = () if aux else ("aux/",)
    return {"torchvision": Names(marks=("Conv2d_1a_3x3.conv.weight",), modules=_inception_v3_place, drop=drop)}


def _googlenet_place(module: str) -> str:
    # cvzoo's name of branch2.0 is branch2_0
    return re.sub(r"\.(branch\d)\.(\d)\.", r".\1_\2.", module).replace(".", "/")


def _inception_v3_place(module: str) -> str:
    module = re.sub(r"^Conv2d_(\d[ab])_\dx\d", r"conv\1", module)
    module = re.sub(r"^Mixed_", "mixed", module)
    return re.sub(r"^AuxLogits", "aux", module).replace(".", "/")


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
        mib=49.731,
        signature=Signature(305, "inception5b.branch4.1.conv.weight", (128, 832, 1, 1)),
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
        mib=103.903,
        signature=Signature(484, "Mixed_7c.branch_pool.conv.weight", (192, 2048, 1, 1)),
    )
}
