"""Convolution channel by channel against NumPy in float64; windows with kernels of their own are compiled."""

import numpy as np
import pytest
from cuda_compilers import ptxas_report, spills
from kernel_proofs import FLOATS, assert_near, draw, run_in_every_order, wide

from cvzoo.backends.cuda.depthwise import (
    depthwise_conv_2d,
    depthwise_input_grad,
    depthwise_weight_grad,
    is_depthwise,
    strip_kernels,
)
from cvzoo.backends.numpy import conv as reference
from cvzoo.backends.numpy.windows import out_size

CASES = {
    # batch, channels, size, outputs a channel, ksize, stride, pad, dilate
    "3 x 3": (2, 16, (9, 11), 1, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
    "3 x 3, stride 2": (1, 8, (9, 10), 1, (3, 3), (2, 2), (1, 0, 0, 1), (1, 1)),
    "5 x 5, odd channels": (2, 5, (8, 8), 1, (5, 5), (1, 1), (2, 2, 2, 2), (1, 1)),
    "5 x 5, stride 2": (1, 72, (9, 9), 1, (5, 5), (2, 2), (2, 2, 2, 2), (1, 1)),
    "7 x 7, odd channels": (1, 3, (9, 9), 1, (7, 7), (1, 1), (3, 3, 3, 3), (1, 1)),
    "7 x 7, stride 2": (1, 8, (12, 12), 1, (7, 7), (2, 2), (3, 2, 3, 2), (1, 1)),
    "two outputs": (2, 4, (7, 7), 2, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
    "three outputs, dilated": (1, 3, (7, 7), 3, (3, 3), (2, 2), (1, 1, 1, 1), (2, 1)),
    "dilated": (1, 16, (9, 9), 1, (3, 3), (1, 1), (2, 2, 2, 2), (2, 2)),
    "oblong": (1, 8, (9, 9), 1, (2, 9), (1, 2), (0, 1, 4, 4), (1, 1)),
    "one pixel": (1, 8, (4, 4), 1, (1, 1), (1, 1), (0, 0, 0, 0), (1, 1)),
    "much padding": (1, 8, (6, 6), 1, (3, 3), (1, 1), (4, 4, 4, 4), (1, 1)),
    "last pixels left out": (1, 8, (8, 8), 1, (3, 3), (2, 2), (0, -1, 0, -1), (1, 1)),
    "no photos": (0, 4, (5, 5), 1, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
}


@pytest.fixture
def machine(fake_gpu):
    with fake_gpu() as machine:
        yield machine


def arrays(case, dtype):
    b, c, size, multiplier, ksize, stride, pad, dilate = CASES[case]
    given = {"stride": stride, "pad": pad, "dilate": dilate}
    x = draw((b, c, *size), dtype)
    w = (draw((c * multiplier, 1, *ksize), np.float64) / 3).astype(dtype)
    y_size = out_size(size, ksize, stride, pad, dilate)
    return x, w, draw((b, c * multiplier, *y_size), dtype, seed=1), given


ACTIVATIONS = [
    (None, 0.0, 0.0),
    ("relu", 0.0, 0.0),
    ("leaky_relu", 0.1, 0.0),
    ("clip", 0.0, 0.7),
    ("swish", 1.0, 0.0),
    ("hard_swish", 1 / 6, 0.5),
    ("sigmoid", 0.0, 0.0),
    ("tanh", 0.0, 0.0),  # by a kernel of its own
]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_forward_is_numpys(machine, case, dtype):
    x, w, add, given = arrays(case, dtype)
    b = draw(w.shape[:1], dtype)
    for number, (activation, alpha, beta) in enumerate(ACTIVATIONS):
        behind = {"activation": activation, "alpha": alpha, "beta": beta}
        more = (b if number % 3 else None, add if number % 2 else None)
        (y,) = run_in_every_order(
            machine,
            lambda x, w, b, add, behind=behind: depthwise_conv_2d(x, w, b, add=add, **given, **behind),
            x,
            w,
            *more,
        )
        wanted = reference.conv_2d(
            wide(x), wide(w), wide(more[0]), add=wide(more[1]), groups=x.shape[1], **given, **behind
        )
        assert_near(y, wanted, dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_the_gradient_of_the_photos_is_numpys(machine, case, dtype):
    x, w, gy, given = arrays(case, dtype)
    for add in (None, x):
        (gx,) = run_in_every_order(
            machine,
            lambda gy, w, add: depthwise_input_grad(gy, w, x.shape[2:], groups=x.shape[1], add=add, **given),
            gy,
            w,
            add,
        )
        wanted = reference.conv_2d_input_grad(wide(gy), wide(w), x.shape[2:], groups=x.shape[1], add=wide(add), **given)
        assert_near(gx, wanted, dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_the_gradient_of_the_filters_is_numpys(machine, case, dtype):
    x, w, gy, given = arrays(case, dtype)
    (gw,) = run_in_every_order(machine, lambda *a: depthwise_weight_grad(*a, w.shape[2:], **given), x, gy)
    wanted = reference.conv_2d_weight_grad(wide(x), wide(gy), w.shape[2:], groups=x.shape[1], **given)
    assert gw.flags.c_contiguous
    assert_near(gw, wanted, dtype)


def test_a_large_photo_has_several_blocks_of_sums(machine):
    x, gy = draw((1, 8, 60, 60), np.float32), draw((1, 8, 60, 60), np.float32, seed=1)
    given = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1)}
    (gw,) = run_in_every_order(machine, lambda *a: depthwise_weight_grad(*a, (3, 3), **given), x, gy)
    wanted = reference.conv_2d_weight_grad(wide(x), wide(gy), (3, 3), groups=8, **given)
    assert_near(gw, wanted, np.float32)


def test_filters_are_reordered_once_for_who_keeps_a_pack(machine):
    xp, pack = machine.cupy, {}
    x, w = xp.ones((1, 4, 4, 8), "float32").transpose(0, 3, 1, 2), xp.ones((8, 1, 3, 3), "float32")
    given = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "pack": pack}
    depthwise_conv_2d(x, w, None, **given)
    (kept,) = pack.values()
    machine.recorder.clear()
    depthwise_conv_2d(x, w, None, **given)
    assert [entry.name for entry in machine.recorder if entry.kind == "launch"] == ["depthwise_strip_f32"]
    assert next(iter(pack.values())) is kept


@pytest.mark.parametrize(
    ("channels", "w_shape", "groups", "wanted"),
    [
        (8, (8, 1, 3, 3), 8, True),
        (8, (16, 1, 3, 3), 8, True),
        (8, (8, 2, 3, 3), 4, False),
        (1, (32, 1, 5, 5), 1, False),
    ],
)
def test_which_convolutions_go_channel_by_channel(channels, w_shape, groups, wanted):
    x = np.zeros(1, np.float32)
    assert is_depthwise(channels, w_shape, groups, x, x) is wanted
    assert not is_depthwise(channels, w_shape, groups, x, np.zeros(1, np.float64))
    assert not is_depthwise(channels, w_shape, groups, np.zeros(1, np.int8))


@pytest.mark.slow
@pytest.mark.parametrize("architecture", [75, 90, 120])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [3, 5, 7])
def test_every_window_with_a_kernel_of_its_own_compiles_without_spilling(size, stride, architecture, tmp_path):
    assert spills(ptxas_report(strip_kernels(size, stride).source(), architecture, tmp_path)) == []
