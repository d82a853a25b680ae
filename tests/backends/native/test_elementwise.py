"""Formulas in one pass over memory have NumPy's bits, wherever arrays begin and end, in any number of threads."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.backends.native import elementwise
from cvzoo.backends.native.elementwise import compiled, run_program
from cvzoo.backends.native.library import native

pytestmark = pytest.mark.skipif(native() is None, reason="needs our library")
ODD = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-42, -1e-42, 3e38, 1e-38], np.float32)
UNARY = (np.positive, np.sqrt, np.absolute, np.negative, np.sign)
BINARY = (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum)


def run(program, coefficients, segments):
    addresses = np.array([[array.ctypes.data for array in arrays] for arrays in segments], np.int64)
    starts = np.cumsum([0, *[arrays[0].size for arrays in segments]], dtype=np.int64)
    run_program(program, coefficients, addresses, starts)


def by_numpy(operations, stored, values):
    values = dict(values)
    with np.errstate(all="ignore"):
        for name, function, operands in operations:
            values[name] = function(*[values[operand] for operand in operands])
    return {array: values[name] for array, name in stored.items()}


def unaligned(rng, n):
    array = np.frombuffer(bytearray(4 * n + 7), np.uint8)[3 : 3 + 4 * n].view(np.float32)
    array[:] = rng.normal(size=n)
    array[: len(ODD)] = rng.permutation(ODD)[:n]
    return array


@st.composite
def formulas(draw):
    names = ["p", "g", "c0", "c1", "half"]
    operations = []
    for k in range(draw(st.integers(1, 12))):
        function = draw(st.sampled_from(UNARY + BINARY))
        # mostly of the result before, as formulas are
        operands = [draw(st.sampled_from([names[-1], names[-1], *names])) for _ in range(function.nin)]
        operations.append((f"v{k}", function, operands))
        names.append(f"v{k}")
    results = [name for name, *_ in operations]
    targets = draw(st.sampled_from([("p",), ("g",), ("p", "g")]))
    return operations, {target: draw(st.sampled_from([*results, results[-1], "c1"])) for target in targets}


@settings(max_examples=150)
@given(formulas(), st.lists(st.integers(1, 300), min_size=1, max_size=4), st.integers(0, 9))
def test_any_formula_has_numpys_bits(formula, sizes, seed):
    operations, stored = formula
    rng = np.random.default_rng(seed)
    program = compiled(operations, stored, ["p", "g"], ["c0", "c1"], {"half": 0.5})
    segments = [[unaligned(rng, n) for _ in "pg"] for n in sizes]
    before = [[array.copy() for array in arrays] for arrays in segments]
    run(program, [-1.25, 3e-3], segments)
    for arrays, olds in zip(segments, before):
        known = {"p": olds[0], "g": olds[1], "c0": np.float32(-1.25), "c1": np.float32(3e-3), "half": np.float32(0.5)}
        expected = by_numpy(operations, stored, known)
        for array, old, name in zip(arrays, olds, "pg"):
            wanted = np.broadcast_to(expected.get(name, old), array.shape)
            np.testing.assert_array_equal(array, wanted)
            numbers = ~np.isnan(wanted)
            np.testing.assert_array_equal(np.signbit(array)[numbers], np.signbit(wanted)[numbers])


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
def test_long_and_short_segments_are_computed_once_in_any_number_of_threads(monkeypatch, threads):
    monkeypatch.setattr(elementwise, "threads_now", lambda: (threads, "a test"))
    sizes = [70_001, 1, 63, 64, 65, 32_768, 40_000, 7]
    segments = [[np.arange(n, dtype=np.float32), np.ones(n, np.float32)] for n in sizes]
    program = compiled([("v0", np.add, ["p", "g"])], {"p": "v0"}, ["p", "g"], [], {})
    run(program, [], segments)
    for n, (p, g) in zip(sizes, segments):
        np.testing.assert_array_equal(p, np.arange(1, n + 1))
        np.testing.assert_array_equal(g, 1)


def test_arrays_that_do_not_change_are_not_written():
    same = np.arange(70, dtype=np.float32)
    program = compiled([("v0", np.add, ["p", "g"])], {"p": "v0"}, ["p", "g"], [], {})
    run(program, [], [[same, same]])
    np.testing.assert_array_equal(same, 2 * np.arange(70))


def test_an_array_keeps_its_old_value_until_it_was_read_last():
    p, g = np.array([1.0, 2.0, 3.0], np.float32), np.array([5.0, 6.0, 7.0], np.float32)
    operations = [("v0", np.negative, ["p"]), ("v1", np.add, ["g", "p"])]
    run(compiled(operations, {"p": "v0", "g": "v1"}, ["p", "g"], [], {}), [], [[p, g]])
    np.testing.assert_array_equal(p, [-1, -2, -3])
    np.testing.assert_array_equal(g, [6, 8, 10])


def test_small_values_become_zero_after_all():
    p = np.array([1.0, -1e-3, 1e-3, 2e-3, np.nan, -np.inf, 0.0], np.float32)
    program = compiled([("v0", np.negative, ["p"])], {"p": "v0"}, ["p"], [], {"limit": 2e-3}, flushed={"p": "limit"})
    run(program, [], [[p]])
    np.testing.assert_array_equal(p, np.array([-1.0, 0, 0, -2e-3, np.nan, np.inf, 0.0], np.float32))


@pytest.mark.parametrize(
    ("operations", "stored"),
    [
        ([("v0", np.exp, ["p"])], {"p": "v0"}),
        ([("v0", np.add, ["p", "g"])], {"p": "g", "g": "v0"}),
        ([(f"v{k}", np.add, [f"v{k - 2}" if k > 1 else "p", "g"]) for k in range(60)], {"p": "v59"}),
    ],
    ids=["another function", "exchanged arrays", "too many temporaries"],
)
def test_other_formulas_are_left_to_numpy(operations, stored):
    assert compiled(operations, stored, ["p", "g"], [], {}) is None


def test_each_place_of_a_subtraction_and_a_division_is_told_apart():
    for function, swapped in itertools.product((np.subtract, np.divide), (False, True)):
        operands = ["v0", "g"]
        operations = [("v0", np.sqrt, ["p"]), ("v1", function, operands[::-1] if swapped else operands)]
        p, g = np.array([16.0, 4.0], np.float32), np.array([3.0, 5.0], np.float32)
        expected = by_numpy(operations, {"p": "v1"}, {"p": p, "g": g})["p"]
        run(compiled(operations, {"p": "v1"}, ["p", "g"], [], {}), [], [[p, g]])
        np.testing.assert_array_equal(p, expected)
