"""Convolutions of maps as large as the filters, which the library gets as one map, give what each map gives alone."""

import numpy as np
import pytest

from cvzoo.backends.dispatch import get_backend

CASES = [(3, 5, (1, 1)), (72, 18, (1, 1)), (512, 324, (1, 1)), (5, 7, (2, 3)), (40, 36, (7, 7)), (256, 128, (7, 7))]


@pytest.mark.parametrize(("n_in", "n_out", "size"), CASES)
@pytest.mark.parametrize("extras", [{}, {"activation": "relu"}, {"add": True}])
def test_bits_do_not_depend_on_the_batch(n_in, n_out, size, extras):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((9, n_in, *size), np.float32)
    w, b = rng.standard_normal((n_out, n_in, *size), np.float32), rng.standard_normal(n_out, np.float32)
    add = rng.standard_normal((9, n_out, 1, 1), np.float32) if "add" in extras else None
    activation = extras.get("activation")

    def run(backend, rows):
        return get_backend(backend).conv_2d(
            x[rows],
            w,
            b,
            stride=(1, 1),
            pad=(0, 0, 0, 0),
            dilate=(1, 1),
            groups=1,
            add=None if add is None else add[rows],
            activation=activation,
        )

    together = run("onednn", slice(None))
    for k in range(9):
        np.testing.assert_array_equal(together[k : k + 1], run("onednn", slice(k, k + 1)))
    np.testing.assert_allclose(together, run("numpy", slice(None)), rtol=1e-4, atol=3e-4)


def test_filters_as_large_as_the_map_are_kept_reordered():
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((3, 20, 4, 4), np.float32), rng.standard_normal((24, 20, 4, 4), np.float32)
    settings = {"stride": (1, 1), "pad": (0, 0, 0, 0), "dilate": (1, 1), "groups": 1}
    convolve, pack = get_backend("onednn").conv_2d, {}
    want = convolve(x, w, None, **settings, pack=pack)
    np.testing.assert_array_equal(convolve(x, np.full_like(w, np.nan), None, **settings, pack=pack), want)


def test_filters_as_large_as_the_map_may_lie_in_any_order():
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((3, 20, 4, 5), np.float32), rng.standard_normal((24, 20, 4, 5), np.float32)
    settings = {"stride": (1, 1), "pad": (0, 0, 0, 0), "dilate": (1, 1), "groups": 1}
    convolve = get_backend("onednn").conv_2d
    want = convolve(x, w, None, **settings)
    np.testing.assert_array_equal(convolve(x, np.asfortranarray(w), None, **settings), want)
    last = np.ascontiguousarray(w.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    np.testing.assert_array_equal(convolve(x, last, None, **settings), want)
