"""A formula of NumPy's functions, traced and run as a kernel, gives the bits that NumPy gives where there are no
subnormal numbers."""

import shutil

import numpy as np
import pytest
from host_cuda import HostModule, thread_order
from host_cuda.module import ORDERS
from host_cuda.subnormals import flushed_subnormals
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.backends.gpu_kernels import common_source
from cvzoo.optimizers.on_device.formula import traced
from cvzoo.optimizers.on_device.functions_text import FUNCTIONS
from cvzoo.optimizers.on_device.kernel_text import CHUNK, Formula, update_text
from cvzoo.optimizers.on_device.trace import NotTraceable, Trace

needs_gxx = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
ODD = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, float(np.finfo(np.float32).tiny), 3e38]


def run(function, dtype, n=600):
    """(what NumPy makes of p by function(p, g, s), what the kernel makes of it)"""
    rng = np.random.default_rng(0)
    p, g, s = (rng.normal(size=n).astype(dtype) for _ in range(3))
    p[: len(ODD)] = ODD
    g[: len(ODD) ** 2 : len(ODD)] = ODD
    trace = Trace("real", "v")
    cells = [trace.cell(name) for name in ("p", "g", "s0")]
    function(*cells)
    stored = [(target, cell.name) for target, cell in zip(("p", "g", "s0"), cells) if cell.name != target]
    formula = Formula(np.dtype(dtype), True, (), (), tuple(trace.lines), tuple(stored), n_slot=1)
    module = HostModule(common_source() + FUNCTIONS + update_text(formula))
    expected = [array.copy() for array in (p, g, s)]
    with np.errstate(all="ignore"), flushed_subnormals():
        function(*expected)
    for order in ORDERS:
        mine = [array.copy() for array in (p, g, s)]
        table = np.array([mine[0].ctypes.data, mine[2].ctypes.data, n], np.int64)
        chunks = np.array([[0, k] for k in range(0, n, CHUNK)], np.int64)
        args = (table, np.array([mine[1].ctypes.data]), chunks, np.int32(1), *[None] * 6)
        with thread_order(order):
            module.launch("over_chunks", (len(chunks), 1, 1), (256, 1, 1), args)
        for name, one, other in zip(("p", "g", "s0"), expected, mine):
            np.testing.assert_array_equal(other, one, name)


def _where(p, g, s):
    p[...] = np.where((p > g) & np.isfinite(g) | ~(s < 0), g, p * 2)


def _copyto(p, g, s):
    np.copyto(p, 0, where=np.less(np.abs(s), 0.5))
    np.multiply(p, g, out=s, where=g != 0)


def _swap(p, g, s):
    keep = p.copy()
    p[...] = g
    g[:] = keep
    s += np.sign(p) + (s >= 0)


FORMULAS = {
    "arithmetic": lambda p, g, s: np.subtract(np.multiply(p, g) + s / g, np.reciprocal(s), p),
    "roots": lambda p, g, s: np.sqrt(np.square(g) + np.abs(p), out=p),
    "extremes": lambda p, g, s: np.maximum(p, np.minimum(g, s), out=s),
    "signs": lambda p, g, s: np.add(np.sign(p), np.negative(g), out=p),
    "clip": lambda p, g, s: np.clip(p, -0.5, g, out=s),
    "constants": lambda p, g, s: np.multiply(p, np.float32(0.1) + 0.3 * np.ones_like(p), p),
    "where": _where,
    "copyto": _copyto,
    "swap": _swap,
}


@needs_gxx
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FORMULAS)
def test_a_kernel_has_the_bits_of_numpy(name, dtype):
    run(FORMULAS[name], dtype)


@needs_gxx
def test_arrays_of_several_chunks_are_covered_to_the_end():
    run(lambda p, g, s: np.add(p, g, p), "float32", 2 * CHUNK + 77)


STEP = st.tuples(
    st.sampled_from([np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum]),
    st.integers(0, 2),
    st.one_of(st.integers(0, 2), st.sampled_from([0.5, -3.0])),
    st.integers(0, 2),
)


@needs_gxx
@settings(max_examples=12)
@given(st.lists(STEP, min_size=1, max_size=8))
def test_any_program_of_functions_has_the_bits_of_numpy(steps):
    def formula(*arrays):
        for function, first, second, out in steps:
            function(arrays[first], arrays[second] if isinstance(second, int) else second, out=arrays[out])

    run(formula, "float32")


def _reads_scratch(p, g, s):
    np.add(p, p.trace.cell(), p)


UNTRACEABLE = {
    "looks at numbers": lambda p, g, s: p if p > 0 else g,
    "asks for a float": lambda p, g, s: float(p),
    "is no function of elements": lambda p, g, s: np.add.reduce(p),
    "sums": lambda p, g, s: np.sum(p),
    "has no kernel": lambda p, g, s: np.arctan2(p, g, p),
    "writes a part": lambda p, g, s: p.__setitem__(slice(0, 2), 0),
    "reads a part": lambda p, g, s: p[0],
    "reads what was never written": _reads_scratch,
    "writes elsewhere": lambda p, g, s: np.add(p, g, out=np.zeros(3)),
    "takes an array": lambda p, g, s: np.add(p, np.zeros(3), p),
    "infinite": lambda p, g, s: np.multiply(p, np.inf, p),
    "undefined elsewhere": lambda p, g, s: np.add(p, g, where=p > 0),
}


@pytest.mark.parametrize("name", UNTRACEABLE)
def test_what_cannot_be_written_down_is_refused(name):
    trace = Trace("real", "v")
    cells = [trace.cell(name) for name in ("p", "g", "s0")]
    with pytest.raises(NotTraceable):
        UNTRACEABLE[name](*cells)
    assert traced(lambda: UNTRACEABLE[name](*cells)) is None


def test_lifted_constants_leave_the_text_as_it_is():
    texts = []
    for rate in (0.1, 0.2):
        trace = Trace("double", "n", lift=True)
        np.where(trace.number(7.0) > rate, 1.0 - rate ** trace.number(3), rate)
        texts.append(trace.lines)
        assert trace.lifted[:3] == [7.0, rate, 3.0]
    assert texts[0] == texts[1]
