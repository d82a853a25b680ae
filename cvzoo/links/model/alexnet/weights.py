"""torchvision's weights of AlexNet."""

from cvzoo.links.model.publishers.torchvision import torchvision_classifier

WEIGHTS = {
    "imagenet": torchvision_classifier(
        "alexnet_imagenet", "alexnet-owt-7be5be79.pth", 56.522, 79.066, enum="AlexNet_Weights.IMAGENET1K_V1"
    )
}
