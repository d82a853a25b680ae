"""Which convolutions Winograd's algorithm computes: some of inference, by a rule on shapes."""

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
from cvzoo import links as L
from cvzoo.backends.native.library import why_no_native
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.backends.onednn.winograd import suits_winograd
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import ConfigError

REASON = why_no_native() or why_no_onednn()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))

WINDOW = (1, 1), (1, 1, 1, 1), (1, 1), 1


@pytest.fixture
def layer():
    np.random.seed(0)
    return L.Convolution2D(32, 48, 3, pad=1)


@pytest.fixture
def x():
    return np.random.default_rng(0).standard_normal((2, 32, 19, 18), np.float32)


def infer(link, x, winograd="auto"):
    with cvzoo.using_config("train", False), cvzoo.no_backprop_mode(), cvzoo.using_config("winograd", winograd):
        return link(x).array


def transformed(layer):
    with cvzoo.no_backprop_mode():
        return [name for name in layer.W.packs() if isinstance(name, str)]


@pytest.mark.parametrize(
    ("x_shape", "w_shape", "window", "suits"),
    [
        ((1, 64, 16, 16), (64, 64, 3, 3), WINDOW, True),
        ((9, 64, 16, 16), (64, 64, 3, 3), WINDOW, True),
        ((1, 64, 7, 9), (64, 64, 3, 3), WINDOW, True),
        ((1, 64, 6, 6), (64, 64, 3, 3), WINDOW, True),
        ((1, 64, 5, 7), (64, 64, 3, 3), WINDOW, False),
        ((64, 64, 5, 7), (64, 64, 3, 3), WINDOW, False),  # the batch does not count
        ((1, 40, 16, 16), (64, 40, 3, 3), WINDOW, False),
        ((1, 64, 16, 16), (31, 64, 3, 3), WINDOW, False),
        ((1, 64, 16, 16), (33, 64, 3, 3), WINDOW, True),
        ((1, 512, 16, 16), (1024, 512, 3, 3), WINDOW, True),
        ((1, 1024, 16, 16), (1024, 1024, 3, 3), WINDOW, False),  # 75 MB of filters
        ((1, 64, 16, 16), (64, 64, 5, 5), WINDOW, False),
        ((1, 64, 16, 16), (64, 64, 3, 3), ((2, 2), *WINDOW[1:]), False),
        ((1, 64, 16, 16), (64, 64, 3, 3), (*WINDOW[:2], (2, 2), 1), False),
        ((1, 64, 16, 16), (64, 32, 3, 3), (*WINDOW[:3], 2), False),
    ],
)
def test_the_shapes_of_an_image_and_of_the_filters_decide(x_shape, w_shape, window, suits):
    assert suits_winograd(x_shape, w_shape, window) is suits


def test_inference_uses_it_and_training_does_not(layer, x):
    direct = layer(x).array
    assert not transformed(layer)
    np.testing.assert_array_equal(infer(layer, x, "never"), direct)
    assert not transformed(layer)
    y = infer(layer, x)
    assert len(transformed(layer)) == 1
    assert (y != direct).any()
    np.testing.assert_allclose(y, direct, atol=1e-5)
    with cvzoo.no_backprop_mode():  # statistics of a training pass, or the first pass of functions.forget
        np.testing.assert_array_equal(layer(x).array, direct)


@pytest.mark.parametrize("activation", [F.relu, F.silu, F.sigmoid, F.hard_swish])
def test_a_compiled_network_has_the_same_bits(x, activation):
    class Block(cvzoo.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.a = L.Convolution2D(32, 32, 3, pad=1)
                self.b = L.Convolution2D(32, 32, 3, pad=1, nobias=True)

        def forward(self, x):
            return activation(self.b(activation(self.a(x))) + x)

    np.random.seed(0)
    block = Block()
    expected = infer(block, x)
    assert (expected != infer(block, x, "never")).any()
    block.compile()
    for _ in range(4):
        np.testing.assert_array_equal(infer(block, x), expected)
    for _ in range(4):
        assert (infer(block, x, "never") != expected).any()


def test_changed_filters_are_transformed_again(layer, x):
    before = infer(layer, x)
    layer.W.array[...] *= 2
    np.testing.assert_allclose(infer(layer, x), 2 * before - layer.b.array[:, None, None], atol=1e-4)


def test_an_unknown_choice_is_refused(layer, x, monkeypatch):
    with pytest.raises(ConfigError, match="winograd"):
        infer(layer, x, "always")
    monkeypatch.setitem(switches.__dict__, "winograd", "always")  # as CVZOO_WINOGRAD sets it
    with (
        pytest.raises(ConfigError, match="CVZOO_WINOGRAD"),
        cvzoo.using_config("train", False),
        cvzoo.no_backprop_mode(),
    ):
        layer(x)


def unaligned(x):
    memory = np.zeros(x.size + 1, np.float32)
    view = memory[1:].reshape(x.shape[0], *x.shape[2:], x.shape[1]).transpose(0, 3, 1, 2)
    view[...] = x
    return view


@pytest.mark.parametrize(
    "stored",
    [
        np.ascontiguousarray,
        unaligned,
        lambda x: np.repeat(x, 2, axis=1)[:, ::2],
        lambda x: np.repeat(x, 2, axis=3)[..., ::2],
        lambda x: np.ascontiguousarray(x[:, ::-1, ::-1])[:, ::-1, ::-1],
        lambda x: np.asfortranarray(x),
        lambda x: np.pad(x, ((1, 1), (1, 1), (1, 1), (1, 1)))[1:-1, 1:-1, 1:-1, 1:-1],
    ],
    ids=["NCHW", "unaligned", "every second channel", "every second column", "reversed", "Fortran order", "inside"],
)
def test_an_image_in_any_memory_layout_gives_the_same_bits(layer, x, stored):
    other = stored(x)
    assert (other == x).all()
    np.testing.assert_array_equal(infer(layer, other), infer(layer, x))


def test_the_summary_says_which_convolutions_and_how_much_memory(layer, x):
    with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
        text = layer.compile(x).summary()
    assert "convolution (Winograd)" in text
    assert "0.1 MB of weights (0.1 MB for Winograd)" in text  # 18 * 32 * 64 float32; 48 channels are stored as 64
    with cvzoo.using_config("train", False), cvzoo.no_backprop_mode(), cvzoo.using_config("winograd", "never"):
        assert "Winograd" not in layer.compile(x).summary()
