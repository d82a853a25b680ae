"""Every classifier of the zoo keeps the contract; one joins by a line in CLASSIFIERS, as narrow as it can be built."""

import functools

import pytest
from neighbour import neighbour

from cvzoo.config.randomness import set_seed
from cvzoo.links.model.alexnet.alexnet import AlexNet
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.links.model.convnext.convnext import ConvNeXt, ConvNeXtDimensions
from cvzoo.links.model.densenet.densenet import DenseNet
from cvzoo.links.model.efficientnet.efficientnet import EfficientNet
from cvzoo.links.model.googlenet.googlenet import GoogLeNet
from cvzoo.links.model.googlenet.inception_v3 import InceptionV3
from cvzoo.links.model.mnasnet.mnasnet import MNASNet
from cvzoo.links.model.mobilenet_v2.mobilenet_v2 import MobileNetV2
from cvzoo.links.model.mobilenet_v3.mobilenet_v3 import MobileNetV3
from cvzoo.links.model.preparation.center_crop import PhotoPreparation
from cvzoo.links.model.regnet.regnet import Design, RegNet
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.links.model.shufflenet_v2.shufflenet_v2 import ShuffleNetV2
from cvzoo.links.model.squeezenet.squeezenet import SqueezeNet
from cvzoo.links.model.swin.extractor import SwinDimensions
from cvzoo.links.model.swin.swin import SwinTransformer
from cvzoo.links.model.vgg.vgg import VGG
from cvzoo.links.model.vit.vit import ViT, ViTDimensions
from cvzoo.testing import assert_is_classification_link

SMALL_PHOTO = PhotoPreparation(36, 32)


conformance, network = (neighbour(__file__, name) for name in ("classifier_conformance", "network_conformance"))


def _cifar_resnet(n_class, pretrained_model, label_names):
    return CIFARResNet(8, n_class, pretrained_model, label_names=label_names)


def _resnet(n_class, pretrained_model, label_names, **settings):
    return ResNet(10, n_class, pretrained_model, label_names=label_names, base_channels=8, insize=32, **settings)


def _resnext(n_class, pretrained_model, label_names):
    narrow = {"base_channels": 8, "groups": 2, "base_width": 32, "insize": 32}
    return ResNet(50, n_class, pretrained_model, label_names=label_names, **narrow)


def _convnext(n_class, pretrained_model, label_names):
    plan = ConvNeXtDimensions((8, 8, 16, 16), (1, 1, 1, 1), 0.1)
    return ConvNeXt("tiny", n_class, pretrained_model, label_names=label_names, plan=plan, preparation=SMALL_PHOTO)


def _vit(n_class, pretrained_model, label_names):
    plan = ViTDimensions(8, 2, 2, 16, 24)
    return ViT("b_16", n_class, pretrained_model, label_names=label_names, plan=plan, insize=32)


def _swin(n_class, pretrained_model, label_names, *, size="t", window=3, version=1):
    plan = SwinDimensions(8, (2, 2), (2, 4), window, 0.1, version)
    return SwinTransformer(size, n_class, pretrained_model, label_names=label_names, plan=plan, preparation=SMALL_PHOTO)


def _seen(make, side=32):
    def narrow(n_class, pretrained_model, label_names):
        seen = PhotoPreparation(side + 4, side)
        return make(n_class, pretrained_model, label_names=label_names, preparation=seen)

    return narrow


ON_STAND_IN = {"CIFARResNet", "ViT"}
# name -> from n_class, pretrained_model and label_names, the narrow network
CLASSIFIERS = {
    "CIFARResNet": _cifar_resnet,
    "ConvNeXt": _convnext,
    "ResNet": _resnet,
    "ResNet, stem cifar, groups": functools.partial(_resnet, stem="cifar", norm="group"),
    "SwinTransformer": _swin,
    "SwinTransformer, version 2": functools.partial(_swin, size="v2_t", window=4, version=2),
    "ViT": _vit,
    "MobileNetV2": _seen(functools.partial(MobileNetV2, width=0.1)),
    "MobileNetV2, tf": _seen(functools.partial(MobileNetV2, width=0.1, arch="tf")),
    "MobileNetV3 large": _seen(functools.partial(MobileNetV3, "large", width=0.1)),
    "MobileNetV3 small": _seen(functools.partial(MobileNetV3, "small", width=0.1)),
    "EfficientNet": _seen(functools.partial(EfficientNet, "b0", width=0.1, depth=0.3)),
    "EfficientNetV2": _seen(functools.partial(EfficientNet, "v2_s", width=0.1, depth=0.1)),
    "RegNet X": _seen(functools.partial(RegNet, Design(4, 8, 8.0, 2.0, 4, None), stem=8)),
    "RegNet Y": _seen(functools.partial(RegNet, Design(4, 8, 8.0, 2.0, 4, 0.25), stem=8)),
    "ShuffleNetV2": _seen(functools.partial(ShuffleNetV2, 1.0, channels=(8, 16, 24, 32, 64), counts=(2, 2, 1))),
    "MNASNet": _seen(functools.partial(MNASNet, 0.1, last=32)),
    "ResNet, gated, deep stem": functools.partial(_resnet, se=4, stem="deep"),
    "ResNeXt": _resnext,
    "VGG": _seen(functools.partial(VGG, 11, base_channels=4, fc_channels=16)),
    "VGG with norm": _seen(functools.partial(VGG, 11, base_channels=4, fc_channels=16, norm="batch")),
    "AlexNet": _seen(functools.partial(AlexNet, width=1 / 16, fc_channels=16), 64),
    "SqueezeNet 1.0": _seen(functools.partial(SqueezeNet, "1.0", width=1 / 4), 64),
    "SqueezeNet 1.1": _seen(functools.partial(SqueezeNet, "1.1", width=1 / 4), 64),
    "DenseNet": _seen(functools.partial(DenseNet, 13, growth=4, stem_channels=8), 64),
    "GoogLeNet": _seen(functools.partial(GoogLeNet, width=1 / 16), 64),
    "InceptionV3": _seen(functools.partial(InceptionV3, width=1 / 16), 80),
}


@functools.cache
def _made(name):
    set_seed(1)
    return network.settle_norms(CLASSIFIERS[name](9, None, None), conformance.loss)


@pytest.fixture(params=CLASSIFIERS)
def name(request):
    return request.param


def test_it_is_a_classification_link(name, on_device, request):
    if "stand-in" in request.node.name and name not in ON_STAND_IN:
        pytest.skip("a few families show what depends on the device")
    model = _made(name)
    with on_device(model):
        assert_is_classification_link(model, model.n_class)


def test_it_goes_to_a_model_file_and_back(name, tmp_path):
    network.check_model_file(_made(name), conformance.predicted, tmp_path)


def test_it_is_fitted_to_other_classes(name, tmp_path):
    conformance.check_other_classes(CLASSIFIERS[name], tmp_path)


def test_a_gradient_reaches_every_parameter(name):
    set_seed(2)
    network.check_gradients(_made(name).copy("copy"), conformance.loss)


def test_the_suite_catches_a_dead_parameter():
    model = _made("CIFARResNet").copy("copy")
    with pytest.raises(AssertionError, match="fc/W"):
        network.check_gradients(model, lambda each: conformance.loss(each) * 0)
