"""Linear layers through oneDNN."""

import numpy as np
import pytest

from cvzoo.backends.dispatch import get_backend
from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import BackendError


@pytest.mark.parametrize(("n_in", "n_out"), [(64, 10), (7, 3), (300, 4), (63, 1), (512, 100)])
def test_a_row_gives_the_same_bits_alone_and_in_a_batch(n_in, n_out):
    try:
        with using_config("backend", "onednn"):
            backend = get_backend()
    except BackendError as error:
        pytest.skip(str(error))
    rng = np.random.default_rng(0)
    x, w, b = (rng.normal(size=shape).astype(np.float32) for shape in ((16, n_in), (n_out, n_in), n_out))
    alone = np.concatenate([backend.linear(x[i : i + 1], w, b) for i in range(16)])
    for n in (2, 3, 5, 16):
        together = np.concatenate([backend.linear(x[i : i + n], w, b) for i in range(0, 16, n)])
        np.testing.assert_array_equal(together, alone)
    np.testing.assert_allclose(alone, x @ w.T + b, rtol=1e-4, atol=1e-4)
