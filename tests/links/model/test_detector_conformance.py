"""Every detector keeps the contract of predict."""

import functools

import numpy as np
import pytest
from neighbour import neighbour

from cvzoo.config.randomness import set_seed
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.faster_rcnn.faster_rcnn_vgg16 import FasterRCNNVGG16
from cvzoo.links.model.faster_rcnn.region_proposal_network import ProposalCreator
from cvzoo.links.model.faster_rcnn.train_chain import FasterRCNNTrainChain
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN
from cvzoo.links.model.faster_rcnn_fpn.loss import FasterRCNNFPNLoss, RegionSampling
from cvzoo.links.model.fcos.fcos import FCOS, FCOSSettings
from cvzoo.links.model.light_head_rcnn.light_head_rcnn_resnet101 import LightHeadRCNNResNet101
from cvzoo.links.model.light_head_rcnn.train_chain import LightHeadRCNNTrainChain
from cvzoo.links.model.retinanet.config import RetinaNetSettings
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.ssd.config import SSDSettings
from cvzoo.links.model.ssd.ssd import SSD
from cvzoo.links.model.ssdlite.config import SSDLiteSettings
from cvzoo.links.model.ssdlite.ssdlite import SSDLite
from cvzoo.links.model.ultra_light_face.ultra_light_face import UltraLightFace
from cvzoo.links.model.yolo.yolo_v2 import YOLOv2, YOLOv2Tiny
from cvzoo.links.model.yolo.yolo_v3 import YOLOv3
from cvzoo.testing import assert_is_detection_link

conformance, network = (neighbour(__file__, name) for name in ("detector_conformance", "network_conformance"))

TINY_CFG = """
[net]
width=96
height=64
channels=3
[convolutional]
filters=8
size=3
stride=2
pad=1
batch_normalize=1
activation=leaky
[maxpool]
size=2
stride=2
[convolutional]
filters=16
size=3
stride=2
pad=1
batch_normalize=1
activation=mish
[convolutional]
filters=16
size=3
pad=1
groups=16
batch_normalize=1
activation=leaky
[shortcut]
from=-2
activation=linear
[convolutional]
filters=24
size=1
activation=linear
[yolo]
mask=0,1,2
anchors=10,14, 23,27, 37,58
classes=3
num=3
[route]
layers=-3
[upsample]
stride=2
[convolutional]
filters=16
size=1
activation=linear
[yolo]
mask=0,1
anchors=10,14, 23,27, 37,58
classes=3
num=3
"""


def _of_cfg(**arguments):
    return DarknetDetector(TINY_CFG, label_names=("ape", "bee", "cat"), **arguments)


NAMES = ("ape", "bee", "cat", "dog")


def _retinanet(n_fg_class=4, pretrained_model=None, label_names=NAMES, **settings):
    sizes = ((16,), (32,), (64,), (128,), (256,))
    narrow = RetinaNetSettings(
        n_layer=10,
        base_channels=16,
        channels=16,
        head_depth=1,
        anchor_sizes=sizes,
        min_size=64,
        max_size=96,
        prior=0.01,
        **settings,
    )
    return RetinaNet(n_fg_class, pretrained_model, label_names=label_names, settings=narrow)


FPN = FasterRCNNFPNSettings(
    n_layer=10, base_channels=8, channels=16, head_width=32, min_size=64, max_size=96, n_proposal=50
)
_REGIONS = {
    "min_size": 64,
    "max_size": 96,
    "anchor_scales": (1, 2, 4),
    "proposal_creator": ProposalCreator(min_size=2, n_train_post_nms=60, n_test_post_nms=40),
}
_BBOX, _LABEL = np.array([[5, 5, 50, 40], [20, 30, 55, 60]], np.float32), np.array([0, 3], np.int32)


def _ssd(n_fg_class=4, pretrained_model=None, label_names=NAMES):
    sizes, ratios = (8, 16, 28, 40, 56), ((2,), (2, 3), (2,), (2,))
    extras = ("halve", "halve")
    tiny = SSDSettings(insize=64, base_channels=4, extras=extras, sizes=sizes, aspect_ratios=ratios, steps=None)
    return SSD(n_fg_class, pretrained_model, label_names=label_names, settings=tiny)


def _ssdlite(n_fg_class=4, pretrained_model=None, label_names=NAMES):
    scales, ratios = (0.2, 0.4, 0.7, 0.9), ((2,), (2, 3), (2,))
    tiny = SSDLiteSettings(insize=64, width=0.25, extras=(16,), scales=scales, aspect_ratios=ratios)
    return SSDLite(n_fg_class, pretrained_model, label_names=label_names, settings=tiny)


def _fcos(n_fg_class=4, pretrained_model=None, label_names=NAMES):
    tiny = FCOSSettings(
        n_layer=10, base_channels=8, norm="batch", channels=16, head_depth=1, head_groups=4, min_size=64, max_size=128
    )
    return FCOS(n_fg_class, pretrained_model, label_names=label_names, settings=tiny)


def _faster_rcnn_vgg16(n_fg_class=4, pretrained_model=None, label_names=NAMES):
    return FasterRCNNVGG16(
        n_fg_class,
        pretrained_model,
        label_names=label_names,
        base_channels=4,
        rpn_channels=8,
        fc_channels=16,
        **_REGIONS,
    )


def _light_head(n_fg_class=4, pretrained_model=None, label_names=NAMES):
    narrow = {"n_layer": 10, "base_channels": 4, "rpn_channels": 8, "mid_channels": 4, "fc_channels": 16}
    return LightHeadRCNNResNet101(n_fg_class, pretrained_model, label_names=label_names, **narrow, **_REGIONS)


def _faster_rcnn_fpn(n_fg_class=4, pretrained_model=None, label_names=NAMES):
    return FasterRCNNFPN(n_fg_class, pretrained_model, label_names=label_names, settings=FPN)


def _yolo_v2(n_fg_class=4, pretrained_model=None, label_names=NAMES):
    return YOLOv2(n_fg_class, pretrained_model, label_names=label_names, insize=64, base_channels=2)


def _yolo_v2_tiny(n_fg_class=4, pretrained_model=None, label_names=NAMES):
    narrow = {"insize": 64, "base_channels": 2, "mid_channels": 16}
    return YOLOv2Tiny(n_fg_class, pretrained_model, label_names=label_names, **narrow)


def _yolo_v3(n_fg_class=4, pretrained_model=None, label_names=NAMES):
    narrow = {"insize": 64, "base_channels": 2, "blocks": (1, 1, 1, 1, 1)}
    return YOLOv3(n_fg_class, pretrained_model, label_names=label_names, **narrow)


def _loss_of_regions(chain, detector):
    x = detector.prepare(conformance.make_photos(1)[0])[None]
    return chain(detector)(x, [_BBOX], [_LABEL])


def _fpn_loss(detector):
    return FasterRCNNFPNLoss(detector, sampling=RegionSampling(n_anchor=4000, n_region=64, n_proposal=200))


MAKERS = {
    "SSD": _ssd,
    "SSDLite": _ssdlite,
    "FCOS": _fcos,
    "FasterRCNNVGG16": _faster_rcnn_vgg16,
    "LightHeadRCNN": _light_head,
    "FasterRCNNFPN": _faster_rcnn_fpn,
    "a cfg, stretched": _of_cfg,
    "a cfg, letterboxed": functools.partial(_of_cfg, resize="letterbox"),
    "a cfg in another size": functools.partial(_of_cfg, size=(128, 64)),
    "YOLOv2": _yolo_v2,
    "YOLOv2Tiny": _yolo_v2_tiny,
    "YOLOv3": _yolo_v3,
    "UltraLightFace": UltraLightFace,
    "RetinaNet": _retinanet,
    "RetinaNet, frozen, with groups": functools.partial(
        _retinanet, norm="frozen", head_groups=4, extra_from="C5", antialias=False
    ),
}
# name -> from a detector, a scalar that depends on all that it has; the others' is made of what `forward` gives
LOSSES = {
    "FasterRCNNVGG16": functools.partial(_loss_of_regions, FasterRCNNTrainChain),
    "LightHeadRCNN": functools.partial(_loss_of_regions, LightHeadRCNNTrainChain),
    "FasterRCNNFPN": functools.partial(_loss_of_regions, _fpn_loss),
}
# name -> parts of the names of parameters whose gradient is zero by nature
DEAD = {}
ON_STAND_IN = {"SSD", "RetinaNet", "YOLOv2", "FasterRCNNFPN"}
# name -> paths of what starts anew where a file has other classes
HEADS = {
    "SSD": ("multibox/conf",),
    "SSDLite": ("multibox/conf",),
    "FCOS": ("head/conf",),
    "FasterRCNNVGG16": ("head/cls_loc", "head/score"),
    "LightHeadRCNN": ("head/cls_loc", "head/score"),
    "FasterRCNNFPN": ("regions/box_head/conf", "regions/box_head/loc"),
    "YOLOv2": ("out",),
    "YOLOv2Tiny": ("out",),
    "YOLOv3": ("branch32/out", "branch16/out", "branch8/out"),
    "RetinaNet": ("conf_head/out",),
}


@functools.cache
def _made(name):
    set_seed(1)
    return network.settle_norms(MAKERS[name](), LOSSES.get(name, conformance.loss))


@pytest.mark.parametrize("name", MAKERS)
def test_it_is_a_detection_link(name, on_device, request):
    model = _made(name)
    assert any(map(len, conformance.predicted(model))), "there are no boxes to check"
    if "stand-in" in request.node.name and name not in ON_STAND_IN:
        pytest.skip("a few families show what depends on the device")
    with on_device(model):
        assert_is_detection_link(model, model.n_fg_class)


@pytest.mark.parametrize("name", MAKERS)
def test_it_goes_to_a_model_file_and_back(name, tmp_path):
    network.check_model_file(_made(name), conformance.predicted, tmp_path)


@pytest.mark.parametrize("name", MAKERS)
def test_a_gradient_reaches_every_parameter(name):
    set_seed(2)
    network.check_gradients(_made(name).copy("copy"), LOSSES.get(name, conformance.loss), dead=DEAD.get(name, ()))


@pytest.mark.parametrize("name", HEADS)
def test_it_is_fitted_to_other_classes(name, tmp_path):
    set_seed(3)
    network.check_other_classes(MAKERS[name], conformance.predicted, tmp_path, heads=HEADS[name])
