"""ChainerCV's names in a Faster R-CNN on VGG16, and ours: they are the same, but for those of a VGG16 alone."""

from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.model.pretrained.detector import DetectorFiles
from cvzoo.links.model.pretrained.names import Arrays, Names

# the last layer of a VGG16, which tells ImageNet's classes apart, has no place
NAMES = {
    "ChainerCV's VGG16": Names(
        marks=("conv1_1/conv/W", "fc6/W"),
        rules=[("^conv", "extractor/conv"), ("^fc", "head/fc")],
        drop=("head/fc8/",),
        only=("extractor/", "head/fc6/", "head/fc7/"),
    ),
    "chainercv": Names(marks=("extractor/conv1_1/conv/W", "head/score/b")),
}


def count_classes(named: Arrays) -> int | None:
    """How many classes the arrays of such a network, by our names, are of; None if they do not tell."""
    return len(named["head/score/b"]) - 1 if "head/score/b" in named else None


FILES = DetectorFiles(
    architecture="FasterRCNNVGG16",
    names=NAMES,
    count_classes=count_classes,
    default_names=voc_bbox_label_names,
)
