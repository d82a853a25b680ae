"""Signatures of the API reference: as the source has them, with the names of types that it uses."""

from site_signatures import source_signature

from cvzoo.geometry import nms
from cvzoo.iterators import SerialIterator
from cvzoo.links import Classifier, ResNet50, RetinaNetConfig


def test_types_have_the_names_that_the_source_gives_them():
    arguments, returned = source_signature(nms)
    assert arguments.startswith("(bbox: ArrayLike, score: ArrayLike | None=None, *, iou_thresh: float")
    assert returned == "Array"


def test_a_class_has_the_arguments_of_its_constructor_and_no_self():
    arguments, returned = source_signature(Classifier)
    assert arguments.startswith("(predictor: Link, lossfun: ")
    assert returned is None


def test_methods_lose_their_self():
    assert source_signature(SerialIterator.load_state)[0].startswith("(state: ")


def test_defaults_that_are_functions_keep_their_name():
    assert "=F.softmax_cross_entropy" in source_signature(Classifier)[0]


def test_what_no_source_says_is_left_to_the_generator():
    assert source_signature(RetinaNetConfig) is None  # a dataclass: its constructor is made
    assert source_signature(ResNet50) is None  # a wrapper that takes anything
    assert source_signature(len) is None
