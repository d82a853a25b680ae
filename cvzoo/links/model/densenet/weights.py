"""torchvision's weights of the DenseNets: number of layers, then the name that a user gives.

torchvision's names in a DenseNet, and cvzoo's.
"""

import re

from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.torchvision import torchvision_classifier
from cvzoo.weights.record import Signature

# of modules
PATTERNS = (
    (r"features\.conv0", r"conv1/conv"),
    (r"features\.norm0", r"conv1/bn"),
    (r"features\.denseblock(\d)\.denselayer(\d+)\.(norm1|conv1|norm2|conv2)", None),
    (r"features\.transition(\d)\.(norm|conv)", r"transition\1/\2"),
    (r"features\.norm5", r"norm5"),
    (r"classifier", r"fc"),
)
_IN_LAYER = {"norm1": "norm", "conv1": "squeeze/conv", "norm2": "squeeze/bn", "conv2": "conv"}


def densenet_place(module: str) -> str | None:
    """cvzoo's path of a module of torchvision's: "block1/0/norm" of "features.denseblock1.denselayer1.norm1", or None.

    Files from before 2018 have "norm.1" instead of "norm1".
    """
    module = re.sub(r"\.(norm|conv)\.([12])$", r".\1\2", module)
    for pattern, place in PATTERNS:
        match = re.fullmatch(pattern, module)
        if match and place is not None:
            return match.expand(place)
        if match:
            return f"block{match[1]}/{int(match[2]) - 1}/{_IN_LAYER[match[3]]}"
    return None


NAMES = {"torchvision": Names(marks=("features.conv0.weight",), modules=densenet_place)}


def _torchvision(
    n_layer: int, digits: str, top1: float, top5: float, mib: float, signature: Signature
) -> dict[str, ClassWeights]:
    file, enum = f"densenet{n_layer}-{digits}.pth", f"DenseNet{n_layer}_Weights.IMAGENET1K_V1"
    name = f"densenet{n_layer}_imagenet"
    return {"imagenet": torchvision_classifier(name, file, top1, top5, enum=enum, mib=mib, signature=signature)}


_LAST = "features.transition3.conv.weight"
WEIGHTS = {
    121: _torchvision(121, "a639ec97", 74.434, 91.972, 30.845, Signature(606, _LAST, (512, 1024, 1, 1))),
    161: _torchvision(161, "8d451a50", 77.138, 93.56, 110.369, Signature(806, _LAST, (1056, 2112, 1, 1))),
    169: _torchvision(169, "b2777c0a", 75.6, 92.806, 54.708, Signature(846, _LAST, (640, 1280, 1, 1))),
    201: _torchvision(201, "c1103571", 76.896, 93.37, 77.373, Signature(1006, _LAST, (896, 1792, 1, 1))),
}
