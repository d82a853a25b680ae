"""Where a classifier's numbers, classes and preparation come from, on a network of one layer."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import ValueRangeError, WeightsMismatchError
from cvzoo.links.chain import Chain
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.preparation.center_crop import PhotoPreparation
from cvzoo.links.model.pretrained.classifier import ClassWeights, classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.pretrained.names import Names
from cvzoo.weights.record import Weights


class Net(Chain):
    def __init__(self, n_class):
        with self.init_scope():
            self.body = Linear(3, 4)
            self.fc = Linear(4, n_class)


NAMES = {"the publisher": Names(marks=("fc.weight",), modules=lambda module: module)}


def loaded(source, net):
    return load_pretrained(net, source.file, may_start_anew=source.may_start_anew)


@pytest.fixture
def file(tmp_path):
    arrays = {
        "body.weight": np.full((4, 3), 2, np.float32),
        "body.bias": np.full(4, 3, np.float32),
        "fc.weight": np.full((5, 4), 4, np.float32),
        "fc.bias": np.full(5, 5, np.float32),
    }
    np.savez(tmp_path / "net.npz", **arrays)
    return tmp_path / "net.npz"


def source_of(pretrained_model, *, records=None, n_class=None, label_names=None):
    return classifier_source(
        pretrained_model,
        records or {},
        NAMES,
        heads=("fc",),
        n_class=n_class,
        label_names=label_names,
        default=PhotoPreparation(),
    )


def test_without_a_file_there_are_a_thousand_classes():
    source = source_of(None)
    assert (source.n_class, source.label_names, loaded(source, Net(3))) == (1000, None, None)


def test_the_file_says_how_many_classes(file):
    source = source_of(file)
    net = Net(source.n_class)
    assert loaded(source, net).is_clean
    assert net.fc.b.array.tolist() == [5] * 5
    assert net.body.W.array[0, 0] == 2


def test_other_classes_start_anew_and_are_named(file):
    source = source_of(file, label_names=("cat", "dog"))
    net = Net(2)
    before = net.fc.W.array.copy()
    with pytest.warns(UserWarning, match="fc/W"):
        report = loaded(source, net)
    assert set(report.mismatching) == {"fc/W", "fc/b"}
    np.testing.assert_array_equal(net.fc.W.array, before)
    assert net.body.b.array[0] == 3
    assert source.label_names == ("cat", "dog")


def test_as_many_classes_as_the_file_has_need_no_new_head(file):
    source = source_of(file, n_class=5)
    assert loaded(source, Net(5)).is_clean


@pytest.mark.parametrize("change", ["left over", "missing", "another shape"])
def test_only_the_head_may_differ(tmp_path, file, change):
    arrays = dict(np.load(file))
    if change == "left over":
        arrays["more.weight"] = np.zeros(3, np.float32)
    elif change == "missing":
        del arrays["body.bias"]
    else:
        arrays["body.weight"] = np.zeros((4, 7), np.float32)
    np.savez(tmp_path / "odd.npz", **arrays)
    with pytest.raises(WeightsMismatchError):
        loaded(source_of(tmp_path / "odd.npz", n_class=2), Net(2))


def test_a_file_of_another_network_is_told_at_once(tmp_path):
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    with pytest.raises(WeightsMismatchError, match="fc/b"):
        source_of(tmp_path / "other.npz")


def test_a_name_brings_its_preparation(file):
    record = Weights(name="net", url=file.as_uri(), sha256=None, licence="x", data="x", data_licence="x", source="x")
    records = {"good": ClassWeights(record, PhotoPreparation(crop=7))}
    assert source_of("good", records=records).preparation.crop == 7
    assert source_of(file).preparation.crop == 224


@pytest.mark.parametrize("wrong", [{"n_class": 0}, {"n_class": True}, {"n_class": 3, "label_names": ("a", "b")}])
def test_classes_and_names_must_agree(wrong):
    with pytest.raises(ValueRangeError):
        source_of(None, **wrong)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueRangeError, match="pretrained_model"):
        source_of("nothing")


def test_a_published_file_that_was_fetched_by_hand_is_known_by_its_name(file):
    record = Weights(
        name="x",
        url=f"https://example.org/{file.name}",
        sha256=None,
        licence="a",
        data="b",
        data_licence="c",
        source="d",
    )
    published = ClassWeights(record, PhotoPreparation(short=232))
    assert source_of(file, records={"imagenet_v2": published}).preparation == PhotoPreparation(short=232)
    other = file.rename(file.with_name("other.npz"))
    assert source_of(other, records={"imagenet_v2": published}).preparation == PhotoPreparation()
