import c_kernels
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cvzoo
from cvzoo.backends import elementwise
from cvzoo.errors.exceptions import DtypeError, ShapeError, UnsupportedError, ValueRangeError

A = np.array([[0.5, -1.5, 2.25], [3, -4, 7]], "float32")


def test_the_tutorials_kernel_multiplies_and_adds():
    forward = elementwise("float32 x, float32 y, float32 z", "float32 w", "w = x * y + z", "muladd_fwd")
    backward = elementwise(
        "float32 x, float32 y, float32 gw", "float32 gx, float32 gy", "gx = y * gw;\ngy = x * gw;", "muladd_bwd"
    )
    w = forward(A, A + 1, A - 1)
    assert w.dtype == np.float32
    np.testing.assert_array_equal(w, A * (A + 1) + (A - 1))
    gx, gy = backward(A, A + 1, w)
    np.testing.assert_array_equal(gx, (A + 1) * w)
    np.testing.assert_array_equal(gy, A * w)


def test_one_text_is_one_kernel():
    assert elementwise("T x", "T y", "y = x", "same") is elementwise("T x", "T y", "y = x", "same")


def test_a_function_of_ones_own_has_a_gradient():
    forward = elementwise("T x", "T y", "y = x > 0 ? x : (T)0.1 * x", "own_leaky")
    backward = elementwise("T x, T gy", "T gx", "gx = x > 0 ? gy : (T)0.1 * gy", "own_leaky_grad")

    class OwnLeaky(cvzoo.Function):
        def forward(self, inputs):
            return (forward(inputs[0]),)

        def backward(self, inputs, grads):
            return (backward(inputs[0], grads[0]),)

    x = A.astype("float64")
    cvzoo.gradient_check.check_backward(OwnLeaky(), (x,), (np.ones_like(x),), eps=1e-4)


def test_names_of_types_stand_for_any():
    double = elementwise("T x", "T y", "T twice = x + x; y = twice", "double")
    for dtype in ("float32", "float64", "int32", "uint8"):
        y = double(np.arange(4, dtype=dtype))
        assert y.dtype == dtype
        np.testing.assert_array_equal(y, 2 * np.arange(4))


def test_shapes_broadcast_and_numbers_are_taken():
    y = elementwise("T x, T k, T b", "T y", "y = x * k + b", "affine")(A, A[:1], 2)
    np.testing.assert_array_equal(y, A * A[:1] + 2)


def test_outputs_may_be_given():
    out = np.full_like(A, 7)
    got = elementwise("T x", "T y", "y += x", "accumulate")(A, out)
    assert got is out
    np.testing.assert_array_equal(out, A + 7)


def test_the_index_and_the_number_of_elements_are_variables():
    y = elementwise("T x", "T y", "y = x * n + i", "indexed")(A)
    np.testing.assert_array_equal(y, A * 6 + np.arange(6).reshape(2, 3))


def test_a_numpy_function_computes_on_the_cpu_what_only_a_gpus_compiler_understands():
    reverse = elementwise("raw T x", "T y", "y = x[n - 1 - i]", "reverse", on_cpu=lambda x, size: x.reshape(-1)[::-1])
    assert reverse(A, size=6).tolist() == A.reshape(-1)[::-1].tolist()
    with pytest.raises(ShapeError, match="wrong number"):
        reverse(A, A, A)


def test_all_statements_are_read_before_outputs_are_written():
    out = np.full_like(A, 7)
    with pytest.raises(ValueRangeError, match="'z'"):
        elementwise("T x", "T y", "y = x; y = z", "half")(A, out)
    assert (out == 7).all()


REFUSED = [
    (("T x", "T y", "y = x $ 2", "k"), (A,), ValueRangeError, "not valid in C"),
    (("T x", "T y", "y = (x", "k"), (A,), ValueRangeError, "not valid C"),
    (("T x", "T y", "y = x +", "k"), (A,), ValueRangeError, "the end"),
    (("T x", "T y", "y = z", "k"), (A,), ValueRangeError, "'z'"),
    (("T x", "T y", "z = x", "k"), (A,), ValueRangeError, "'z'"),
    (("T x", "T y", "y = x[0]", "k"), (A,), UnsupportedError, r"without '\['"),
    (("T x", "T y", "if (x > 0) y = x", "k"), (A,), UnsupportedError, "without 'if'"),
    (("T x", "T y", "for (;;) y = x", "k"), (A,), UnsupportedError, "without 'for'"),
    (("T x", "T y", "y++", "k"), (A,), UnsupportedError, r"without '\+\+'"),
    (("raw T x", "T y", "y = x", "k2"), (A,), UnsupportedError, "raw parameters need a GPU"),
    (("T x", "T y", "y = gamma_of(x)", "k"), (A,), UnsupportedError, "gamma_of"),
    (("T x", "T y", "return", "k"), (A,), UnsupportedError, "return"),
    (("T x", "T y", "y = x % 2", "k"), (A,), DtypeError, "integers"),
    (("float32 x", "T y", "y = x", "k"), (A,), DtypeError, "no input says"),
    (("float64 x", "float64 y", "y = x", "k"), (A,), DtypeError, "another type"),
    (("T x, T z", "T y", "y = x", "k"), (A, A.astype("float64")), DtypeError, "T = float32"),
    (("T x, T z", "T y", "y = x", "k"), (A, A[:, :2]), ShapeError, "broadcast"),
    (("T x", "T y", "y = x", "k"), (A, A, A), ShapeError, "wrong number"),
    (("T x", "T y", "y = x", "k"), (A, A[0].copy()), ShapeError, "another shape"),
    (("T x", "T y", "y = x", "k"), ("photo",), DtypeError, "no array"),
]


@pytest.mark.parametrize(
    ("texts", "arguments", "error", "words"), REFUSED, ids=[f"{t[0][2]}-{n}" for n, t in enumerate(REFUSED)]
)
def test_what_cannot_be_is_refused(texts, arguments, error, words):
    with pytest.raises(error, match=words):
        elementwise(*texts)(*arguments)


@pytest.mark.parametrize("params", ["x", "T", "vector x", "T x, T x", "T i", "float 3x"])
def test_parameters_that_are_none_are_refused(params):
    with pytest.raises(ValueRangeError):
        elementwise(params, "T y", "y = 0", "k")


TYPES = {"a": "float32", "b": "float64", "k": "int32", "m": "int64", "u": "uint32", "c": "uint8", "d": "int8"}


def expressions():
    """Texts of expressions whose meaning C defines for all values of VALUES."""
    leaf = st.sampled_from([*TYPES, "2", "3u", "7l", "0.5", "1.5f", "0x10", "(a + 1)", "(int)b", "(double)k"])

    def grow(inner):
        pair = st.tuples(inner, inner)
        return st.one_of(
            pair.map(lambda p: f"({p[0]} + {p[1]})"),
            pair.map(lambda p: f"({p[0]} - {p[1]})"),
            pair.map(lambda p: f"({p[0]} * {p[1]})"),
            pair.map(lambda p: f"({p[0]} < {p[1]} ? {p[0]} : {p[1]})"),
            pair.map(lambda p: f"max({p[0]}, {p[1]})"),
            pair.map(lambda p: f"({p[0]} == {p[1]} || {p[0]} > 1 && !({p[1]} <= 2))"),
            inner.map(lambda e: f"(-{e})"),
            inner.map(lambda e: f"((long long){e} / 3)"),
            inner.map(lambda e: f"((int)(float){e} % 5)" if e in TYPES else f"(-7 % 5 + {e})"),
            inner.map(lambda e: f"floor(fabs({e}) / 2)"),
            inner.map(lambda e: f"sqrt(fabs({e}))"),
            st.sampled_from(["k", "m", "c", "d"]).map(lambda e: f"(({e} >> 1) ^ ({e} & 6) | 1)"),
            st.sampled_from(["c", "d"]).map(lambda e: f"(~{e} << 2)"),
        )

    return st.recursive(leaf, grow, max_leaves=6)


VALUES = {
    "a": [0.5, -1.25, 3, 0, 8.75],
    "b": [-0.1, 2.3, 1e-3, 0, 5],
    "k": [-7, 3, 0, 12, -1],
    "m": [5, -9, 100, 1, 0],
    "u": [1, 2, 9, 0, 4],
    "c": [255, 3, 0, 128, 17],
    "d": [-128, 3, 127, 0, -5],
}


@settings(max_examples=30)
@given(expressions(), st.sampled_from(["float64", "float32"]))
def test_values_are_those_of_a_compiler(expression, out):
    inputs = {name: np.array(VALUES[name], dtype) for name, dtype in TYPES.items()}
    in_params = ", ".join(f"{dtype} {name}" for name, dtype in TYPES.items())
    got = elementwise(in_params, f"{out} y", f"y = {expression}", "random")(*inputs.values())
    expected = c_kernels.run_elementwise(f"y = {expression}", inputs, {"y": np.zeros(5, out)})["y"]
    np.testing.assert_allclose(got, expected, rtol=1e-6 if out == "float32" else 1e-13, atol=0)


def test_statements_do_what_a_compiler_makes_of_them():
    operation = """
        // all kinds of statements
        int t = k < 0 ? -k : k;  /* absolute */
        float s = 0.f, q;
        t /= 2; s += a / 3;
        const float e = -1.5f; s -= e;
        unsigned long long u = (unsigned char)t, w = 0x1Full;
        q = static_cast<float>(t) * s + float(u ^ w);
        y = q; z = t; z <<= 1; z -= (int)s;
    """
    inputs = {name: np.array(VALUES[name], TYPES[name]) for name in ("a", "k")}
    y, z = elementwise("float32 a, int32 k", "float32 y, int32 z", operation, "statements")(*inputs.values())
    wanted = c_kernels.run_elementwise(operation, inputs, {"y": np.zeros(5, "float32"), "z": np.zeros(5, "int32")})
    np.testing.assert_array_equal(y, wanted["y"])
    np.testing.assert_array_equal(z, wanted["z"])


@pytest.mark.parametrize("x", [np.inf, -np.inf, 2.5, -2.5, 0.49999997, -0.0])
def test_round_is_that_of_c(x):
    y = elementwise("float32 x", "float32 y", "y = round(x)", "round_it")(np.array([x], "float32"))
    expected = {2.5: 3.0, -2.5: -3.0}.get(x, x if abs(x) > 1 or x == 0 else 0.0)
    np.testing.assert_array_equal(y, np.array([expected], "float32"))


@pytest.mark.parametrize("number", ["08", "0778", "18446744073709551616", "0x10000000000000000", "9" * 5000])
def test_numbers_that_c_does_not_know_are_refused(number):
    with pytest.raises(ValueRangeError, match="number"):
        elementwise("T x", "T y", f"y = x + {number}", "odd_number")(A)


def test_the_largest_number_of_64_bits_is_one():
    largest = elementwise("uint64 x", "uint64 y", "y = x + 01777777777777777777777u", "largest")
    assert largest(np.zeros(1, "uint64"))[0] == 2**64 - 1


def test_what_is_nested_too_deep_is_refused():
    kernel = elementwise("T x", "T y", f"y = {'(' * 5000}x{')' * 5000}", "deep")
    with pytest.raises(UnsupportedError, match="nested"):
        kernel(A)


@pytest.mark.parametrize(("params", "number"), [("uint8 x", 300), ("uint8 x", -1), ("int32 x", 2**40), ("T x", 2**70)])
def test_a_number_that_the_parameters_type_cannot_hold_is_refused(params, number):
    kernel = elementwise(f"{params}, float32 z", "float32 y", "y = x + z", "too_large")
    with pytest.raises(DtypeError, match="x"):
        kernel(number, A)
