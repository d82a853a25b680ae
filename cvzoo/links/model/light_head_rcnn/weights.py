"""Where ChainerCV's weights of Light-Head R-CNN lie; the publisher names no hashes: the first download is pinned."""

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
from cvzoo.links.model.publishers.chainercv import chainercv_weights
from cvzoo.weights.record import Weights

RESNET101_IMAGENET = chainercv_weights(
    "resnet101_imagenet_he",
    "resnet101_imagenet_converted_2018_03_07.npz",
    licence="not stated; the original is MIT",
    data="ImageNet-1K, ILSVRC 2012 training photos",
    data_licence="ImageNet terms of access",
    score={"ImageNet top-1 error, one crop": 0.236},
    source="the paper's authors' Caffe weights, converted by ChainerCV",
    preprocessing="RGB in [0, 255] less (123.15, 115.90, 103.06)",
)

WEIGHTS: dict[str, Weights] = {
    "coco": chainercv_weights(
        "light_head_rcnn_resnet101_coco",
        "light_head_rcnn_resnet101_trained_2019_06_13.npz",
        data="COCO 2017 train, on ResNet-101 from ImageNet-1K",
        data_licence="annotations CC BY 4.0, photos Flickr terms of use; ImageNet terms of access",
        score={"COCO AP": 0.393},
        source="ChainerCV, trained by it",
        label_names=coco_bbox_label_names,
        preprocessing=ResizeShortestEdge(800, 1333, mean=(122.7717, 115.9465, 102.9801)).describe(),
    ),
    "imagenet": RESNET101_IMAGENET,
}
