"""Which dtypes are floats, and which of them products are made in."""

import subprocess
import sys

import numpy as np
import pytest

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.backends import float_types
from cvzoo.config.switches import switches, using_config
from cvzoo.errors.exceptions import BackendError, ConfigError
from cvzoo.reporting.summary import DictSummary
from cvzoo.training.non_number.all_finite import about, all_finite, kind_of

ml_dtypes = pytest.importorskip("ml_dtypes")
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


@pytest.mark.parametrize(
    ("dtype", "is_float", "is_half"),
    [
        ("float16", True, True),
        (BFLOAT16, True, True),
        ("float32", True, False),
        ("float64", True, False),
        ("int16", False, False),
        ("uint16", False, False),
        ("bool", False, False),
        ("complex64", False, False),
        ("V2", False, False),
        (np.dtype([("a", "f2")]), False, False),
        (ml_dtypes.float8_e4m3fn, False, False),
        (ml_dtypes.int4, False, False),
    ],
)
def test_floats_are_told_from_all_else(dtype, is_float, is_half):
    dtype = np.dtype(dtype)
    assert float_types.is_float(dtype) == is_float
    assert float_types.is_half(dtype) == is_half
    assert float_types.is_bfloat16(dtype) == (dtype == BFLOAT16)


@pytest.mark.parametrize(
    ("mode", "dtype"),
    [("float32", None), ("float64", None), ("tf32", None), ("mixed_bf16", BFLOAT16), ("mixed_fp16", np.float16)],
)
def test_a_mode_names_the_dtype_of_products_and_parameters_are_float32(mode, dtype):
    with using_config("dtype", mode):
        assert float_types.product_dtype() == (None if dtype is None else np.dtype(dtype))
        assert Parameter(1.0, (2,)).dtype == ("float64" if mode == "float64" else "float32")


def test_a_dtype_of_the_environment_is_used_and_a_wrong_one_is_named():
    code = (
        "import numpy as np, cvzoo, cvzoo.functions as F\n"
        "print(cvzoo.config.dtype, F.linear(np.ones((1, 2), 'f'), np.ones((1, 2), 'f')).dtype)"
    )
    for value, out, word in (("mixed_fp16", "mixed_fp16 float16\n", ""), ("half", "", "CVZOO_DTYPE")):
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={"CVZOO_DTYPE": value, "PYTHONPATH": ":".join(p for p in sys.path if p)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.stdout == out
        assert word in run.stderr


def test_a_wrong_dtype_is_refused_where_it_is_needed(monkeypatch):
    monkeypatch.setitem(switches.__dict__, "dtype", "half")
    with pytest.raises(ConfigError, match="mixed_bf16"):
        float_types.product_dtype()


def test_who_lacks_ml_dtypes_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    float_types.bfloat16.cache_clear()
    try:
        with using_config("dtype", "mixed_bf16"), pytest.raises(BackendError, match="pip install ml_dtypes"):
            float_types.product_dtype()
        with using_config("dtype", "mixed_fp16"):
            assert float_types.product_dtype() == np.float16
    finally:
        float_types.bfloat16.cache_clear()


def test_importing_cvzoo_does_not_import_ml_dtypes():
    code = "import sys, cvzoo, cvzoo.functions, cvzoo.links, cvzoo.training; print('ml_dtypes' in sys.modules)"
    env = {"PYTHONPATH": ":".join(p for p in sys.path if p)}
    run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_rounding_overflows_to_infinity_and_keeps_the_order_in_memory():
    x = np.array([[1e9, -1e9], [1.0, np.nan]], "f").T
    for dtype in (np.dtype("float16"), BFLOAT16):
        y = float_types.rounded(x, dtype)
        assert y.strides == (2, 4)
        np.testing.assert_array_equal(np.isfinite(y), [[dtype == BFLOAT16, True], [dtype == BFLOAT16, False]])
        assert float_types.rounded(y, dtype) is y
        assert float_types.widened(y).dtype == np.float32
    assert float_types.widened(x) is x


@pytest.mark.parametrize("dtype", ["float16", BFLOAT16], ids=str)
def test_variables_of_16_bits_have_gradients_and_are_shown_and_copied(dtype):
    x = Variable(np.array([1.5, 2.5], dtype))
    assert x.requires_grad
    y = x[0] * x[1]
    y.backward()
    assert x.grad.dtype == dtype
    np.testing.assert_array_equal(x.grad.astype("f"), [2.5, 1.5])
    assert "1.5" in repr(x)
    assert y.item() == 3.75
    assert not Variable(np.ones(2, "int32")).requires_grad


def test_numbers_of_16_bits_are_counted_and_looked_at():
    summary = DictSummary()
    summary.add({"loss": Variable(np.array(0.5, BFLOAT16)), "other": np.array(2.0, "float16")})
    assert summary.compute_mean() == {"loss": 0.5, "other": 2.0}
    bad = np.array([1, np.nan, np.inf], BFLOAT16)
    assert not all_finite(bad)
    assert all_finite(bad[:1])
    assert kind_of(bad) == "1 NaN and 1 infinite of 3 values"
    assert "from 1 to 1" in about(bad)
