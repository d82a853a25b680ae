"""Products of rows with a matrix, and convolutions of single pixels, by our own kernel, against float64."""

import ctypes

import numpy as np
import pytest

from cvzoo.backends.arrays import numpy_address
from cvzoo.backends.dispatch import get_backend
from cvzoo.backends.native.library import native, why_no_native
from cvzoo.backends.native.plans import RowsMatrixPlan, RowsPlan
from cvzoo.backends.onednn.library import why_no_onednn

REASON = why_no_native() or why_no_onednn()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))
REFERENCE = get_backend("numpy")
FAST = REFERENCE if REASON else get_backend("onednn")
# rows, length, columns: fewer and more than registers, blocks and sums hold
SHAPES = [
    (1, 1, 1),
    (1, 17, 33),
    (2, 300, 31),
    (5, 64, 8),
    (13, 257, 70),
    (25, 1280, 100),
    (61, 5000, 40),
    (100, 96, 384),
]
ACTIVATIONS = {
    "relu": {},
    "clip": {"alpha": -0.5, "beta": 0.75},
    "leaky_relu": {"alpha": 0.1},
    "sigmoid": {},
    "swish": {"alpha": 1.5},
    "hard_sigmoid": {"alpha": 1 / 6, "beta": 0.5},
    "hard_swish": {"alpha": 1 / 6, "beta": 0.5},
    "tanh": {},  # not the kernel's
}
POINT = {"stride": (1, 1), "pad": (0, 0, 0, 0), "dilate": (1, 1), "groups": 1}


def draw(rng, *shape):
    return rng.standard_normal(shape, np.float32)


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize(("n", "c", "o"), SHAPES)
def test_a_product_is_float64s(n, c, o, has_bias):
    rng = np.random.default_rng(0)
    x, w, b = draw(rng, n, c), draw(rng, o, c), draw(rng, o) if has_bias else None
    y = FAST.linear(x, w, b, pack={})
    want = x.astype(np.float64) @ w.astype(np.float64).T + (0 if b is None else b)
    scale = np.abs(x).astype(np.float64) @ np.abs(w).astype(np.float64).T
    assert (np.abs(y - want) <= 1e-6 * scale + 1e-6).all()


@pytest.mark.parametrize("order", ["rows", "columns"])
def test_matrices_and_rows_may_lie_in_any_order(order):
    rng = np.random.default_rng(0)
    w = draw(rng, 40, 70)
    x = draw(rng, 9, 100)[:, 10:80] if order == "rows" else np.asfortranarray(draw(rng, 9, 70))
    turned = w if order == "rows" else np.asfortranarray(w)
    want = FAST.linear(np.ascontiguousarray(x), w, None, pack={})
    np.testing.assert_array_equal(FAST.linear(x, turned, None, pack={}), want)


@pytest.mark.parametrize(("n", "c", "o"), SHAPES)
def test_a_row_has_the_same_bits_alone_and_in_company(n, c, o):
    rng = np.random.default_rng(0)
    x, w, b = draw(rng, n, c), draw(rng, o, c), draw(rng, o)
    y = FAST.linear(x, w, b, pack={})
    for k in (0, n // 2, n - 1):
        np.testing.assert_array_equal(FAST.linear(x[k : k + 1], w, b, pack={}), y[k : k + 1])


@pytest.mark.parametrize(("n", "c", "o"), [(1, 1280, 1000), (61, 5000, 40), (200, 300, 700)])
def test_bits_do_not_depend_on_the_number_of_threads(n, c, o):
    rng = np.random.default_rng(0)
    x, w, results = draw(rng, n, c), draw(rng, o, c), []
    for threads in (1, 2, 3, 5):
        ordered = np.empty(c * (o + 31), np.float32)
        matrix, rows = RowsMatrixPlan(o, c, c, 1), RowsPlan(n, c, o, c, 1, 0, 0, 0, 0, 0)
        arrays = (ctypes.c_void_p * 2)(numpy_address(w), numpy_address(ordered))
        assert native().kernels["rows_matrix"](ctypes.addressof(matrix), arrays, threads) == 0
        y = np.empty((n, o), np.float32)
        size = native().scratch_sizes["rows"](ctypes.addressof(rows), threads)
        scratch = np.empty(size, np.uint8)
        arrays = (ctypes.c_void_p * 4)(*map(numpy_address, (x, ordered, y, scratch)))
        assert native().kernels["rows"](ctypes.addressof(rows), arrays, threads) == 0
        results.append(y)
    for y in results[1:]:
        np.testing.assert_array_equal(y, results[0])


@pytest.mark.parametrize("has_add", [False, True])
@pytest.mark.parametrize("activation", [None, *ACTIVATIONS])
@pytest.mark.parametrize(("n", "c", "o"), [(1, 40, 10), (3, 10, 37), (14, 8, 64)])
def test_a_convolution_of_single_pixels_is_numpys(n, c, o, activation, has_add):
    rng = np.random.default_rng(0)
    x, w, b, add = draw(rng, n, c, 1, 1), draw(rng, o, c, 1, 1), draw(rng, o), draw(rng, n, o, 1, 1)
    how = {**POINT, **ACTIVATIONS.get(activation, {}), "activation": activation, "add": add if has_add else None}
    y = FAST.conv_2d(x, w, b, **how)
    np.testing.assert_allclose(y, REFERENCE.conv_2d(x, w, b, **how), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(FAST.conv_2d(x[:1], w, b, **{**how, "add": add[:1] if has_add else None}), y[:1])


def test_nan_stays_and_infinities_end_where_they_should():
    x = np.array([np.nan, np.inf, -np.inf], np.float32)[:, None, None, None]
    w = np.ones((1, 1, 1, 1), np.float32)
    for activation, settings in ACTIVATIONS.items():
        y = FAST.conv_2d(x, w, None, **POINT, activation=activation, **settings).ravel()
        if activation in ("relu", "leaky_relu", "sigmoid", "swish", "hard_swish"):
            assert np.isnan(y[0])
    y = FAST.conv_2d(x, w, None, **POINT, activation="sigmoid").ravel()
    np.testing.assert_allclose(y[1:], [1, 0], atol=1e-37)


def test_the_matrix_is_reordered_once():
    rng = np.random.default_rng(0)
    x, w, pack = draw(rng, 3, 20), draw(rng, 24, 20), {}
    want = FAST.linear(x, w, None, pack=pack)
    np.testing.assert_array_equal(FAST.linear(x, np.full_like(w, np.nan), None, pack=pack), want)
