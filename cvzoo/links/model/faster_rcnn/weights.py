"""ChainerCV's weights of Faster R-CNN; the publisher names no hashes: the first download is pinned.

ChainerCV's names in a Faster R-CNN on VGG16 are cvzoo's, except in files of VGG16 alone.
"""

from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
from cvzoo.links.model.pretrained.detector import DetectorFiles
from cvzoo.links.model.pretrained.names import Arrays, Names
from cvzoo.links.model.publishers.chainercv import chainercv_weights
from cvzoo.links.model.vgg.weights import WEIGHTS as VGG_WEIGHTS
from cvzoo.weights.record import Weights

# the last layer of VGG16, ImageNet's classifier, is dropped
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
    """The number of classes of such a network's arrays by cvzoo's names; None if they do not determine it."""
    return len(named["head/score/b"]) - 1 if "head/score/b" in named else None


FILES = DetectorFiles(
    architecture="FasterRCNNVGG16",
    names=NAMES,
    count_classes=count_classes,
    default_names=voc_bbox_label_names,
)


_PREPROCESSING = ResizeShortestEdge(600, 1000, mean=(122.7717, 115.9465, 102.9801)).describe()


def _voc(name: str, file: str, data: str, score: float) -> Weights:
    return chainercv_weights(
        f"faster_rcnn_vgg16_{name}",
        file,
        data=f"Pascal VOC {data} trainval, on VGG16 from ImageNet-1K",
        data_licence="Flickr terms of use; ImageNet terms of access",
        score={"VOC 2007 mAP, 11-point": score},
        source="ChainerCV, trained by it",
        label_names=voc_bbox_label_names,
        preprocessing=_PREPROCESSING,
    )


WEIGHTS: dict[str, Weights] = {
    "voc07": _voc("voc07", "faster_rcnn_vgg16_voc07_trained_2018_06_01.npz", "2007", 0.706),
    "voc0712": _voc("voc0712", "faster_rcnn_vgg16_voc0712_trained_2017_07_21.npz", "2007 and 2012", 0.747),
    "imagenet": VGG_WEIGHTS[(16, None)]["imagenet_caffe"].record,
}
