"""Every classifier of the zoo keeps the contract; one joins by a line in CLASSIFIERS, as narrow as it can be built."""

import functools
import importlib.util
import pathlib

import pytest

from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.links.model.convnext.convnext import ConvNeXt
from cvzoo.links.model.convnext.plan import Plan as ConvNeXtPlan
from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.links.model.swin.plan import Plan as SwinPlan
from cvzoo.links.model.swin.swin import SwinTransformer
from cvzoo.links.model.vit.plan import Plan as ViTPlan
from cvzoo.links.model.vit.vit import ViT

SMALL_PHOTO = PhotoPreparation(36, 32)


def _neighbour(name):
    # tests are imported one by one, without packages: a neighbour is loaded by its path
    path = pathlib.Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


conformance, network = _neighbour("classifier_conformance"), _neighbour("network_conformance")


def _cifar_resnet(n_class, pretrained_model, label_names):
    return CIFARResNet(8, n_class, pretrained_model, label_names=label_names)


def _resnet(n_class, pretrained_model, label_names, **settings):
    return ResNet(10, n_class, pretrained_model, label_names=label_names, base_channels=8, insize=32, **settings)


def _convnext(n_class, pretrained_model, label_names):
    plan = ConvNeXtPlan((8, 8, 16, 16), (1, 1, 1, 1), 0.1)
    return ConvNeXt("tiny", n_class, pretrained_model, label_names=label_names, plan=plan, preparation=SMALL_PHOTO)


def _vit(n_class, pretrained_model, label_names):
    plan = ViTPlan(8, 2, 2, 16, 24)
    return ViT("b_16", n_class, pretrained_model, label_names=label_names, plan=plan, insize=32)


def _swin(n_class, pretrained_model, label_names, *, size="t", window=3, version=1):
    plan = SwinPlan(8, (2, 2), (2, 4), window, 0.1, version)
    return SwinTransformer(size, n_class, pretrained_model, label_names=label_names, plan=plan, preparation=SMALL_PHOTO)


# name -> from n_class, pretrained_model and label_names, the narrow network
CLASSIFIERS = {
    "CIFARResNet": _cifar_resnet,
    "ConvNeXt": _convnext,
    "ResNet": _resnet,
    "ResNet, stem cifar, groups": functools.partial(_resnet, stem="cifar", norm="group"),
    "SwinTransformer": _swin,
    "SwinTransformer, version 2": functools.partial(_swin, size="v2_t", window=4, version=2),
    "ViT": _vit,
}


@functools.cache
def _made(name):
    set_seed(1)
    model = CLASSIFIERS[name](9, None, None)
    norms = [link for link in model.links() if isinstance(link, BatchNormalization)]
    decays = [norm.decay for norm in norms]
    for norm in norms:  # statistics of the suite's photos, so that random numbers do not blow up
        norm.decay = 0
    with using_config("train", True), no_backprop_mode():
        conformance.loss(model)
    for norm, decay in zip(norms, decays):
        norm.decay = decay
    return model


@pytest.fixture(params=CLASSIFIERS)
def name(request):
    return request.param


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_it_keeps_the_contract(name, check):
    check(_made(name))


@pytest.mark.parametrize(
    "check", [network.check_determinism, network.check_copies, network.check_device], ids=lambda check: check.__name__
)
def test_it_is_a_good_network(name, check):
    check(_made(name), conformance.predicted)


@pytest.mark.parametrize(
    "check", [network.check_model_file, network.check_numbers_in_npz], ids=lambda check: check.__name__
)
def test_it_goes_to_files_and_back(name, check, tmp_path):
    check(_made(name), conformance.predicted, tmp_path)


def test_it_is_fitted_to_other_classes(name, tmp_path):
    conformance.check_other_classes(CLASSIFIERS[name], tmp_path)


def test_a_gradient_reaches_every_parameter(name):
    set_seed(2)
    network.check_gradients(_made(name).copy("copy"), conformance.loss)


def test_the_suite_catches_a_dead_parameter_and_a_changed_number():
    model = _made("CIFARResNet").copy("copy")
    with pytest.raises(AssertionError, match="fc/W"):
        network.check_gradients(model, lambda each: conformance.loss(each) * 0)

    def forgetful(each):
        each.fc.b.array[0] += 1
        return conformance.predicted(each)

    with pytest.raises(AssertionError):
        network.check_determinism(model, forgetful)
