"""Functions element by element are as near to the truth as float32 allows."""

import numpy as np

from cvzoo.backends.dispatch import get_backend


def test_logarithms_are_right_to_the_last_bits_near_one():
    x = np.linspace(0.5, 2, 20001, dtype=np.float32)
    y, expected = get_backend("auto").eltwise("log", x), np.log(x.astype(np.float64))
    assert (np.abs(y - expected) <= 2.0**-22 * np.maximum(np.abs(expected), 1e-6)).all()
