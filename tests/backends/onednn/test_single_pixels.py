"""Convolutions of many maps of one pixel, which the library gets as one map, give what each map gives alone."""

import numpy as np
import pytest

from cvzoo.backends.dispatch import get_backend


@pytest.mark.parametrize(("n_in", "n_out"), [(3, 5), (72, 18), (512, 324)])
@pytest.mark.parametrize("extras", [{}, {"activation": "relu"}, {"add": True}])
def test_bits_do_not_depend_on_the_batch(n_in, n_out, extras):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((9, n_in, 1, 1), np.float32)
    w, b = rng.standard_normal((n_out, n_in, 1, 1), np.float32), rng.standard_normal(n_out, np.float32)
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
    np.testing.assert_allclose(together, run("numpy", slice(None)), rtol=1e-4, atol=1e-4)
