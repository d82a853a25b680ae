"""Kernels of a GPU proven on a made-up one: in three orders of threads, with the same bits, against NumPy."""

import ml_dtypes
import numpy as np
from host_cuda import thread_order
from host_cuda.module import ORDERS

BF16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.float16), BF16]
# of the largest number; half a unit of the last place of 16 bits, and a few of float32
TOLERANCES = {"float32": 3e-6, "float64": 2e-14, "float16": 1e-3, "bfloat16": 8e-3}


def draw(shape, dtype, *, seed=0, mean=0.0):
    """Normal numbers; with four axes they lie channels-last."""
    x = (np.random.default_rng([seed, *shape]).standard_normal(shape) + mean).astype(dtype)
    return channels_last(x) if len(shape) == 4 else x


def channels_last(x):
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)


def wide(x):
    return None if x is None else np.asarray(x).astype(np.float64)


def wide_dtype(dtype):
    """What parameters and statistics beside `dtype` have."""
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def on_device(machine, x):
    """x, or None, on the made-up GPU; with four axes channels-last."""
    if x is None or x.ndim != 4:
        return None if x is None else machine.cupy.array(x)
    return machine.cupy.array(np.ascontiguousarray(x.transpose(0, 2, 3, 1))).transpose(0, 3, 1, 2)


def run_in_every_order(machine, kernel, *arrays, **settings):
    """What `kernel` gives for `arrays`, on the host: a list. Its bits must not depend on the order of threads.

    The device must not wait for anything, nor the host for it.
    """
    there = [on_device(machine, x) for x in arrays]
    seen = []
    for order in ORDERS:
        before = len(machine.recorder)
        with thread_order(order):
            results = kernel(*there, **settings)
        waited = [entry for entry in machine.recorder[before:] if entry.kind in ("h2d", "d2h", "sync")]
        assert not waited, waited
        results = results if isinstance(results, tuple) else (results,)
        seen.append([None if result is None else result.get() for result in results])
    for other in seen[1:]:
        for one, two in zip(seen[0], other):
            assert (one is None) == (two is None)
            assert one is None or one.tobytes() == two.tobytes()
    return seen[0]


def assert_near(got, reference, dtype, *, scale=None):
    """got has `dtype` and reference's shape, and lies within what the dtype can hold of it."""
    assert got.dtype == dtype
    assert got.shape == reference.shape
    if reference.size:
        largest = np.abs(reference).max() if scale is None else scale
        tolerance = TOLERANCES[np.dtype(dtype).name] * max(largest, 1e-30)
        np.testing.assert_allclose(got.astype(np.float64), reference, rtol=0, atol=tolerance)
