"""Published weights of ConvNeXt: the size, then what a user asks for."""

from cvzoo.links.model.torchvision_record import torchvision_classifier

# size -> the rest of the file's name, top 1 and top 5 in per cent, short side
_ROWS = {
    "tiny": ("983f1562", 82.52, 96.146, 236),
    "small": ("0c510722", 83.616, 96.65, 230),
    "base": ("6075fbad", 84.062, 96.87, 232),
    "large": ("ea097f82", 84.414, 96.976, 232),
}

WEIGHTS = {
    size: {
        "imagenet": torchvision_classifier(
            f"convnext_{size}_imagenet",
            f"convnext_{size}-{digits}.pth",
            top1,
            top5,
            enum=f"ConvNeXt_{size.capitalize()}_Weights.IMAGENET1K_V1",
            short=short,
        )
    }
    for size, (digits, top1, top5, short) in _ROWS.items()
}
