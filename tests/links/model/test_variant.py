"""Published variants are functions of their own: with a name, a signature and a docstring, and pickled by name."""

import functools
import inspect
import pickle

import pytest

from cvzoo.links.model.resnet.resnet import ResNet, ResNet18
from cvzoo.links.model.variant import classifier_variant, variant
from cvzoo.links.model.vgg.vgg import VGG, VGG11BN


class Net:
    def __init__(self, size, n_class=None, pretrained_model=None, *, label_names=None, wide=False):
        self.built = size, n_class, pretrained_model, label_names, wide


def _net(size: int, n_class: int | None = None, *, wide: bool = False) -> Net:
    return Net(size, n_class, wide=wide)


Small = classifier_variant("Small", functools.partial(Net, 1, wide=True), "A small `Net`")
Plain = classifier_variant("Plain", Net, "A `Net`")
Large = variant("Large", _net, 9, "A large `Net`")


def test_what_is_bound_and_what_is_given_reach_the_class():
    assert Small(3, "file", label_names=("a",)).built == (1, 3, "file", ("a",), True)
    assert Large(3, wide=True).built == (9, 3, None, None, True)


@pytest.mark.parametrize(("made", "name"), [(Small, "Small"), (Plain, "Plain"), (Large, "Large"), (VGG11BN, "VGG11BN")])
def test_a_variant_is_pickled_by_its_name(made, name):
    assert (made.__name__, made.__qualname__) == (name, name)
    assert pickle.loads(pickle.dumps(made)) is made


def test_signatures_say_what_may_be_given_and_what_comes_back():
    signature = inspect.signature(VGG11BN)
    assert list(signature.parameters) == ["n_class", "pretrained_model", "label_names"]
    assert signature.return_annotation is VGG
    signature = inspect.signature(ResNet18)
    assert list(signature.parameters) == ["n_class", "pretrained_model", "label_names", "arch", "stem", "norm"]
    assert signature.return_annotation is ResNet
    assert inspect.signature(Plain).return_annotation is Net


def test_a_docstring_says_what_is_built():
    assert Large.__doc__ == "A large `Net`; arguments as there."
    assert inspect.isfunction(Large)


def test_an_argument_that_the_variant_has_not_is_refused():
    with pytest.raises(TypeError, match=r"^Small\(\) .*narrow"):
        Small(narrow=True)
    with pytest.raises(TypeError, match=r"^Large\(\) .*narrow"):
        Large(narrow=True)
    with pytest.raises(TypeError, match=r"^Large\(\) .*too many"):
        Large(3, True)
