"""Kernels written from expressions: any broadcasting, order and alignment, one launch, and every GPU can have them."""

import itertools

import numpy as np
import pytest
from cuda_compilers import ONE_OF_ARCHITECTURES, ptxas_report, spills
from on_device import assert_near, put

from cvzoo.backends.cuda import arithmetic, loss
from cvzoo.backends.cuda.elementwise import elementwise, module_of
from cvzoo.backends.cuda.elementwise_source import (
    FUNCTIONS,
    SLOPES,
    SLOPES_FROM_OUTPUT,
    VALUES,
    ElementwiseKernel,
    kernel_source,
    kind_body,
)
from cvzoo.backends.cupy import eltwise, quantized
from cvzoo.backends.gpu_kernels import common_source

ml_dtypes = pytest.importorskip("ml_dtypes")
LAYOUTS = [("packed",) * 3, ("packed", "packed", "one")]
BODY = "y = x0 * n0 - x1;"
OTHERS = [(2, 8, 3, 5), (8, 1, 1), (2, 8, 1, 1), (1, 1, 3, 5), (2, 1, 3, 1), (5,), (1,), ()]


@pytest.fixture
def gpu(fake_gpu):
    with fake_gpu() as machine:
        yield machine


def draw(*shape, dtype="float32"):
    return np.asarray(np.random.default_rng(len(shape)).standard_normal(shape)).astype(dtype)


def channels_last(x):
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)


@pytest.mark.parametrize("order", ["row-major", "channels-last"])
@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_arrays_broadcast_and_the_order_of_the_larger_stays(gpu, order, other):
    a, b = draw(2, 8, 3, 5), draw(*other)
    if order == "channels-last":
        a = channels_last(a)
    there = put(gpu.cupy, a), put(gpu.cupy, b)
    y = elementwise("f", BODY, there, numbers=(2.0,))
    assert_near(y, 2 * a - b, 1e-6)
    assert y.strides == a.strides
    y = elementwise("f", "y = x1 * n0 - x0;", there[::-1], numbers=(2.0,))
    assert_near(y, 2 * a - b, 1e-6)


def test_sliced_flipped_repeated_and_misaligned_arrays(gpu):
    cp = gpu.cupy
    x = draw(4, 9, 10)
    on_device = put(cp, x)
    views = [
        lambda v: v[:, 1:8:3],
        lambda v: v[::-1, :, ::-1],
        lambda v: v[:, :, 1:9],
        lambda v: v.transpose(2, 0, 1),
        lambda v: v.reshape(-1)[1:],  # starts 4 bytes behind a multiple of 16
        lambda v: v[:, :1],
    ]
    for view in views:
        y = elementwise("f", "y = x0 + n0;", (view(on_device),), numbers=(1,))
        assert_near(y, view(x) + 1, 1e-6)
    wide = cp.broadcast_to(on_device[:1], x.shape)
    assert_near(elementwise("f", BODY, (wide, on_device), numbers=(1,)), x[:1] - x, 1e-6)


@pytest.mark.parametrize("size", [1, 3, 4, 255, 1023, 1024, 1025, 4097])
def test_the_last_elements_are_not_forgotten(gpu, size):
    for dtype in ("float32", "float16", "float64"):
        x = draw(size, dtype=dtype)
        y = elementwise("f", "y = x0 + n0;", (put(gpu.cupy, x),), numbers=(1,))
        assert_near(y, x + np.asarray(1, dtype), 1e-3)


def test_nothing_is_launched_for_nothing(gpu):
    y = elementwise("f", BODY, (gpu.cupy.empty((0, 3)), gpu.cupy.empty((1, 3))), numbers=(1,))
    assert y.shape == (0, 3)
    assert not gpu.recorder.counts()["launch"]


def test_the_result_may_be_written_over_an_input(gpu):
    a, b = draw(3, 7), draw(7)
    y = put(gpu.cupy, a)
    assert elementwise("f", BODY, (y, put(gpu.cupy, b)), numbers=(3,), out=y) is y
    assert_near(y, 3 * a - b, 1e-6)
    part = put(gpu.cupy, a)
    elementwise("f", "y = x0 * n0;", (part[:, ::2],), numbers=(2,), out=part[:, ::2])
    a[:, ::2] *= 2
    assert_near(part, a, 1e-6)


def test_dtypes_meet_as_numpys_do_and_16_bits_stay(gpu):
    cp, bf16 = gpu.cupy, ml_dtypes.bfloat16
    for a, b in [("float32", "float64"), (bf16, "float32"), ("float32", bf16), ("float16", "float64"), (bf16, bf16)]:
        x, y = draw(4, 6, dtype=a), draw(6, dtype=b)
        got = elementwise("f", "y = x0 + x1;", (put(cp, x), put(cp, y)))
        wanted = np.dtype(a) if np.dtype(a).itemsize == 2 else np.result_type(x, y)
        assert got.dtype == wanted
        exact = x.astype("float64") + y.astype("float64")
        np.testing.assert_allclose(got.get().astype("float64"), exact, rtol=1e-2, atol=1e-2)


def test_integers_and_truth_values_may_take_part(gpu):
    x, t, valid = draw(5, 3), np.arange(15).reshape(5, 3) - 7, np.arange(15).reshape(5, 3) % 2 == 0
    for dtype in ("int8", "int64"):
        kept = t.astype(dtype)
        arrays = [put(gpu.cupy, each) for each in (x, kept, valid)]
        y = elementwise("f", "y = x2 ? x0 * T(x1) : T(0);", arrays, dtype="float32")
        assert_near(y, np.where(valid, x * kept, 0).astype("float32"), 1e-6)


def test_another_layout_needs_no_other_kernel(gpu):
    for shape in [(4, 8), (2, 16, 5), (64,)]:
        elementwise("g", "y = x0 + n0;", (put(gpu.cupy, draw(*shape)),), numbers=(1,))
    assert len({entry.name for entry in gpu.recorder.of("launch")}) == 1


def _all_kinds(dtypes, widths, layouts):
    """Kernels of every kind, its derivative and its derivative from the output, whose names tell them apart."""
    tables = {"value": VALUES, "slope": SLOPES, "from_output": SLOPES_FROM_OUTPUT}
    for (table, kinds), dtype, width, steps in itertools.product(tables.items(), dtypes, widths, layouts):
        for kind, expression in kinds.items():
            yield ElementwiseKernel(
                name=f"each_{kind}_{table}_{dtype}_{width}_{steps[-1]}",
                body=kind_body(expression, "x0", "y", "n0", "n1") + " y = y * x1;",
                inputs=(dtype, dtype),
                output=dtype,
                steps=steps,
                n_axis=1 if steps[-1] == "packed" else 3,
                n_number=2,
                width=width,
                wide_index=False,
                double=dtype == "float64",
            )


def _whole(kernels):
    return common_source() + FUNCTIONS + "\n".join([kernel_source(kernel) for kernel in kernels])


F32 = ("float32", "float32")
OTHER_BODIES = [
    # statements, dtypes of the inputs, dtype of the result
    *[(body, F32, "float32") for body in arithmetic._PAIRS.values()],
    *[(body, ("float32",), "float32") for body in arithmetic._CONSTANTS.values()],
    *[(body, F32, "float32") for body in (eltwise._ADD, eltwise._ADD_RELU, eltwise._MULTIPLY)],
    (loss._SIGMOID_FOCAL, ("float32", "int64"), "float32"),
    (loss._SIGMOID_FOCAL_GRAD, ("float64", "int8", "float64"), "float64"),
    (loss._SIGMOID, F32, "float32"),
    (loss._SIGMOID_WHERE, (*F32, "bool"), "float32"),
    (loss._PROBABILITIES, ("float64",), "float32"),
    (loss._LABELS, ("uint8",), "float32"),
    (loss._HUBER, ("float32",), "float32"),
    (quantized._BODY.format("i8"), ("float32",), "int8"),
    (quantized._BODY.format("u8"), ("float32",), "uint8"),
]


def _other(i, body, inputs, output, *, n_axis=1, wide_index=False, width=1):
    return ElementwiseKernel(
        name=f"each_{i}_{n_axis}_{width}",
        body=body,
        inputs=inputs,
        output=output,
        steps=("packed",) * (len(inputs) + 1),
        n_axis=n_axis,
        n_number=4,
        width=width,
        wide_index=wide_index,
        double="float64" in (*inputs, output),
    )


def test_all_other_statements_compile_for_hopper_without_spilling(tmp_path):
    kernels = [_other(i, *row) for i, row in enumerate(OTHER_BODIES)]
    kernels += [_other(i, *row, n_axis=3, wide_index=True, width=4) for i, row in enumerate(OTHER_BODIES)]
    assert spills(ptxas_report(_whole(kernels), 90, tmp_path)) == []


def test_indices_of_64_bits(gpu):
    x = draw(3, 5, 4)
    y = gpu.cupy.empty((3, 5, 4), "float32")
    kernel = _other(0, "y = x0 * n0;", ("float32",), "float32", n_axis=3, wide_index=True, width=4)
    numbers = [np.float32(n) for n in (2, 0, 0, 0)]
    strides = [np.int64(n) for n in (20, 4, 1)]
    sizes = (np.int64(60), np.int64(5), np.int64(4))
    module_of(kernel).launch(kernel.name, (1, 1, 1), (32, 1, 1), (y, put(gpu.cupy, x), *sizes, *strides * 2, *numbers))
    assert_near(y, 2 * x, 1e-6)


def test_every_kind_compiles_for_hopper_without_spilling(tmp_path):
    assert spills(ptxas_report(_whole(_all_kinds(["bfloat16"], [8], LAYOUTS[1:])), 90, tmp_path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ONE_OF_ARCHITECTURES)
@pytest.mark.parametrize(("dtype", "width"), [("float32", 4), ("float64", 2), ("float16", 8), ("bfloat16", 8)])
def test_every_kind_compiles_for_every_architecture_without_spilling(architecture, dtype, width, tmp_path):
    assert spills(ptxas_report(_whole(_all_kinds([dtype], [1, width], LAYOUTS)), architecture, tmp_path)) == []
