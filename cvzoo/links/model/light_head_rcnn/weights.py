"""ChainerCV's weights of Light-Head R-CNN; the publisher names no hashes: the first download is pinned.

Array names of ChainerCV's two-stage detectors on ResNet-101, and cvzoo's.
"""

import functools
from collections.abc import Sequence

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
from cvzoo.links.model.pretrained.detector import DetectorFiles
from cvzoo.links.model.pretrained.names import Arrays, Names
from cvzoo.links.model.publishers.chainercv import chainercv_weights
from cvzoo.links.model.resnet.weights import CHAINERCV_RULES, without_first_bias
from cvzoo.weights.record import Weights


def resnet101_files(
    architecture: str,
    class_array: str,
    *,
    n_each: int = 1,
    default_names: tuple[str, ...],
    known_names: Sequence[tuple[str, ...]] = (),
) -> DetectorFiles:
    """The format of files of detectors with a ResNet-101 as `extractor`.

    class_array: the array with n_each rows per class, the background included; the others as in
        `DetectorFiles`
    """
    names = {
        "ChainerCV's ResNet-101": Names(
            marks=("conv1/conv/W", "res2/a/conv1/conv/W"),
            rules=(*CHAINERCV_RULES, ("^", "extractor/")),
            drop=("extractor/fc6/",),
            finish=without_first_bias,
            only=("extractor/",),
        ),
        "chainercv": Names(
            marks=("extractor/conv1/conv/W", class_array), rules=CHAINERCV_RULES, finish=without_first_bias
        ),
    }
    counter = functools.partial(_count, class_array=class_array, n_each=n_each)
    return DetectorFiles(architecture, names, counter, known_names=known_names, default_names=default_names)


def _count(named: Arrays, *, class_array: str, n_each: int) -> int | None:
    return len(named[class_array]) // n_each - 1 if class_array in named else None


RESNET101_IMAGENET = chainercv_weights(
    "resnet101_imagenet_he",
    "resnet101_imagenet_converted_2018_03_07.npz",
    licence="not stated; the original is MIT",
    data="ImageNet-1K, ILSVRC 2012 training images",
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
        data_licence="annotations CC BY 4.0, images Flickr terms of use; ImageNet terms of access",
        score={"COCO AP": 0.393},
        source="ChainerCV, trained by it",
        label_names=coco_bbox_label_names,
        preprocessing=ResizeShortestEdge(800, 1333, mean=(122.7717, 115.9465, 102.9801)).describe(),
    ),
    "imagenet": RESNET101_IMAGENET,
}
