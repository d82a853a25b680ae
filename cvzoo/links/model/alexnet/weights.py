"""torchvision's weights of AlexNet.

torchvision's names in an AlexNet, and cvzoo's.
"""

from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.torchvision import torchvision_classifier
from cvzoo.weights.record import Signature

_MODULES = {
    "features.0": "conv1/conv",
    "features.3": "conv2/conv",
    "features.6": "conv3/conv",
    "features.8": "conv4/conv",
    "features.10": "conv5/conv",
    "classifier.1": "fc6",
    "classifier.4": "fc7",
    "classifier.6": "fc8",
}
NAMES = {"torchvision": Names(marks=("features.0.weight",), modules=_MODULES)}


WEIGHTS = {
    "imagenet": torchvision_classifier(
        "alexnet_imagenet",
        "alexnet-owt-7be5be79.pth",
        56.522,
        79.066,
        enum="AlexNet_Weights.IMAGENET1K_V1",
        mib=233.087,
        signature=Signature(16, "features.10.weight", (256, 256, 3, 3)),
    )
}
