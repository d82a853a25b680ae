"""Kernels of 16-bit floats on the CPU: float32's, rounded once, and nothing else."""

import numpy as np
import pytest

from cvzoo.backends.dispatch import get_backend
from cvzoo.backends.float_types import in_float32
from cvzoo.errors.exceptions import BackendError

ml_dtypes = pytest.importorskip("ml_dtypes")
DTYPES = [np.dtype("float16"), np.dtype(ml_dtypes.bfloat16)]
WINDOW = {"stride": (2, 1), "pad": (1, 1, 0, 1), "dilate": (1, 1), "groups": 2}
POOL = {"ksize": (3, 2), "stride": (2, 2), "pad": (1, 0, 0, 1)}
MAP = (2, 4, 7, 6)


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("f")


@pytest.fixture(params=["numpy", "onednn"])
def kernels(request):
    try:
        return get_backend(request.param)
    except BackendError as error:
        pytest.skip(str(error))


def _cases(k):
    """name: (the kernel of 16-bit arrays, its 16-bit arrays); what has float32 beside them is given here."""
    x, w, rows = draw(*MAP), draw(6, 2, 3, 2), draw(5, 8)
    y = k.conv_2d(x, w, None, **WINDOW)
    gamma, beta, mean, var = draw(4), draw(4), draw(4), draw(4) ** 2 + 1
    _, kept = k.max_pool_2d(x, keep=True, **POOL)
    pooled = k.average_pool_2d(x, count_pad=False, **POOL)
    return {
        "conv_2d": (
            lambda x, w, b, add: k.conv_2d(x, w, b, add=add, activation="relu", **WINDOW),
            (x, w, draw(6), draw(*y.shape)),
        ),
        "conv_2d_input_grad": (
            lambda gy, w, add: k.conv_2d_input_grad(gy, w, MAP[2:], add=add, **WINDOW),
            (draw(*y.shape), w, draw(*MAP)),
        ),
        "conv_2d_weight_grad": (lambda x, gy: k.conv_2d_weight_grad(x, gy, (3, 2), **WINDOW), (x, draw(*y.shape))),
        "channel_sum": (k.channel_sum, (x,)),
        "matmul": (lambda a, b, c: k.matmul(a, b, scale=0.3, add=c), (rows, draw(8, 3), draw(5, 3))),
        "linear": (k.linear, (rows, draw(3, 8), draw(3))),
        "quantize": (lambda x: k.quantize(x, scale=0.02, signed=True), (x,)),
        "max_pool_2d": (lambda x: k.max_pool_2d(x, keep=False, **POOL)[0], (x,)),
        "max_pool_2d_grad": (lambda gy: k.max_pool_2d_grad(gy, kept, MAP, **POOL), (draw(*pooled.shape),)),
        "max_pool_2d_indices": (lambda x: k.max_pool_2d_indices(x, **POOL), (x,)),
        "average_pool_2d": (lambda x: k.average_pool_2d(x, count_pad=False, **POOL), (x,)),
        "average_pool_2d_grad": (
            lambda gy: k.average_pool_2d_grad(gy, MAP, count_pad=True, **POOL),
            (draw(*pooled.shape),),
        ),
        "batch_norm_train": (lambda x: k.batch_norm_train(x, gamma, beta, eps=1e-3), (x,)),
        "batch_norm_fixed": (lambda x: k.batch_norm_fixed(x, gamma, beta, mean, var, eps=1e-3), (x,)),
        "batch_norm_grad": (
            lambda gy, x: k.batch_norm_grad(gy, x, gamma, mean, var, eps=1e-3),
            (draw(*MAP, seed=2), x),
        ),
        "batch_norm_relu_train": (lambda x: k.batch_norm_relu_train(x, gamma, beta, eps=1e-3)[:3], (x,)),
        "batch_norm_relu_fixed": (lambda x: k.batch_norm_relu_fixed(x, gamma, beta, mean, var, eps=1e-3), (x,)),
        "layer_norm": (lambda x: k.layer_norm(x, draw(8), draw(8), eps=1e-3), (rows,)),
        "layer_norm_grad": (
            lambda gy, x: k.layer_norm_grad(gy, x, draw(8), draw(5), draw(5) ** 2, eps=1e-3),
            (draw(5, 8, seed=2), rows),
        ),
        "local_response_norm": (lambda x: k.local_response_norm(x, n=3, k=2, alpha=0.1, beta=0.7), (x,)),
        "local_response_norm_grad": (
            lambda gy, x: k.local_response_norm_grad(gy, x, n=3, k=2, alpha=0.1, beta=0.7),
            (draw(*MAP, seed=2), x),
        ),
        "eltwise": (lambda x: k.eltwise("gelu_erf", x), (x,)),
        "eltwise_grad": (lambda gy, x: k.eltwise_grad("swish", gy, x, alpha=1.0), (draw(*MAP, seed=2), x)),
        "eltwise_grad_from_output": (
            lambda gy, y: k.eltwise_grad_from_output("tanh", gy, y),
            (draw(*MAP, seed=2), np.tanh(x)),
        ),
        "chain": (
            lambda x, other: k.chain(x, (("add",), ("swish", 1.0, 0.0), ("multiply",)), [other, other]),
            (x, draw(*MAP, seed=2)),
        ),
        "add": (k.add, (x, draw(4, 1, 1))),
        "add_relu": (k.add_relu, (x, draw(*MAP, seed=2))),
        "multiply": (k.multiply, (x, draw(*MAP, seed=2))),
        "softmax": (lambda x: k.softmax(x, axis=1), (x,)),
        "softmax_grad": (lambda gy, y: k.softmax_grad(gy, y, axis=1), (draw(*MAP, seed=2), k.softmax(x, axis=1))),
        "log_softmax": (lambda x: k.log_softmax(x, axis=1), (x,)),
        "log_softmax_grad": (
            lambda gy, y: k.log_softmax_grad(gy, y, axis=1),
            (draw(*MAP, seed=2), k.log_softmax(x, axis=1)),
        ),
        "concat": (lambda a, b: k.concat([a, b], axis=1), (x, draw(*MAP, seed=2))),
        "resize_2d": (
            lambda x: k.resize_2d(x, (5, 9), mode="bilinear", align_corners=False, antialias=True),
            (x,),
        ),
        "resize_2d_grad": (
            lambda gy: k.resize_2d_grad(gy, (5, 9), mode="bilinear", align_corners=True, antialias=False),
            (x,),
        ),
    }


STAY_FLOAT32 = {"channel_sum"}
COUNTS = {"quantize", "max_pool_2d_indices"}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", _cases(get_backend("numpy")))
def test_sixteen_bits_are_float32_rounded_once(kernels, name, dtype):
    kernel, arrays = _cases(kernels)[name]
    narrow = [x.astype(dtype, order="K") for x in arrays]
    got, wanted = kernel(*narrow), kernel(*[x.astype("f", order="K") for x in narrow])
    pairs = list(zip(got, wanted)) if isinstance(got, tuple) else [(got, wanted)]
    for i, (a, b) in enumerate(pairs):
        if name in COUNTS:
            assert a.dtype.kind in "iu"
        elif i or name in STAY_FLOAT32:
            assert a.dtype == np.float32
        else:
            assert a.dtype == dtype
            b = b.astype(dtype)
        assert a.strides == b.strides
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_normalization_and_its_addend_have_gradients_of_sixteen_bits(kernels, dtype):
    x, add, gy = [draw(*MAP, seed=k).astype(dtype) for k in range(3)]
    gamma, beta = draw(MAP[1]), draw(MAP[1], seed=1)
    results = {}
    for width in (dtype, "f"):
        wide_x, wide_add, wide_gy = [each.astype(width) for each in (x, add, gy)]
        y, mean, var, mask = kernels.batch_norm_relu_train(wide_x, gamma, beta, eps=1e-3, add=wide_add)
        grads = kernels.batch_norm_relu_grad(wide_gy, wide_x, gamma, mean, var, mask, eps=1e-3, adds=True)
        results[width] = y, mean, var, *grads
    for i, (narrow, wide) in enumerate(zip(results[dtype], results["f"], strict=True)):
        assert narrow.dtype == (dtype if i in (0, 3, 6) else np.float32)
        np.testing.assert_array_equal(narrow, wide.astype(narrow.dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sums_are_written_where_they_shall_go(kernels, dtype):
    a, b = draw(3, 4).astype(dtype), draw(3, 4, seed=1).astype(dtype)
    wanted = (a.astype("f") + b.astype("f")).astype(dtype)
    assert kernels.add(a, b, out=a) is a
    np.testing.assert_array_equal(a, wanted)


def test_what_float16_cannot_hold_becomes_infinite_without_a_warning(kernels):
    x = np.full((2, 3), 300, "float16")
    np.testing.assert_array_equal(kernels.multiply(x, x), np.full((2, 3), np.inf, "float16"))


def test_products_of_many_numbers_are_summed_in_float32(kernels):
    x = np.ones((1, 5000), "float16")  # float16 counts in steps of 4 above 4096, of 2 above 2048
    assert kernels.linear(x, x, None)[0, 0] == 5000
    assert kernels.channel_sum(np.full((300, 1, 300), 1, "float16"))[0] == 90000


def test_other_dtypes_are_passed_through_untouched():
    seen = []
    kernel = in_float32(lambda x, *, scale: seen.append((x, scale)))
    x = np.ones(3, "float64")
    kernel(x, scale=x)
    assert seen[0][0] is x
    assert seen[0][1] is x
