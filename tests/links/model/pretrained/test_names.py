"""Tables of a publisher's names: which file is whose, and how its arrays get our names."""

import numpy as np
import pytest
from by_our_names import by_our_names

from cvzoo.links.model.pretrained.names import Names, counted_batches, publisher_of


def ones(*names, shape=(2, 3)):
    return {name: np.ones(shape, np.float32) for name in names}


@pytest.mark.parametrize(
    ("names", "publisher"), [(("a", "b"), "both"), (("a",), "first"), (("b",), None), (("c", "a"), "first")]
)
def test_the_first_table_whose_marks_a_file_has_is_its_publishers(names, publisher):
    tables = {"both": Names(marks=("a", "b")), "first": Names(marks=("a",))}
    assert publisher_of(ones(*names), tables) == publisher


def test_a_file_of_nobody_keeps_its_names():
    assert by_our_names(ones("x"), {"first": Names(marks=("a",), rules=[("x", "y")])}).keys() == {"x"}


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (ones("conv.weight"), {"place/W"}),
        (ones("conv.weight", "conv.bias"), {"place/W", "place/b"}),
        (ones("conv.weight", "conv.bias", shape=3), {"place/gamma", "place/beta"}),  # a vector is a normalization's
        (ones("conv.running_mean", "conv.running_var", shape=3), {"place/avg_mean", "place/avg_var", "place/N"}),
        (ones("conv.gamma", "conv.beta", shape=3), {"place/gamma", "place/beta"}),  # MXNet's
        (ones("conv/W", "conv/avg_mean"), {"place/W", "place/avg_mean"}),  # Chainer's
        (ones("conv.num_batches_tracked", shape=()), set()),
        (ones("conv.weight_g", "other.weight"), {"conv.weight_g", "other.weight"}),
    ],
)
def test_leaves_of_modules_have_our_names(theirs, ours):
    for modules in ({"conv": "place"}, lambda module: "place" if module == "conv" else None):
        assert Names(marks=(), modules=modules)(theirs).keys() == ours


def test_older_names_come_before_modules_and_rules_after_one_another():
    table = Names(
        marks=(),
        older=[("^old", "new")],
        modules={"new": "a"},
        rules=[("^a/", "b/"), ("^b/(.)$", lambda match: f"c/{match[1]}{match[1]}")],
    )
    assert table(ones("old.weight")).keys() == {"c/WW"}


def test_arrays_are_dropped_laid_out_otherwise_and_put_in_order():
    table = Names(
        marks=(),
        drop=("fc/",),
        values=[("conv/.", np.ravel)],
        finish=lambda named, n_class: {name: array[:n_class] for name, array in named.items()},
    )
    named = table(ones("fc/W", "conv/W", "conv/other"), 4)
    assert {name: array.shape for name, array in named.items()} == {"conv/W": (4,), "conv/other": (2, 3)}


def test_what_was_given_stays():
    arrays = ones("a/W", "fc/W")
    Names(marks=(), rules=[("a", "b")], drop=("fc",))(arrays)
    assert arrays.keys() == {"a/W", "fc/W"}


@pytest.mark.parametrize(("count", "prefix", "want"), [(0, "", False), (3, "", True), (3, "other.", False)])
def test_normalizations_that_were_trained_counted_batches(count, prefix, want):
    assert counted_batches({"body.bn.num_batches_tracked": np.array(count)}, prefix) is want
