import dataclasses
import pickle

import pytest

from cvzoo.errors.exceptions import CvzooError, DtypeError, ValueRangeError
from cvzoo.weights.record import Weights

GOOD = {
    "name": "tiny_net.v1",
    "url": "https://example.org/models/tiny-net.npz?raw=1",
    "sha256": "0" * 64,
    "size": 12,
    "licence": "MIT",
    "data": "CIFAR-10",
    "data_licence": "not stated",
    "source": "example/tiny @0123456",
}


def test_a_good_record_names_its_file_after_the_url():
    record = Weights(**GOOD)
    assert record.file_name == "tiny-net.npz"
    assert record.score == {}
    assert pickle.loads(pickle.dumps(record)) == record
    assert len({record, Weights(**GOOD)}) == 1


def test_lists_become_tuples_and_the_record_is_frozen():
    labels = ["dog"]
    record = Weights(**GOOD, label_names=labels, score={"AP": 0.1})
    labels.append("cat")
    assert record.label_names == ("dog",)
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.name = "other"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "../up"),
        ("name", "two words"),
        ("url", "ftp://example.org/x.npz"),
        ("url", "https:///x.npz"),
        ("url", "https://me:secret@example.org/x.npz"),
        ("url", "https://example.org/a b.npz"),
        ("url", 3),
        ("mirrors", ("gopher://x/y.npz",)),
        ("sha256", "0" * 63),
        ("sha256", "G" * 64),
        ("sha256", "A" * 64),
        ("size", 0),
        ("about_size", -1),
        ("about_size", 1.5),
        ("size", True),
        ("licence", " "),
        ("data", None),
        ("score", {"AP": float("nan")}),
        ("score", {"AP": "high"}),
        ("file_name", "../x"),
        ("file_name", ".hidden"),
        ("file_name", "a/b"),
    ],
)
def test_a_wrong_field_is_named(field, value):
    with pytest.raises(ValueRangeError, match=field):
        Weights(**{**GOOD, field: value})


@pytest.mark.parametrize("field", ["label_names", "mirrors"])
def test_one_string_is_not_a_tuple_of_strings(field):
    with pytest.raises(DtypeError, match=field):
        Weights(**{**GOOD, field: "https://example.org/x"})


def test_a_url_without_a_file_name_needs_one_given():
    with pytest.raises(ValueRangeError, match="file_name"):
        Weights(**{**GOOD, "url": "https://example.org/"})
    assert Weights(**{**GOOD, "url": "https://example.org/"}, file_name="x.npz").file_name == "x.npz"


def test_no_published_hash_is_said_outright():
    assert Weights(**{**GOOD, "sha256": None}).sha256 is None
    with pytest.raises(TypeError):
        Weights(**{k: v for k, v in GOOD.items() if k != "sha256"})
    assert issubclass(ValueRangeError, CvzooError)
