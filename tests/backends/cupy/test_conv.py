"""Convolutions of a GPU against the reference ones, on a made-up GPU."""

import ml_dtypes
import numpy as np
import pytest

from cvzoo.backends.abstract import ELTWISE_KINDS
from cvzoo.backends.cupy import backend as cupy_backend
from cvzoo.backends.cupy import conv
from cvzoo.backends.numpy import backend as numpy_backend
from cvzoo.config.switches import using_config

REFERENCE, GPU = numpy_backend, cupy_backend
BF16 = np.dtype(ml_dtypes.bfloat16)
TOLERANCES = {"float32": 1e-5, "float64": 1e-13, "float16": 2e-3, "bfloat16": 1.6e-2}


@pytest.fixture(autouse=True)
def machine(fake_gpu):
    with fake_gpu() as machine:
        yield machine


def draw(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def on_gpu(*arrays):
    return [None if array is None else GPU.asarray(array) for array in arrays]


def assert_agree(got, reference, *, scale=None):
    lies = got.flags if reference.flags.c_contiguous else got.transpose(0, 2, 3, 1).flags
    assert lies.c_contiguous
    got = GPU.to_numpy(got)
    assert got.shape == reference.shape
    assert got.dtype == reference.dtype
    if reference.size:
        wide = reference.astype(np.float64)
        largest = scale if scale is not None else max(np.abs(wide).max(), 1e-30)
        tolerance = TOLERANCES[reference.dtype.name] * largest
        np.testing.assert_allclose(got.astype(np.float64), wide, rtol=0, atol=tolerance)


CONVS = [
    # batch, channels in and out, groups, size, window
    (2, 3, 8, 1, (9, 11), (3, 3)),
    (2, 16, 32, 1, (6, 7), (1, 1)),
    (1, 24, 33, 1, (7, 5), (3, 2)),
    (3, 8, 8, 8, (9, 8), (3, 3)),  # depthwise
    (2, 4, 8, 4, (9, 9), (3, 3)),  # depthwise, two outputs a channel
    (2, 12, 18, 3, (8, 9), (3, 3)),  # groups
    (2, 12, 18, 3, (8, 9), (1, 1)),
    (1, 1, 1, 1, (5, 5), (5, 5)),
    (2, 6, 4, 1, (1, 6), (1, 3)),
    (0, 4, 4, 1, (6, 6), (3, 3)),
]
GEOMETRIES = [
    # stride, pad, dilate
    ((1, 1), (0, 0, 0, 0), (1, 1)),
    ((1, 1), (1, 1, 1, 1), (1, 1)),
    ((2, 2), (1, 1, 1, 1), (1, 1)),
    ((2, 3), (2, 0, 1, 2), (1, 1)),
    ((1, 1), (2, 2, 2, 2), (2, 2)),
    ((1, 2), (0, -1, 0, -2), (1, 1)),
    ((2, 2), (1, 4, 1, 4), (1, 1)),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, BF16], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("case", CONVS, ids=str)
def test_convolutions_agree(case, dtype):
    b, c, o, groups, size, ksize = case
    for stride, pad, dilate in GEOMETRIES:
        rows = [size[k] + pad[2 * k] + pad[2 * k + 1] - dilate[k] * (ksize[k] - 1) - 1 for k in (0, 1)]
        if min(rows) < 0:
            continue
        x, w, bias = draw(b, c, *size, dtype=dtype), draw(o, c // groups, *ksize, dtype=dtype), draw(o, dtype=dtype)
        how = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
        y = REFERENCE.conv_2d(x, w, bias, **how)
        dx, dw, db = on_gpu(x, w, bias)
        assert_agree(GPU.conv_2d(dx, dw, db, **how), y)
        gy, more = draw(*y.shape, seed=1, dtype=dtype), draw(*x.shape, seed=2, dtype=dtype)
        dgy, dmore = on_gpu(gy, more)
        for add, dadd in ((None, None), (more, dmore)):
            gx = REFERENCE.conv_2d_input_grad(gy, w, size, add=add, **how)
            assert_agree(GPU.conv_2d_input_grad(dgy, dw, size, add=dadd, **how), gx)
        gw = REFERENCE.conv_2d_weight_grad(x, gy, ksize, **how)
        wide = x.astype(np.float64), gy.astype(np.float64)
        norm = np.sqrt((wide[0] ** 2).sum() * (wide[1] ** 2).sum())  # a gradient of a few numbers may nearly cancel
        assert_agree(GPU.conv_2d_weight_grad(dx, dgy, ksize, **how), gw, scale=max(norm / 10, 1e-30))


ORDERS = {
    "c_order": lambda x: x,
    "flipped": lambda x: x[:, ::-1, ::-1].copy()[:, ::-1, ::-1],
    "a part": lambda x: np.concatenate([x, x, x], axis=3)[:, :, :, : x.shape[3]],
    "channels of more": lambda x: (
        np.concatenate([x, x], axis=1).transpose(0, 2, 3, 1).copy().transpose(0, 3, 1, 2)[:, : x.shape[1]]
    ),
    "one repeated": lambda x: np.broadcast_to(x[:, :, :1, :1], x.shape),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("ksize", [(1, 1), (3, 3)], ids=str)
def test_convolutions_take_any_order_of_memory(order, ksize):
    pad = (ksize[0] // 2,) * 4
    how = {"stride": (1, 1), "pad": pad, "dilate": (1, 1), "groups": 1}
    x, w, gy = draw(2, 16, 7, 6), draw(8, 16, *ksize), draw(2, 8, 7, 6)
    x, gy = ORDERS[order](x), ORDERS[order](gy)
    xp = GPU.xp
    # lies on the GPU as it lies here
    dx, dgy = (
        xp.ndarray(a.shape, a.dtype, xp.asarray(memory).data + offset, a.strides)
        for a, memory, offset in (in_memory(x), in_memory(gy))
    )
    (dw,) = on_gpu(w)
    np.testing.assert_array_equal(dx.get(), x)
    assert_agree(GPU.conv_2d(dx, dw, None, **how), REFERENCE.conv_2d(x, w, None, **how))
    assert_agree(GPU.conv_2d_input_grad(dgy, dw, (7, 6), **how), REFERENCE.conv_2d_input_grad(gy, w, (7, 6), **how))
    assert_agree(GPU.conv_2d_weight_grad(dx, dgy, ksize, **how), REFERENCE.conv_2d_weight_grad(x, gy, ksize, **how))
    np.testing.assert_array_equal(dx.get(), x)


def in_memory(x):
    """The array, all of its memory as bytes, and how far behind its begin the first element lies."""
    base = x
    while base.base is not None:
        base = base.base
    whole = np.frombuffer(base.tobytes(order="A"), np.uint8)
    return x, whole, x.__array_interface__["data"][0] - base.__array_interface__["data"][0]


@pytest.mark.parametrize("activation", [None, *ELTWISE_KINDS])
def test_a_convolution_adds_and_activates_in_that_order(activation):
    x, w, b, add = draw(2, 8, 5, 5), draw(16, 8, 3, 3), draw(16), draw(2, 16, 5, 5)
    alpha, beta = (0.5, 2.0) if activation != "clip" else (-0.5, 0.5)
    how = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}
    how |= {"activation": activation, "alpha": alpha, "beta": beta}
    if activation in ("log", "sqrt"):
        x, w, b, add = np.abs(x), np.abs(w), np.abs(b), np.abs(add)
    if activation == "exp":
        w = w / 10
    dx, dw, db, dadd = on_gpu(x, w, b, add)
    assert_agree(GPU.conv_2d(dx, dw, db, add=dadd, **how), REFERENCE.conv_2d(x, w, b, add=add, **how))
    np.testing.assert_array_equal(dadd.get(), add)


def test_bias_sum_and_activation_are_one_launch(machine):
    x, w, b, add = on_gpu(draw(2, 8, 5, 5), draw(16, 8, 1, 1), draw(16), draw(2, 16, 5, 5))
    x, add = GPU.channels_last(x), GPU.channels_last(add)
    how = {"stride": (1, 1), "pad": (0, 0, 0, 0), "dilate": (1, 1), "groups": 1}
    GPU.conv_2d(x, w, b, add=add, activation="relu", pack={}, **how)
    machine.recorder.clear()
    pack = {}
    GPU.conv_2d(x, w, b, add=add, activation="relu", pack=pack, **how)
    first = machine.recorder.counts()["launch"]
    machine.recorder.clear()
    GPU.conv_2d(x, w, b, add=add, activation="relu", pack=pack, **how)
    assert machine.recorder.counts()["launch"] == 2 <= first
    assert not machine.recorder.of("sync", "d2h", "h2d")


def test_reordered_filters_are_kept_where_the_owner_says():
    x, w = on_gpu(draw(2, 8, 5, 5), draw(8, 8, 3, 3))
    how = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}
    pack = {}
    first = GPU.conv_2d(x, w, None, pack=pack, **how).get()
    assert len(pack) == 1
    w.fill(0)  # the owner has not emptied `pack`: the kept copy is what counts
    np.testing.assert_array_equal(GPU.conv_2d(x, w, None, pack=pack, **how).get(), first)
    pack.clear()
    assert not GPU.conv_2d(x, w, None, pack=pack, **how).get().any()


@pytest.mark.parametrize("groups", [1, 2])
def test_pieces_give_what_the_whole_gives(monkeypatch, groups):
    x, w, gy = draw(3, 8, 9, 8), draw(6, 8 // groups, 3, 3), draw(3, 6, 9, 8)
    how = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": groups}
    dx, dw, dgy = on_gpu(x, w, gy)

    def all_of_them():
        return (
            GPU.conv_2d(dx, dw, None, **how).get(),
            GPU.conv_2d_input_grad(dgy, dw, (9, 8), **how).get(),
            GPU.conv_2d_weight_grad(dx, dgy, (3, 3), **how).get(),
        )

    whole = all_of_them()
    for limit in (1, 9 * 8 * 4 * 7, 9 * 8 * 4 * 100):
        monkeypatch.setattr(conv, "LIMIT", limit)
        for a, b in zip(all_of_them(), whole):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * np.abs(b).max())


def test_whole_numbers_are_convolved_exactly():
    x, w = np.arange(2 * 3 * 4 * 4).reshape(2, 3, 4, 4), np.arange(2 * 3 * 2 * 2).reshape(2, 3, 2, 2) - 11
    how = {"stride": (1, 1), "pad": (1, 0, 0, 1), "dilate": (1, 1), "groups": 1}
    for dtype in (np.int32, np.int64):
        a, b = x.astype(dtype), w.astype(dtype)
        got = GPU.conv_2d(*on_gpu(a, b), None, **how)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got.get(), REFERENCE.conv_2d(a, b, None, **how))


def test_float32_is_cut_to_fewer_bits_only_when_asked(machine):
    x, w = on_gpu(draw(2, 16, 5, 5), draw(8, 16, 3, 3))
    how = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}
    exact = GPU.conv_2d(x, w, None, **how).get()
    assert machine.cublas.calls[-1][-1] == 68
    with using_config("dtype", "tf32"):
        rough = GPU.conv_2d(x, w, None, **how).get()
    assert machine.cublas.calls[-1][-1] == 77
    assert 1e-6 < np.abs(rough - exact).max() / np.abs(exact).max() < 3e-3


def test_gradients_of_columns_of_16_bits_are_summed_before_they_are_rounded():
    gy, w = np.ones((1, 1, 8, 8), np.float16), np.full((1, 1, 7, 7), 0.1, np.float16)
    how = {"stride": (1, 1), "pad": (3, 3, 3, 3), "dilate": (1, 1), "groups": 1}
    got = GPU.conv_2d_input_grad(*on_gpu(gy, w), (8, 8), **how).get()
    wide = REFERENCE.conv_2d_input_grad(gy.astype(np.float64), w.astype(np.float64), (8, 8), **how)
    np.testing.assert_array_equal(got, wide.astype(np.float16))


def test_channel_sums_agree():
    for shape in ((4, 7, 9, 8), (5, 3), (2, 3, 4), (0, 3, 4, 4)):
        x = draw(*shape)
        np.testing.assert_allclose(GPU.channel_sum(*on_gpu(x)).get(), REFERENCE.channel_sum(x), rtol=1e-5, atol=1e-5)
