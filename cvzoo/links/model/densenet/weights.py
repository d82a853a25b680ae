"""torchvision's weights of the DenseNets: number of layers, then what a user asks for."""

from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.publishers.torchvision import torchvision_classifier


def _torchvision(n_layer: int, digits: str, top1: float, top5: float) -> dict[str, ClassWeights]:
    file, enum = f"densenet{n_layer}-{digits}.pth", f"DenseNet{n_layer}_Weights.IMAGENET1K_V1"
    return {"imagenet": torchvision_classifier(f"densenet{n_layer}_imagenet", file, top1, top5, enum=enum)}


WEIGHTS = {
    121: _torchvision(121, "a639ec97", 74.434, 91.972),
    161: _torchvision(161, "8d451a50", 77.138, 93.56),
    169: _torchvision(169, "b2777c0a", 75.6, 92.806),
    201: _torchvision(201, "c1103571", 76.896, 93.37),
}
