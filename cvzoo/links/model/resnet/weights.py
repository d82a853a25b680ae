"""torchvision's weights of the ResNets: they carry the first digits of their hash in the file's name."""

from cvzoo.weights.record import Weights

_SITE = "https://download.pytorch.org/models/"


def _record(n_layer: int, version: int, digits: str, top1: float, top5: float) -> Weights:
    short = 256 if version == 1 else 232
    return Weights(
        name=f"resnet{n_layer}_imagenet" + ("" if version == 1 else "_v2"),
        url=f"{_SITE}resnet{n_layer}-{digits}.pth",
        sha256=None,
        licence="not stated; the code is BSD-3-Clause",
        data="ImageNet-1K, ILSVRC 2012 training photos",
        data_licence="ImageNet terms of access: research, no commercial use",
        score={"top1": top1, "top5": top5},  # one crop of 224 x 224, as the publisher says
        source=f"torchvision, ResNet{n_layer}_Weights.IMAGENET1K_V{version}",
        preprocessing=f"short side {short}, middle 224 x 224, RGB; (x / 255 - (.485, .456, .406)) / (.229, .224, .225)",
    )


# number of layers -> name -> record
WEIGHTS: dict[int, dict[str, Weights]] = {
    18: {"imagenet": _record(18, 1, "f37072fd", 0.69758, 0.89078)},
    34: {"imagenet": _record(34, 1, "b627a593", 0.73314, 0.91420)},
    50: {
        "imagenet": _record(50, 1, "0676ba61", 0.76130, 0.92862),
        "imagenet_v2": _record(50, 2, "11ad3fa6", 0.80858, 0.95434),
    },
    101: {
        "imagenet": _record(101, 1, "63fe2227", 0.77374, 0.93546),
        "imagenet_v2": _record(101, 2, "cd907fc2", 0.81886, 0.95780),
    },
    152: {
        "imagenet": _record(152, 1, "394f9c45", 0.78312, 0.94046),
        "imagenet_v2": _record(152, 2, "f82ba261", 0.82284, 0.96002),
    },
}
