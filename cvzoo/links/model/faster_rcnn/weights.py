"""Where ChainerCV's weights of Faster R-CNN lie; the publisher names no hashes: the first download is pinned."""

from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
from cvzoo.links.model.publishers.chainercv import chainercv_weights
from cvzoo.links.model.vgg.weights import WEIGHTS as VGG_WEIGHTS
from cvzoo.weights.record import Weights

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
