"""Published weights of the VGG networks: (layers, norm), then what a user asks for."""

from cvzoo.labels.imagenet import imagenet_label_names
from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.torchvision_record import torchvision_classifier
from cvzoo.links.model.vgg.names import CAFFE_PREPARATION
from cvzoo.weights.record import Weights


def _torchvision(n_layer: int, norm: str | None, digits: str, top1: float, top5: float) -> dict[str, ClassWeights]:
    bn = "" if norm is None else "_bn"
    file = f"vgg{n_layer}{bn}-{digits}.pth"
    enum = f"VGG{n_layer}{bn.upper()}_Weights.IMAGENET1K_V1"
    return {"imagenet": torchvision_classifier(f"vgg{n_layer}{bn}_imagenet", file, top1, top5, enum=enum)}


_CAFFE = Weights(
    name="vgg16_imagenet_caffe",
    url="https://chainercv-models.preferred.jp/vgg16_imagenet_converted_2017_07_18.npz",
    sha256=None,
    licence="not stated; the code is MIT",
    data="ImageNet-1K, ILSVRC 2012 training photos",
    data_licence="ImageNet terms of access: research, no commercial use",
    score={"top1": 0.71},
    source="the paper's authors, converted by ChainerCV",
    label_names=imagenet_label_names,
    preprocessing=CAFFE_PREPARATION.describe(),
)

WEIGHTS = {
    (11, None): _torchvision(11, None, "8a719046", 69.02, 88.628),
    (11, "batch"): _torchvision(11, "batch", "6002323d", 70.37, 89.81),
    (13, None): _torchvision(13, None, "19584684", 69.928, 89.246),
    (13, "batch"): _torchvision(13, "batch", "abd245e5", 71.586, 90.374),
    (16, None): {
        **_torchvision(16, None, "397923af", 71.592, 90.382),
        "imagenet_caffe": ClassWeights(_CAFFE, CAFFE_PREPARATION),
    },
    (16, "batch"): _torchvision(16, "batch", "6c64b313", 73.36, 91.516),
    (19, None): _torchvision(19, None, "dcbb9e9d", 72.376, 90.876),
    (19, "batch"): _torchvision(19, "batch", "c79401a0", 74.218, 91.842),
}
