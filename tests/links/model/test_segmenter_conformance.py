"""Every segmenter of the zoo keeps the contract; one joins by a line in SEGMENTERS, as narrow as it can be built."""

import functools

import pytest
from few_steps import losses_of_steps
from neighbour import neighbour

from cvzoo.config.randomness import set_seed
from cvzoo.links.model.deeplab.deeplab_v3 import DeepLabV3
from cvzoo.links.model.deeplab.deeplab_v3_plus import DeepLabV3plusXception65
from cvzoo.links.model.espnet.espnet import ESPNet
from cvzoo.links.model.espnet.frame_preparation import FramePreparation
from cvzoo.links.model.fcn.fcn import FCN
from cvzoo.links.model.lraspp.lraspp import LRASPPMobileNetV3Large
from cvzoo.links.model.pspnet.pspnet import PSPNet
from cvzoo.links.model.segnet.segnet_basic import SegNetBasic
from cvzoo.optimizers import Adam
from cvzoo.testing import assert_is_semantic_segmentation_link

conformance, network = (neighbour(__file__, name) for name in ("segmenter_conformance", "network_conformance"))


def _espnet(n_class, pretrained_model, label_names):
    frame = FramePreparation((48, 64), (110, 108, 105), (72, 73, 70))
    return ESPNet(
        n_class,
        pretrained_model,
        label_names=label_names,
        depths=(1, 1),
        channels=(8, 16, 16),
        preparation=frame,
    )


def _of_short_side(make, n_class, pretrained_model, label_names, width=1 / 8):
    return make(n_class, pretrained_model, label_names=label_names, width=width, short=48)


def _deeplab_v3_plus(n_class, pretrained_model, label_names):
    return DeepLabV3plusXception65(
        n_class, pretrained_model, 65, label_names=label_names, width=1 / 32, middle_blocks=1
    )


def _pspnet(n_class, pretrained_model, label_names, layout="chainercv"):
    settings = {"base_channels": 8, "aux": True, "layout": layout}
    return PSPNet(10, n_class, pretrained_model, 57, label_names=label_names, **settings)


def _segnet(n_class, pretrained_model, label_names):
    return SegNetBasic(n_class, pretrained_model, label_names=label_names, channels=8)


ON_STAND_IN = {"SegNetBasic"}
# name -> from n_class, pretrained_model and label_names, the narrow network
SEGMENTERS = {
    "DeepLabV3, MobileNetV3": functools.partial(_of_short_side, functools.partial(DeepLabV3, "mobilenet_v3_large")),
    "DeepLabV3, ResNet": functools.partial(_of_short_side, functools.partial(DeepLabV3, "resnet50"), width=1 / 32),
    "DeepLabV3plusXception65": _deeplab_v3_plus,
    "ESPNet": _espnet,
    "FCN": functools.partial(_of_short_side, functools.partial(FCN, "resnet50"), width=1 / 32),
    "LRASPPMobileNetV3Large": functools.partial(_of_short_side, LRASPPMobileNetV3Large),
    "PSPNet": _pspnet,
    "PSPNet, gluon": functools.partial(_pspnet, layout="gluon"),
    "SegNetBasic": _segnet,
}


@functools.cache
def _made(name):
    set_seed(1)
    return network.settle_norms(SEGMENTERS[name](9, None, None), conformance.loss)


@pytest.fixture(params=SEGMENTERS)
def name(request):
    return request.param


def test_it_is_a_semantic_segmentation_link(name, on_device, request):
    if "stand-in" in request.node.name and name not in ON_STAND_IN:
        pytest.skip("a few families show what depends on the device")
    model = _made(name)
    with on_device(model):
        assert_is_semantic_segmentation_link(model, model.n_class)


def test_it_goes_to_a_model_file_and_back(name, tmp_path):
    network.check_model_file(_made(name), conformance.predicted, tmp_path)


def test_it_is_fitted_to_other_classes(name, tmp_path):
    conformance.check_other_classes(SEGMENTERS[name], tmp_path)


def test_a_few_steps_lower_the_loss(name):
    set_seed(3)
    model = _made(name).copy("copy")
    losses = losses_of_steps(lambda: conformance.loss(model), Adam(1e-3).setup(model), 6)
    assert min(losses[3:]) < losses[0], losses


def test_a_gradient_reaches_every_parameter(name):
    set_seed(2)
    network.check_gradients(_made(name).copy("copy"), conformance.loss)
