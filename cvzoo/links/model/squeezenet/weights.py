"""torchvision's weights of the SqueezeNets: version, then the name that a user gives.

torchvision's names in a SqueezeNet, and cvzoo's.
"""

from collections.abc import Mapping, Sequence

from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.torchvision import torchvision_classifier
from cvzoo.weights.record import Signature


def squeezenet_names(stage_names: Sequence[str]) -> Mapping[str, Names]:
    """torchvision's array names in a network of these stages, from conv1 to pool10."""
    modules = {"features.0": "conv1/conv", "classifier.1": "conv10/conv"}
    # conv1 is followed by a relu
    for i, name in enumerate(stage_names[:-2]):
        if name.startswith("fire"):
            for theirs, ours in (("squeeze", "squeeze"), ("expand1x1", "expand1"), ("expand3x3", "expand3")):
                modules[f"features.{i + 1}.{theirs}"] = f"{name}/{ours}/conv"
    return {"torchvision": Names(marks=("features.0.weight",), modules=modules)}


WEIGHTS = {
    "1.0": {
        "imagenet": torchvision_classifier(
            "squeezenet1_0_imagenet",
            "squeezenet1_0-b66bff10.pth",
            58.092,
            80.42,
            enum="SqueezeNet1_0_Weights.IMAGENET1K_V1",
            mib=4.778,
            signature=Signature(52, "features.0.weight", (96, 3, 7, 7)),
        )
    },
    "1.1": {
        "imagenet": torchvision_classifier(
            "squeezenet1_1_imagenet",
            "squeezenet1_1-b8a52dc0.pth",
            58.178,
            80.624,
            enum="SqueezeNet1_1_Weights.IMAGENET1K_V1",
            mib=4.729,
            signature=Signature(52, "features.0.weight", (64, 3, 3, 3)),
        )
    },
}
