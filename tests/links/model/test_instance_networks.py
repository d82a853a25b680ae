"""Every model that finds masks or key points is a good network and answers soundly; one joins by a line in MODELS."""

import functools

import numpy as np
import pytest
from neighbour import neighbour

from cvzoo.config.randomness import set_seed
from cvzoo.links.model.faster_rcnn.region_proposal_network import ProposalCreator
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings
from cvzoo.links.model.faster_rcnn_fpn.loss import RegionSampling
from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101
from cvzoo.links.model.fcis.train_chain import FCISTrainChain
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPN, PointHeadSettings
from cvzoo.links.model.keypoint_rcnn.loss import KeypointRCNNFPNLoss
from cvzoo.links.model.mask_rcnn.loss import MaskRCNNFPNLoss
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskHeadSettings, MaskRCNNFPN
from cvzoo.testing import assert_is_instance_segmentation_link, assert_is_point_link

conformance, network = (neighbour(__file__, name) for name in ("instance_conformance", "network_conformance"))

NAMES = ("ape", "bee", "cat")
FPN = FasterRCNNFPNSettings(
    n_layer=10, base_channels=8, channels=16, head_width=32, min_size=64, max_size=96, n_proposal=50
)
SAMPLING = RegionSampling(n_anchor=4000, n_region=64, n_proposal=200)
BBOX, LABEL = np.array([[5, 5, 50, 40], [20, 30, 55, 60]], np.float32), np.array([0, 2], np.int32)


def _mask_rcnn(n_fg_class=3, pretrained_model=None, label_names=NAMES, **options):
    head = MaskHeadSettings(depth=1, channels=8, roi_size=7, **options)
    return MaskRCNNFPN(n_fg_class, pretrained_model, label_names=label_names, settings=FPN, mask_settings=head)


def _fcis(n_fg_class=3, pretrained_model=None, label_names=NAMES):
    narrow = {"n_layer": 10, "base_channels": 4, "rpn_channels": 8, "mid_channels": 6, "roi_size": 6, "group_size": 3}
    regions = ProposalCreator(min_size=2, n_train_post_nms=60, n_test_post_nms=30)
    small = {"min_size": 64, "max_size": 96, "anchor_scales": (1, 2, 4), "proposal_creator": regions}
    return FCISResNet101(n_fg_class, pretrained_model, label_names=label_names, **narrow, **small)


def _keypoint_rcnn(n_fg_class=1, pretrained_model=None, label_names=None):
    head = PointHeadSettings(depth=1, channels=8, roi_size=7)
    return KeypointRCNNFPN(n_fg_class, pretrained_model, label_names=label_names, settings=FPN, point_settings=head)


MODELS = {
    "MaskRCNNFPN": _mask_rcnn,
    "MaskRCNNFPN, pasted exactly": functools.partial(_mask_rcnn, paste="exact"),
    "FCIS": _fcis,
    "KeypointRCNNFPN": _keypoint_rcnn,
}


def _batch(model):
    x = model.prepare(conformance.make_photos(1)[0])[None]
    mask = np.zeros((2, *x.shape[2:]), bool)
    for each, (top, left, bottom, right) in zip(mask, BBOX.astype(int)):
        each[top:bottom, left:right] = True
    return x, mask


def _mask_loss(model):
    x, mask = _batch(model)
    return MaskRCNNFPNLoss(model, sampling=SAMPLING)(x, [BBOX], [LABEL], [mask])


def _fcis_loss(model):
    x, mask = _batch(model)
    return FCISTrainChain(model)(x, [mask], [LABEL])


def _point_loss(model):
    x, _ = _batch(model)
    rng = np.random.default_rng(5)
    share = rng.random((2, model.point_settings.n_point, 2), np.float32)
    point = BBOX[:, None, :2] + share * (BBOX[:, None, 2:] - BBOX[:, None, :2])
    visible = np.arange(model.point_settings.n_point) % 3 > 0
    labels, visibles = [np.zeros(2, np.int32)], [np.stack([visible, ~visible])]
    return KeypointRCNNFPNLoss(model, sampling=SAMPLING)(x, [BBOX], labels, [point], visibles)


# name -> from a model, a scalar that depends on all that it has
LOSSES = {"MaskRCNNFPN": _mask_loss, "FCIS": _fcis_loss, "KeypointRCNNFPN": _point_loss}
ON_STAND_IN = {"MaskRCNNFPN", "KeypointRCNNFPN"}
# name -> paths of what starts anew where a file has other classes
HEADS = {
    "MaskRCNNFPN": ("regions/box_head/conf", "regions/box_head/loc", "mask_head/out"),
    "FCIS": ("head/cls_seg",),
    "KeypointRCNNFPN": ("regions/box_head/conf", "regions/box_head/loc"),
}


@functools.cache
def _made(name):
    set_seed(1)
    model = MODELS[name]()
    return network.settle_norms(model, LOSSES[name]) if name in LOSSES else model


@pytest.fixture(params=MODELS)
def name(request):
    return request.param


def test_it_is_a_link_of_its_task(name, on_device, request):
    if "stand-in" in request.node.name and name not in ON_STAND_IN:
        pytest.skip("a few families show what depends on the device")
    model = _made(name)
    assert any(map(len, conformance.predicted(model))), "there are no instances to check"
    with on_device(model):
        if name == "KeypointRCNNFPN":
            assert_is_point_link(model, model.n_fg_class, 17)
        else:
            assert_is_instance_segmentation_link(model, model.n_fg_class)


def test_it_goes_to_a_model_file_and_back(name, tmp_path):
    network.check_model_file(_made(name), conformance.predicted, tmp_path)


@pytest.mark.parametrize("name", LOSSES)
def test_a_gradient_reaches_every_parameter(name):
    set_seed(2)
    network.check_gradients(_made(name).copy("copy"), LOSSES[name])


@pytest.mark.parametrize("name", HEADS)
def test_it_is_fitted_to_other_classes(name, tmp_path):
    set_seed(3)
    network.check_other_classes(MODELS[name], conformance.predicted, tmp_path, heads=HEADS[name])
