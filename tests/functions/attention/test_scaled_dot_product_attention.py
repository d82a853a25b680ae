"""Attention is the formula, query by query."""

import numpy as np
import pytest

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.config.switches import no_backprop_mode
from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.functions.attention.scaled_dot_product_attention import scaled_dot_product_attention

random = np.random.default_rng(5)
# shapes of q, k, v, bias; scale
CASES = {
    "one head": ((3, 4), (5, 4), (5, 2), None, None),
    "heads of a batch": ((2, 3, 4, 8), (2, 3, 6, 8), (2, 3, 6, 5), (3, 4, 6), None),
    "a scale": ((2, 4, 3), (2, 4, 3), (2, 4, 3), (4, 4), 0.2),
    "scale 1": ((4, 3), (4, 3), (4, 3), None, 1.0),
    "one query": ((2, 1, 3), (2, 5, 3), (2, 5, 3), (2, 1, 5), None),
}


def by_loops(q, k, v, bias, scale):
    lead = q.shape[:-2]
    y = np.empty((*lead, q.shape[-2], v.shape[-1]))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    all_bias = np.broadcast_to(0.0 if bias is None else bias, (*lead, q.shape[-2], k.shape[-2]))
    for place in np.ndindex(*lead, q.shape[-2]):
        weights = np.exp([scale * q[place] @ key + b for key, b in zip(k[place[:-1]], all_bias[place])])
        y[place] = sum(w * value for w, value in zip(weights, v[place[:-1]])) / weights.sum()
    return y


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_values_are_averaged_by_the_likeness_of_keys(case, backend):
    *shapes, scale = case
    arrays = [None if shape is None else random.normal(size=shape) for shape in shapes]
    for dtype, tolerance in (("float64", 1e-9), ("float32", 1e-5)):
        q, k, v, bias = (None if each is None else each.astype(dtype) for each in arrays)
        y = scaled_dot_product_attention(q, k, v, bias=bias, scale=scale)
        assert y.dtype == dtype
        np.testing.assert_allclose(y.array, by_loops(q, k, v, bias, scale), rtol=tolerance, atol=tolerance)

    def run(q, k, v, bias=None):
        return scaled_dot_product_attention(q, k, v, bias=bias, scale=scale)

    given = tuple(each for each in arrays if each is not None)
    check_backward(run, given)
    check_double_backward(run, given)


def test_a_hidden_key_has_no_say(backend):
    q, k, v = (random.normal(size=(5, 4)).astype("f") for _ in range(3))
    bias = np.where(np.arange(5) < 3, 0, -1e4).astype("f")
    y = scaled_dot_product_attention(q, k, v, bias=bias).array
    np.testing.assert_allclose(y, scaled_dot_product_attention(q, k[:3], v[:3]).array, rtol=1e-5)


@pytest.mark.parametrize("bias_shape", [None, (3, 4, 6), (5, 1, 4, 6), (1, 3, 4, 6)], ids=str)
def test_part_by_part_it_is_the_same(bias_shape, backend, monkeypatch):
    q, k, v = (random.normal(size=(5, 3, n, 8)).astype("f") for n in (4, 6, 6))
    bias = None if bias_shape is None else random.normal(size=bias_shape).astype("f")
    with no_backprop_mode():
        want = scaled_dot_product_attention(q, k, v, bias=bias).array
        shared_keys = scaled_dot_product_attention(q, k[:1], v[:1], bias=bias).array
        for at_once in (1, 2 * 3 * 4 * 6):  # scores: one sample's are too many; those of two are not
            monkeypatch.setattr("cvzoo.functions.attention.scaled_dot_product_attention._AT_ONCE", at_once)
            y = scaled_dot_product_attention(q, k, v, bias=bias).array
            np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-6)
            y = scaled_dot_product_attention(q, k[:1], v[:1], bias=bias).array
            np.testing.assert_allclose(y, shared_keys, rtol=1e-5, atol=1e-6)


def test_large_scores_do_not_overflow(backend):
    y = scaled_dot_product_attention(np.full((2, 4), 1e4, "f"), np.full((3, 4), 1e4, "f"), np.eye(3, dtype="f")).array
    np.testing.assert_allclose(y, np.full((2, 3), 1 / 3), rtol=1e-6)


@pytest.mark.parametrize(
    ("shapes", "error"),
    [
        (((3, 4), (5, 3), (5, 2)), ShapeError),
        (((3, 4), (5, 4), (6, 2)), ShapeError),
        (((4,), (5, 4), (5, 2)), ShapeError),
        (((2, 3, 4), (3, 5, 4), (3, 5, 2)), ShapeError),
    ],
    ids=str,
)
def test_shapes_that_do_not_fit_are_refused(shapes, error):
    with pytest.raises(error):
        scaled_dot_product_attention(*map(np.zeros, shapes))


def test_bad_biases_and_mixed_dtypes_are_refused():
    x = np.zeros((3, 4))
    with pytest.raises(ShapeError, match="bias"):
        scaled_dot_product_attention(x, x, x, bias=np.zeros((2, 3)))
    with pytest.raises(DtypeError):
        scaled_dot_product_attention(x, x.astype("f"), x)
