"""Published weights of the VGG networks: (layers, norm), then what a user asks for."""

from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.publishers.chainercv import chainercv_classifier
from cvzoo.links.model.publishers.torchvision import torchvision_classifier
from cvzoo.links.model.vgg.names import CAFFE_PREPARATION


def _torchvision(n_layer: int, norm: str | None, digits: str, top1: float, top5: float) -> dict[str, ClassWeights]:
    bn = "" if norm is None else "_bn"
    file = f"vgg{n_layer}{bn}-{digits}.pth"
    enum = f"VGG{n_layer}{bn.upper()}_Weights.IMAGENET1K_V1"
    return {"imagenet": torchvision_classifier(f"vgg{n_layer}{bn}_imagenet", file, top1, top5, enum=enum)}


_CAFFE = chainercv_classifier(
    "vgg16_imagenet_caffe",
    "vgg16_imagenet_converted_2017_07_18.npz",
    71,
    source="the paper's authors, converted by ChainerCV",
    preparation=CAFFE_PREPARATION,
)

WEIGHTS = {
    (11, None): _torchvision(11, None, "8a719046", 69.02, 88.628),
    (11, "batch"): _torchvision(11, "batch", "6002323d", 70.37, 89.81),
    (13, None): _torchvision(13, None, "19584684", 69.928, 89.246),
    (13, "batch"): _torchvision(13, "batch", "abd245e5", 71.586, 90.374),
    (16, None): {
        **_torchvision(16, None, "397923af", 71.592, 90.382),
        "imagenet_caffe": _CAFFE,
    },
    (16, "batch"): _torchvision(16, "batch", "6c64b313", 73.36, 91.516),
    (19, None): _torchvision(19, None, "dcbb9e9d", 72.376, 90.876),
    (19, "batch"): _torchvision(19, "batch", "c79401a0", 74.218, 91.842),
}
