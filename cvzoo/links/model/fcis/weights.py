"""ChainerCV's weights of FCIS; the publisher names no hashes: the first download is pinned."""

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.model.faster_rcnn.region_proposal_network import ProposalCreator
from cvzoo.links.model.light_head_rcnn.weights import RESNET101_IMAGENET
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
from cvzoo.links.model.publishers.chainercv import chainercv_weights
from cvzoo.weights.record import Weights

_SBD = ("Semantic Boundaries train, on ResNet-101 from ImageNet-1K", "Flickr terms of use; ImageNet terms of access")
_COCO = (
    "COCO 2014 train and val without minival, on ResNet-101 from ImageNet-1K",
    "annotations CC BY 4.0, images Flickr terms of use; ImageNet terms of access",
)


def _record(
    key: str, file: str, data: tuple[str, str], names: tuple[str, ...], score: dict[str, float], source: str
) -> Weights:
    return chainercv_weights(
        f"fcis_resnet101_{key}",
        f"fcis_resnet101_{file}.npz",
        data=data[0],
        data_licence=data[1],
        score=score,
        source=source,
        label_names=names,
        preprocessing=ResizeShortestEdge(600, 1000, mean=(123.15, 115.90, 103.06)).describe(),
    )


_TRAINED, _CONVERTED = "ChainerCV, trained by it", "ChainerCV, from the authors' MXNet weights"
WEIGHTS: dict[str, Weights] = {
    "sbd": _record(
        "sbd", "sbd_trained_2018_06_22", _SBD, voc_bbox_label_names, {"SBD mAP50": 0.641, "SBD mAP70": 0.512}, _TRAINED
    ),
    "sbd_converted": _record(
        "sbd_converted",
        "sbd_converted_2018_07_02",
        _SBD,
        voc_bbox_label_names,
        {"SBD mAP50": 0.657, "SBD mAP70": 0.521},
        _CONVERTED,
    ),
    "coco": _record("coco", "coco_trained_2019_01_30", _COCO, coco_bbox_label_names, {"COCO mask AP": 0.243}, _TRAINED),
    "coco_converted": _record(
        "coco_converted", "coco_converted_2019_01_30", _COCO, coco_bbox_label_names, {"COCO mask AP": 0.279}, _CONVERTED
    ),
    "imagenet": RESNET101_IMAGENET,
}

# number of classes -> region proposals of the published networks: anchor scales and selection
_PROPOSALS = {"n_train_pre_nms": 6000, "n_train_post_nms": 300, "n_test_pre_nms": 6000, "n_test_post_nms": 300}
SBD_PROPOSALS = ((8, 16, 32), ProposalCreator(**_PROPOSALS, min_size=16))
COCO_PROPOSALS = ((4, 8, 16, 32), ProposalCreator(**_PROPOSALS, min_size=2))
