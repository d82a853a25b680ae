"""Detectors and segmenters on several ranks: a step is that of one process with the whole batch.

Their losses are divided by numbers of positive anchors, samples or labeled pixels, which differ from rank to rank.
"""

import numpy as np
import pytest
from on_ranks import on_ranks

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import optimizers
from cvzoo.distributed import NullCommunicator, create_mnbn_model, create_multi_node_optimizer
from cvzoo.distributed.batch_normalization import check_may_be_idle
from cvzoo.errors.exceptions import GraphError
from cvzoo.links import PixelwiseSoftmaxClassifier
from cvzoo.links.model.faster_rcnn.faster_rcnn_vgg16 import FasterRCNNVGG16
from cvzoo.links.model.faster_rcnn.region_proposal_network import ProposalCreator
from cvzoo.links.model.faster_rcnn.targets import AnchorTargetCreator, ProposalTargetCreator
from cvzoo.links.model.faster_rcnn.train_chain import FasterRCNNTrainChain
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN
from cvzoo.links.model.faster_rcnn_fpn.loss import FasterRCNNFPNLoss, RegionSampling
from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101
from cvzoo.links.model.fcis.train_chain import FCISTrainChain
from cvzoo.links.model.fcos.fcos import FCOS, FCOSConfig
from cvzoo.links.model.fcos.loss import FCOSLoss
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPN, PointHeadSettings
from cvzoo.links.model.keypoint_rcnn.loss import KeypointRCNNFPNLoss
from cvzoo.links.model.light_head_rcnn.light_head_rcnn_resnet101 import LightHeadRCNNResNet101
from cvzoo.links.model.light_head_rcnn.train_chain import LightHeadRCNNTrainChain
from cvzoo.links.model.mask_rcnn.loss import MaskRCNNFPNLoss
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskHeadSettings, MaskRCNNFPN
from cvzoo.links.model.retinanet.config import RetinaNetSettings
from cvzoo.links.model.retinanet.loss import RetinaNetLoss
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.segnet.segnet_basic import SegNetBasic
from cvzoo.links.model.ssd.loss import SSDLoss
from cvzoo.links.model.yolo.loss import YOLOLoss
from cvzoo.links.model.yolo.yolo_v2 import YOLOv2Tiny
from cvzoo.links.model.yolo.yolo_v3 import YOLOv3

SIZES = {"n_layer": 10, "base_channels": 8, "channels": 8}
SIDES = ((16,), (32,), (64,))


def retinanet():
    settings = RetinaNetSettings(**SIZES, head_depth=1, last_level=5, anchor_sizes=SIDES)
    return RetinaNetLoss(RetinaNet(3, settings=settings))


def retinanet_with_a_steady_divisor():
    settings = RetinaNetSettings(**SIZES, head_depth=1, last_level=5, anchor_sizes=SIDES)
    return RetinaNetLoss(RetinaNet(3, settings=settings), momentum=0.9, box_loss="giou")


def fcos():
    return FCOSLoss(FCOS(3, config=FCOSConfig(**SIZES, head_depth=1, head_groups=4)))


REGIONS = FasterRCNNFPNSettings(**SIZES, head_width=16, min_size=64, max_size=64, n_proposal=20)


def all_samples(n=10_000):
    """Of 10,000 anchors and regions all are taken, so that nothing is drawn at random."""
    return RegionSampling(n_anchor=n, anchor_share=1.0, n_region=n, region_share=1.0, n_proposal=20)


def faster_rcnn_fpn(n=10_000):
    return FasterRCNNFPNLoss(FasterRCNNFPN(3, settings=REGIONS), sampling=all_samples(n))


def mask_rcnn():
    head = MaskHeadSettings(depth=1, channels=8, roi_size=7)
    return MaskRCNNFPNLoss(MaskRCNNFPN(3, settings=REGIONS, mask_settings=head), sampling=all_samples())


def keypoint_rcnn():
    head = PointHeadSettings(n_point=2, depth=1, channels=8, roi_size=7)
    return KeypointRCNNFPNLoss(KeypointRCNNFPN(3, settings=REGIONS, point_settings=head), sampling=all_samples())


def of_one_map():
    """What networks without a pyramid have in common, and samplers that take all anchors and regions."""
    proposals = ProposalCreator(min_size=4, n_train_post_nms=20)
    small = {"min_size": 64, "max_size": 64, "anchor_scales": (1, 2, 4), "proposal_creator": proposals}
    return small, AnchorTargetCreator(10_000, pos_ratio=1.0), ProposalTargetCreator(10_000, 1.0)


def faster_rcnn_of_one_map():
    small, anchors, regions = of_one_map()
    network = FasterRCNNVGG16(3, base_channels=4, rpn_channels=4, fc_channels=8, **small)
    return FasterRCNNTrainChain(network, anchor_target_creator=anchors, proposal_target_creator=regions)


def fcis():
    small, anchors, regions = of_one_map()
    narrow = {"n_layer": 10, "base_channels": 4, "rpn_channels": 4, "mid_channels": 4, "roi_size": 6, "group_size": 3}
    network = FCISResNet101(3, **narrow, **small)
    return FCISTrainChain(network, anchor_target_creator=anchors, proposal_target_creator=regions)


def light_head_rcnn():
    small, anchors, regions = of_one_map()
    narrow = {"n_layer": 10, "base_channels": 4, "rpn_channels": 4, "mid_channels": 4, "fc_channels": 8}
    network = LightHeadRCNNResNet101(3, **narrow, **small)
    return LightHeadRCNNTrainChain(
        network, anchor_target_creator=anchors, proposal_target_creator=regions, n_ohem_sample=4
    )


def yolo_v2():
    return YOLOLoss(YOLOv2Tiny(3, insize=64, base_channels=2, mid_channels=16))


def yolo_v3():
    return YOLOLoss(YOLOv3(3, insize=64, base_channels=2, blocks=(1, 1, 1, 1, 1)))


def objects(step, n=5):
    """Images with one to three objects each, and their boxes and labels."""
    rng = np.random.default_rng(step)
    x = rng.normal(size=(n, 3, 64, 64))
    bboxes, labels = [], []
    for k in range(n):
        top = rng.uniform(0, 30, (1 + k % 3, 2))
        bboxes.append(np.concatenate([top, top + rng.uniform(12, 34, top.shape)], axis=1).astype(np.float32))
        labels.append(rng.integers(0, 3, len(top)).astype(np.int32))
    return x, bboxes, labels


def with_masks(step):
    """The objects, and masks: the left half of each box."""
    x, bboxes, labels = objects(step)
    rows, columns = np.mgrid[:64, :64]
    masks = [
        np.stack([(rows >= t) & (rows < b) & (columns >= l) & (columns < (l + r) / 2) for t, l, b, r in bbox])
        for bbox in bboxes
    ]
    return x, bboxes, labels, masks


def masks_alone(step):
    x, _, labels, masks = with_masks(step)
    return x, masks, labels


def with_points(step):
    """The objects, and two keypoints in each box, of which some are not visible."""
    x, bboxes, labels = objects(step)
    points = [bbox.reshape(-1, 2, 2) * np.float32(0.5) + bbox[:, None, :2] * np.float32(0.5) for bbox in bboxes]
    return x, bboxes, labels, points, [np.arange(2 * len(bbox)).reshape(-1, 2) % 3 > 0 for bbox in bboxes]


def segnet():
    return PixelwiseSoftmaxClassifier(SegNetBasic(3, channels=8), class_weight=[1.0, 2.0, 0.5])


class Heads(cvzoo.Chain):
    """A convolution with SSD's outputs, 4 offsets and 3 classes of 64 default boxes."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(3, 7, 8, stride=8)

    def forward(self, x):
        y = F.reshape(F.transpose(self.conv(x), (0, 2, 3, 1)), (len(x), -1, 7))
        return y[:, :, :4], y[:, :, 4:]


def ssd():
    return SSDLoss(Heads())


def default_boxes(step, n=5):
    """Images, offsets and classes of default boxes, of which each image has more positive ones than the one before."""
    rng = np.random.default_rng(step)
    label = np.where(np.arange(64) < 5 * np.arange(n)[:, None], rng.integers(1, 3, (n, 64)), 0).astype(np.int32)
    return rng.normal(size=(n, 3, 64, 64)), rng.normal(size=(n, 64, 4)).astype(np.float32), label


def label_maps(step, n=5):
    """Images and label maps, of which each has a larger ignored part than the one before."""
    rng = np.random.default_rng(step)
    t = rng.integers(0, 3, (n, 32, 32)).astype(np.int32)
    for k in range(n):
        t[k, : 6 * k] = -1
    return rng.normal(size=(n, 3, 32, 32)), t


def train(comm, make, batches, dtype="float32", lr=0.1):
    """The weights and persistent values after the steps, each on this rank's part of the batch."""
    cvzoo.set_seed(0)
    with cvzoo.using_config("dtype", dtype):
        net = create_mnbn_model(make(), comm)
        optimizer = create_multi_node_optimizer(optimizers.MomentumSGD(lr=lr), comm).setup(net)
        for batch in batches:
            begin, end = len(batch[0]) * comm.rank // comm.size, len(batch[0]) * (comm.rank + 1) // comm.size
            x, *rest = [each[begin:end] for each in batch]
            optimizer.update(net, x.astype(dtype), *rest)
    return net.state_arrays()


def difference(found, expected):
    assert found.keys() == expected.keys()
    return max(np.abs(found[name] - array).max() / max(1, np.abs(array).max()) for name, array in expected.items())


@on_ranks(1, 2, 3, 4)
def test_detectors_take_the_steps_of_the_whole_batch(comm):
    images, boxes = [objects(step) for step in range(2)], [default_boxes(step) for step in range(2)]
    for make in (retinanet, retinanet_with_a_steady_divisor, fcos, faster_rcnn_fpn, ssd):
        batches = boxes if make is ssd else images
        expected = train(NullCommunicator(), make, batches)
        assert difference(train(comm, make, batches), expected) < 5e-6, make.__name__


@on_ranks(2, 3, 4)
def test_losses_of_samples_take_the_steps_of_the_whole_batch_if_the_samples_are_the_same(comm):
    for make, batch in (
        (faster_rcnn_fpn, objects),
        (mask_rcnn, with_masks),
        (keypoint_rcnn, with_points),
        (faster_rcnn_of_one_map, objects),
        (fcis, masks_alone),
    ):
        batches = [batch(step) for step in range(2)]
        expected = train(NullCommunicator(), make, batches)  # they compute in float32 only
        assert difference(train(comm, make, batches), expected) < 1e-5, make.__name__


@on_ranks(2, 3, 4)
def test_yolo_takes_the_steps_of_the_whole_batch(comm):
    batches = [objects(step) for step in range(2)]
    for make in (yolo_v2, yolo_v3):
        expected = train(NullCommunicator(), make, batches, "float64", lr=1e-3)
        assert difference(train(comm, make, batches, "float64", lr=1e-3), expected) < 1e-11, make.__name__


@on_ranks(2)
def test_the_hardest_regions_are_those_of_the_ranks_own_part(comm):
    """As documented: one process chooses among the regions of all images."""
    batches = [objects(0)]
    expected = train(NullCommunicator(), light_head_rcnn, batches)
    found = train(comm, light_head_rcnn, batches)
    assert difference(found, expected) > 1e-5
    assert all(np.isfinite(array).all() for array in found.values())
    everyone = comm.allgather_obj(found["light_head_rcnn/rpn/conv1/W"])
    assert all((each == everyone[0]).all() for each in everyone)


@on_ranks(1, 2, 3, 4)
def test_a_segmenter_with_ignored_pixels_takes_the_steps_of_the_whole_batch(comm):
    batches = [label_maps(step) for step in range(2)]
    expected = train(NullCommunicator(), segnet, batches, "float64")
    assert difference(train(comm, segnet, batches, "float64"), expected) < 1e-12


@on_ranks(2)
def test_samples_of_anchors_are_drawn_by_each_rank(comm):
    batches = [objects(0)]

    def few():
        return faster_rcnn_fpn(16)

    assert difference(train(comm, few, batches), train(NullCommunicator(), few, batches)) > 1e-4


def test_a_rank_without_images_is_an_error_for_losses_that_count():
    with pytest.raises(GraphError, match="a rank has no examples, but RetinaNetLoss counts in the parts of all ranks"):
        check_may_be_idle(retinanet())
