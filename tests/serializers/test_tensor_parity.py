import numpy as np
import pytest

from cvzoo.serializers.tensor_parity import tensor_parity

RNG = np.random.default_rng(0)
W = RNG.normal(size=(6, 4)).astype("f4")
K = RNG.normal(size=(5, 3, 2, 2)).astype("f4")


def how(source, model, stored=None):
    parity = tensor_parity(source, model, model if stored is None else stored)
    return {row.source: (row.how, row.ours) for row in parity.rows}, parity


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        (K.copy(), "same"),
        (K.reshape(5, 12), "reshaped"),
        (K[:, ::-1], "reordered"),  # BGR to RGB
        (K[[3, 0, 1, 2, 4]], "reordered"),
        (K[[3, 0, 1]], "rows taken"),
        (K * 2, "computed"),
    ],
)
def test_what_became_of_an_array_is_seen_in_its_numbers(made, kind):
    found, parity = how({"conv.weight": K, "fc": W}, {"a/W": made, "b/W": W})
    assert found["conv.weight"] == (kind, () if kind == "computed" else ("a/W",))
    assert found["fc"] == ("same", ("b/W",))
    assert parity.unused == parity.unfilled == ()
    assert parity.greatest_difference == 0


def test_an_array_may_be_cut_into_several():
    found, parity = how({"in_proj": W}, {"q/W": W[:2], "k/W": W[2:4], "v/W": W[4:]})
    assert found["in_proj"] == ("rows taken", ("q/W", "k/W", "v/W"))
    assert (parity.rows[0].n_taken, parity.rows[0].n_row) == (6, 6)


def test_floats_without_names_are_all_of_the_model_or_not():
    floats = np.concatenate([K[:, :, ::-1].ravel(), W.ravel()])
    found, parity = how({"floats": floats}, {"a": W, "b": K, "N": np.array(0)})
    assert found["floats"] == ("reordered", ("a", "b"))
    assert parity.unused == parity.unfilled == ()
    found, _ = how({"floats": floats * 2}, {"a": W, "b": K})
    assert found["floats"] == ("computed", ())


def test_arrays_of_equal_numbers_go_where_their_shape_is():
    ones = {"a": np.ones(4, "f4"), "b": np.ones((2, 2), "f4")}
    found, _ = how(ones, {"x": np.ones((2, 2), "f4"), "y": np.ones(4, "f4")})
    assert found == {"a": ("same", ("y",)), "b": ("same", ("x",))}


def test_what_went_nowhere_and_what_came_from_nowhere_is_named():
    _, parity = how({"a": W, "b": K}, {"a": W})
    assert parity.unused == ("b",)
    _, parity = how({"a": W}, {"a": W, "b": K})
    assert parity.unfilled == ("b",)


def test_counters_are_no_numbers_that_can_be_lost():
    _, parity = how({"a": W, "n": np.array(7)}, {"a": W, "N": np.array(0)})
    assert (parity.dropped, parity.made) == (("n",), ("N",))
    assert parity.unused == parity.unfilled == ()


def test_the_difference_is_to_what_is_stored():
    half = {"a": W.astype("f2")}
    _, parity = how({"w": W}, {"a": W}, half)
    assert 0 < parity.greatest_difference < 1e-3
    assert parity.rows[0].difference == np.abs(W - half["a"].astype("f4")).max()
    assert parity.counts() == {"same": 1}


def test_rows_of_zeros_go_no_further_than_they_reach():
    source = {"a": np.zeros(6, "f4"), "b": np.zeros(9, "f4")}
    found, parity = how(source, {"a/b": np.zeros(4, "f4"), "b/b": np.zeros(7, "f4")})
    assert found == {"a": ("rows taken", ("a/b",)), "b": ("rows taken", ("b/b",))}
    assert parity.unused == ()
