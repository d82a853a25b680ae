"""Published weights of the Swin Transformers: the size, then what a user asks for."""

from cvzoo.links.model.torchvision_record import torchvision_classifier

# size -> the rest of the file's name, top 1 and top 5 in per cent, short side, crop
_ROWS = {
    "t": ("704ceda3", 81.474, 95.776, 232, 224),
    "s": ("5e29d889", 83.196, 96.36, 246, 224),
    "b": ("68c6b09e", 83.582, 96.64, 238, 224),
    "v2_t": ("b137f0e2", 82.072, 96.132, 260, 256),
    "v2_s": ("637d8ceb", 83.712, 96.816, 260, 256),
    "v2_b": ("781e5279", 84.112, 96.864, 272, 256),
}

WEIGHTS = {
    size: {
        "imagenet": torchvision_classifier(
            f"swin_{size}_imagenet",
            f"swin_{size}-{digits}.pth",
            top1,
            top5,
            enum=f"Swin_{size.upper()}_Weights.IMAGENET1K_V1",
            short=short,
            crop=crop,
            interpolation="bicubic",
        )
    }
    for size, (digits, top1, top5, short, crop) in _ROWS.items()
}
