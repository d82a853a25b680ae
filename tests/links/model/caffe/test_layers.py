"""Caffe's layers one by one, against their formulas written plainly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import ShapeError, UnsupportedError, WeightsMismatchError
from cvzoo.links.model.caffe.layer_types import MAKERS, N_BOTTOM, make_link
from cvzoo.links.model.caffe.windows import pooled_size
from cvzoo.weights.formats.caffe.net import CaffeLayer


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def make(kind, blobs=(), *, tops=("y",), bottoms=None, loss_weights=(), **params):
    bottoms = bottoms or ("x", "t")[: N_BOTTOM.get(kind, (1, 1))[0]]
    layer = CaffeLayer("the layer", kind, bottoms, tops, params, tuple(blobs), loss_weights=loss_weights)
    return make_link(layer)


def run(link, *xs):
    y = link(*xs)
    return y.array if isinstance(y, Variable) else [each.array for each in y]


X = draw(2, 6, 5, 7)
BN = (draw(6, seed=1), np.abs(draw(6, seed=2)) + 0.5, np.array([2], np.float32))
CHANNELS = (slice(None), None, None)


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def lrn_within(x, n, alpha, beta):
    r = n // 2
    squares = np.pad(x**2, ((0, 0), (0, 0), (r, r), (r, r)))
    windows = np.lib.stride_tricks.sliding_window_view(squares, (n, n), (2, 3)).sum((-1, -2))
    return x / (1 + alpha / n**2 * windows) ** beta


def lrn_across(x, n, alpha, beta, k):
    squares = np.pad(x**2, ((0, 0), (n // 2, n // 2), (0, 0), (0, 0)))
    sums = sum(squares[:, i : i + x.shape[1]] for i in range(n))
    return x / (k + alpha / n * sums) ** beta


def crossed(x, W, b, stride, pad, dilate, groups):
    """Convolution by loops."""
    n_out, n_in, kh, kw = W.shape
    x = np.pad(x, ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2))
    oh = (x.shape[2] - dilate[0] * (kh - 1) - 1) // stride[0] + 1
    ow = (x.shape[3] - dilate[1] * (kw - 1) - 1) // stride[1] + 1
    y = np.zeros((len(x), n_out, oh, ow), np.float32)
    for o in range(n_out):
        first = o // (n_out // groups) * n_in
        for i in range(kh):
            for j in range(kw):
                rows = slice(i * dilate[0], i * dilate[0] + stride[0] * (oh - 1) + 1, stride[0])
                columns = slice(j * dilate[1], j * dilate[1] + stride[1] * (ow - 1) + 1, stride[1])
                y[:, o] += np.einsum("bchw,c->bhw", x[:, first : first + n_in, rows, columns], W[o, :, i, j])
    return y + b[:, None, None]


W, B = draw(4, 6, 3, 2, seed=3), draw(4, seed=4)
GROUPED = draw(4, 3, 3, 3, seed=5)
FC, FC_B = draw(3, 6 * 5 * 7, seed=6), draw(3, seed=7)
SLOPES = np.abs(draw(6, seed=8))
FORMULAS = [
    (make("ReLU"), np.maximum(X, 0)),
    (make("ReLU", relu_param={"negative_slope": 0.1}), np.where(X > 0, X, X * np.float32(0.1))),
    (make("PReLU", [SLOPES]), np.where(X > 0, X, X * SLOPES[CHANNELS])),
    (make("PReLU", [SLOPES[:1]], prelu_param={"channel_shared": True}), np.where(X > 0, X, X * SLOPES[0])),
    (make("PReLU", [SLOPES[:1].reshape(())], prelu_param={"channel_shared": True}), np.where(X > 0, X, X * SLOPES[0])),
    (make("Sigmoid"), 1 / (1 + np.exp(-X))),
    (make("TanH"), np.tanh(X)),
    (make("ELU", elu_param={"alpha": 0.5}), np.where(X > 0, X, 0.5 * np.expm1(X))),
    (make("AbsVal"), np.abs(X)),
    (make("Power"), X),
    (make("Power", power_param={"power": 2.0, "scale": 0.5, "shift": 1.0}), (1 + 0.5 * X) ** 2),
    (make("Power", power_param={"power": 0.0, "scale": 0.5, "shift": 1.0}), np.ones_like(X)),
    (make("Power", power_param={"power": 2.0, "scale": 0.0, "shift": 3.0}), np.full_like(X, 9)),
    (make("Softmax"), softmax(X, 1)),
    (make("Softmax", softmax_param={"axis": -1}), softmax(X, 3)),
    (make("Dropout"), X),
    (make("LRN", lrn_param={"local_size": 3, "alpha": 0.3}), lrn_across(X, 3, 0.3, 0.75, 1.0)),
    (make("LRN", lrn_param={"alpha": 1e-4, "beta": 0.5, "k": 2.0}), lrn_across(X, 5, 1e-4, 0.5, 2.0)),
    (
        make("LRN", lrn_param={"local_size": 3, "alpha": 0.3, "norm_region": "WITHIN_CHANNEL"}),
        lrn_within(X, 3, 0.3, 0.75),
    ),
    # means and variances are stored as sums, with the factor that divides them
    (
        make("BatchNorm", BN),
        (X - BN[0][CHANNELS] / 2) / np.sqrt(BN[1][CHANNELS] / 2 + 1e-5),
    ),
    (
        make("BatchNorm", BN, batch_norm_param={"eps": 0.1}),
        (X - BN[0][CHANNELS] / 2) / np.sqrt(BN[1][CHANNELS] / 2 + 0.1),
    ),
    (make("BatchNorm", [*BN[:2], np.zeros(1, np.float32)]), X / np.sqrt(np.float32(1e-5))),
    (make("Scale", [BN[0]]), X * BN[0][CHANNELS]),
    (make("Scale", BN[:2], scale_param={"bias_term": True}), X * BN[0][CHANNELS] + BN[1][CHANNELS]),
    (make("Scale", [draw(1, 1, 1, 7)], scale_param={"axis": 3}), X * draw(7)),
    (make("Scale", [draw(6, 5)], scale_param={"num_axes": 2}), X * draw(6, 5)[:, :, None]),
    (make("Scale", [draw(1)], scale_param={"num_axes": 0}), X * draw(1)),
    (make("Bias", [BN[0]]), X + BN[0][CHANNELS]),
    (make("Normalize", [np.array([20], np.float32)]), X / np.sqrt((X**2).sum((1, 2, 3), keepdims=True)) * 20),
    (
        make("Normalize", [BN[0]], norm_param={"across_spatial": False, "channel_shared": False}),
        X / np.sqrt((X**2).sum(1, keepdims=True)) * BN[0][CHANNELS],
    ),
    (make("Flatten"), X.reshape(2, -1)),
    (make("Flatten", flatten_param={"axis": 0, "end_axis": 2}), X.reshape(60, 7)),
    (make("Flatten", flatten_param={"axis": -3, "end_axis": -2}), X.reshape(2, 30, 7)),
    (make("Reshape", reshape_param={"shape": {"dim": [0, -1, 7]}}), X.reshape(2, 30, 7)),
    (make("Reshape", reshape_param={"shape": {"dim": [1, -1, 2]}}), X.reshape(1, -1, 2)),
    (make("Reshape", reshape_param={"shape": {"dim": [3, 2]}, "axis": 1, "num_axes": 1}), X.reshape(2, 3, 2, 5, 7)),
    (make("Reshape", reshape_param={"shape": {"dim": [1]}, "axis": 1, "num_axes": 0}), X[:, None]),
    (make("Reshape", reshape_param={"shape": {"dim": [1]}, "axis": -1, "num_axes": 0}), X[..., None]),
    (make("Permute", permute_param={"order": [0, 2, 3, 1]}), X.transpose(0, 2, 3, 1)),
    (make("Permute", permute_param={"order": [2]}), X.transpose(2, 0, 1, 3)),
    (make("Upsample", upsample_param={"scale": 3}), X.repeat(3, 2).repeat(3, 3)),
    (make("Pooling", pooling_param={"pool": "AVE", "global_pooling": True}), X.mean((2, 3), keepdims=True)),
    (make("Pooling", pooling_param={"global_pooling": True}), X.max((2, 3), keepdims=True)),
    (
        make(
            "Convolution",
            [W, B],
            convolution_param={"num_output": 4, "kernel_size": [3, 2], "stride": [2, 1], "pad": [1], "dilation": [1]},
        ),
        crossed(X, W, B, (2, 1), (1, 1), (1, 1), 1),
    ),
    (
        make(
            "Convolution",
            [W, B.reshape(1, 1, 1, 4)],
            convolution_param={"num_output": 4, "kernel_h": 3, "kernel_w": 2, "pad_h": 0, "pad_w": 2, "stride": [1]},
        ),
        crossed(X, W, B, (1, 1), (0, 2), (1, 1), 1),
    ),
    (
        make(
            "Convolution",
            [GROUPED],
            convolution_param={
                "num_output": 4,
                "kernel_size": [3],
                "group": 2,
                "dilation": [2],
                "pad": [2],
                "bias_term": False,
            },
        ),
        crossed(X, GROUPED, np.zeros(4), (1, 1), (2, 2), (2, 2), 2),
    ),
    (make("InnerProduct", [FC, FC_B], inner_product_param={"num_output": 3}), X.reshape(2, -1) @ FC.T + FC_B),
    (
        make("InnerProduct", [FC[None, None], FC_B], inner_product_param={"num_output": 3}),
        X.reshape(2, -1) @ FC.T + FC_B,
    ),
    (
        make(
            "InnerProduct",
            [FC[:, :35].T.copy()],
            inner_product_param={"num_output": 3, "transpose": True, "axis": 2, "bias_term": False},
        ),
        X.reshape(2, 6, 35) @ FC[:, :35].T,
    ),
    (
        make("InnerProduct", [FC[:, :7], FC_B], inner_product_param={"num_output": 3, "axis": -1}),
        X @ FC[:, :7].T + FC_B,
    ),
]


@pytest.mark.parametrize(("link", "want"), FORMULAS)
def test_a_layer_computes_its_formula(link, want):
    with using_config("train", False):
        y = run(link, X)
    assert y.shape == want.shape
    np.testing.assert_allclose(y, want, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize(("link", "want"), FORMULAS)
def test_gradients_go_through_a_layer(link, want):
    x = Variable(X.copy())
    with using_config("train", False):
        y = link(x)
    F.sum(y * draw(*y.shape, seed=9)).backward()
    if y.creator is not None:
        assert np.isfinite(x.grad).all()


def test_deconvolution_is_the_transpose_of_convolution():
    weights = draw(4, 3, 3, 3)  # (in, out / group)
    params = {"num_output": 6, "kernel_size": [3], "stride": [2], "pad": [1], "group": 2, "bias_term": False}
    deconvolution = make("Deconvolution", [weights], convolution_param=params)
    convolution = make("Convolution", [weights], convolution_param={**params, "num_output": 4})
    x, y = draw(2, 4, 3, 4), draw(2, 6, 5, 7, seed=1)
    up = run(deconvolution, x)
    assert up.shape == y.shape
    np.testing.assert_allclose((up * y).sum(), (run(convolution, y) * x).sum(), rtol=1e-3)


def plain_pooling(x, method, k, s, p, ceil):
    """Caffe's loops, from the description of its PoolingLayer."""
    sizes = [pooled_size(x.shape[2 + i], k[i], s[i], p[i], ceil=ceil) for i in (0, 1)]
    h, w = x.shape[2:]
    y = np.zeros((*x.shape[:2], *sizes), np.float32)
    for i in range(sizes[0]):
        for j in range(sizes[1]):
            top, left = i * s[0] - p[0], j * s[1] - p[1]
            bottom, right = min(top + k[0], h + p[0]), min(left + k[1], w + p[1])
            area = (bottom - top) * (right - left)
            window = x[:, :, max(top, 0) : min(bottom, h), max(left, 0) : min(right, w)]
            y[:, :, i, j] = window.max((2, 3)) if method == "MAX" else window.sum((2, 3)) / area
    return y


@st.composite
def poolings(draw_from):
    k = draw_from(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    s = draw_from(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    p = tuple(draw_from(st.integers(0, side - 1)) for side in k)
    size = tuple(draw_from(st.integers(max(1, side - 2 * pad), 9)) for side, pad in zip(k, p))
    return k, s, p, size, draw_from(st.sampled_from(["MAX", "AVE"])), draw_from(st.booleans())


@settings(max_examples=150, deadline=None)
@given(poolings())
def test_pooling_follows_caffes_rules_of_sizes_and_means(case):
    k, s, p, size, method, ceil = case
    x = draw(1, 2, *size)
    params = {
        **{"pool": method, "kernel_h": k[0], "kernel_w": k[1], "stride_h": s[0], "stride_w": s[1]},
        **{"pad_h": p[0], "pad_w": p[1], "round_mode": "CEIL" if ceil else "FLOOR"},
    }
    want = plain_pooling(x, method, k, s, p, ceil)
    y = run(make("Pooling", pooling_param=params), x)
    assert y.shape == want.shape
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("size", "k", "s", "p", "n"),
    [
        (227, 3, 2, 0, 113),  # SqueezeNet's pool1 after conv1 has 113 x 113
        (13, 3, 2, 0, 6),
        (14, 3, 2, 0, 7),  # rounded up
        (7, 2, 2, 1, 4),  # the fifth window would begin in the padding
        (1, 1, 1, 0, 1),
    ],
)
def test_sizes_after_pooling_are_those_that_caffe_prints(size, k, s, p, n):
    assert pooled_size(size, k, s, p, ceil=True) == n


X2 = draw(2, 6, 5, 7, seed=11)


@pytest.mark.parametrize(
    ("link", "want"),
    [
        (make("Concat"), np.concatenate([X, X2], 1)),
        (make("Concat", concat_param={"axis": -1}), np.concatenate([X, X2], 3)),
        (make("Concat", concat_param={"concat_dim": 0}), np.concatenate([X, X2], 0)),
        (make("Eltwise"), X + X2),
        (make("Eltwise", eltwise_param={"operation": "PROD"}), X * X2),
        (make("Eltwise", eltwise_param={"operation": "MAX"}), np.maximum(X, X2)),
        (make("Eltwise", bottoms=("a", "b"), eltwise_param={"coeff": [1.0, -1.0]}), X - X2),
        (make("Eltwise", bottoms=("a", "b"), eltwise_param={"coeff": [0.5, 1.0]}), 0.5 * X + X2),
        (make("Scale", bottoms=("a", "b"), scale_param={"axis": 0}), X * X2),
        (make("Bias", bottoms=("a", "b"), bias_param={"axis": 0}), X + X2),
        (make("Crop", crop_param={"axis": 2}), X),
    ],
)
def test_layers_of_two_blobs(link, want):
    np.testing.assert_allclose(run(link, X, X2), want, rtol=1e-5, atol=1e-6)


def test_crop_cuts_to_the_second_blob():
    y = run(make("Crop", crop_param={"offset": [1, 2]}), X, draw(2, 3, 3, 4))
    np.testing.assert_array_equal(y, X[:, :, 1:4, 2:6])


def test_slice_cuts_at_points_or_evenly_and_split_repeats():
    parts = run(make("Slice", tops="abc", slice_param={"slice_point": [1, 4]}), X)
    for part, want in zip(parts, (X[:, :1], X[:, 1:4], X[:, 4:]), strict=True):
        np.testing.assert_array_equal(part, want)
    parts = run(make("Slice", tops="abc"), X)
    np.testing.assert_array_equal(np.concatenate(parts, 1), X)
    assert [part.shape[1] for part in parts] == [2, 2, 2]
    left, right = run(make("Slice", tops="ab", slice_param={"axis": 3, "slice_point": [3]}), X)
    assert (left.shape[3], right.shape[3]) == (3, 4)
    for part in run(make("Split", tops="ab"), X):
        np.testing.assert_array_equal(part, X)


def log_likelihood(x, t, axis):
    p = np.log(softmax(x, axis))
    return -np.take_along_axis(p, np.expand_dims(t, axis), axis)


@pytest.mark.parametrize(
    ("params", "divisor"),
    [
        ({}, 70),
        ({"normalization": "BATCH_SIZE"}, 2),
        ({"normalize": False}, 2),
        ({"normalization": "NONE"}, 1),
        ({"normalization": "FULL"}, 70),
    ],
)
def test_softmax_with_loss_divides_as_it_is_told(params, divisor):
    t = np.random.default_rng(0).integers(0, 6, (2, 5, 7))
    want = log_likelihood(X, t, 1).sum() / divisor
    link = make("SoftmaxWithLoss", loss_param=params)
    np.testing.assert_allclose(run(link, X, t[:, None].astype(np.float32)), want, rtol=1e-5)


def test_softmax_with_loss_ignores_a_label_and_gives_the_softmax_too():
    t = np.random.default_rng(0).integers(0, 6, (2, 5, 7))
    seen = t != 3
    want = log_likelihood(X, t, 1)[:, 0][seen].sum() / seen.sum()
    link = make("SoftmaxWithLoss", tops="ab", loss_weights=(2.0,), loss_param={"ignore_label": 3})
    loss, probs = run(link, X, t)
    np.testing.assert_allclose(loss, 2 * want, rtol=1e-5)
    np.testing.assert_allclose(probs, softmax(X, 1), rtol=1e-4)


def test_softmax_with_loss_takes_another_axis():
    t = np.random.default_rng(0).integers(0, 7, (2, 6, 5))
    link = make("SoftmaxWithLoss", softmax_param={"axis": 3})
    np.testing.assert_allclose(run(link, X, t), log_likelihood(X, t, 3).mean(), rtol=1e-5)


def test_dropout_works_while_training_only():
    link = make("Dropout", dropout_param={"dropout_ratio": 0.75})
    y = run(link, np.ones((100, 100), np.float32))
    assert set(np.unique(y)) == {0, 4}
    assert 0.2 < (y > 0).mean() < 0.3


def test_batch_norm_uses_the_batch_while_training_unless_it_is_told_not_to():
    free, fixed = make("BatchNorm", BN), make("BatchNorm", BN, batch_norm_param={"use_global_stats": True})
    np.testing.assert_allclose(run(free, X).mean((0, 2, 3)), 0, atol=1e-5)
    assert not np.array_equal(free.bn.avg_mean, BN[0] / 2)
    with using_config("train", False):
        want = run(fixed, X)
    np.testing.assert_array_equal(run(fixed, X), want)
    np.testing.assert_array_equal(fixed.bn.avg_mean, BN[0] / 2)


@pytest.mark.parametrize("phase", [True, False])
@pytest.mark.parametrize("has_bias", [True, False])
def test_batch_norm_takes_the_scale_along_and_gives_the_same(phase, has_bias):
    norm = make("BatchNorm", BN, batch_norm_param={"use_global_stats": True} if phase else {})
    scale = make("Scale", [SLOPES, BN[0]][: 1 + has_bias], scale_param={"bias_term": has_bias})
    with using_config("train", phase):
        np.testing.assert_allclose(norm(X, scale=scale).array, scale(norm(X)).array, rtol=1e-5, atol=1e-6)


REFUSED = [
    ("Convolution", [W], {"convolution_param": {"num_output": 4, "kernel_size": [3]}}, WeightsMismatchError),
    ("Convolution", [W], {"convolution_param": {"num_output": 5, "kernel_size": [3, 2]}}, WeightsMismatchError),
    ("Convolution", [W, B[:3]], {"convolution_param": {"num_output": 4, "kernel_size": [3, 2]}}, WeightsMismatchError),
    ("Convolution", [], {"convolution_param": {"num_output": 4}}, UnsupportedError),
    ("Convolution", [], {"convolution_param": {"num_output": 4, "kernel_size": [1, 2, 3]}}, UnsupportedError),
    ("Convolution", [], {"convolution_param": {"num_output": 4, "kernel_size": [0]}}, UnsupportedError),
    ("Convolution", [], {"convolution_param": {"kernel_size": [1]}}, UnsupportedError),
    ("Convolution", [], {"convolution_param": {"num_output": 4, "kernel_size": [1], "axis": 2}}, UnsupportedError),
    ("Convolution", [], {"convolution_param": {"num_output": 1 << 30, "kernel_size": [1]}}, UnsupportedError),
    ("Deconvolution", [W], {"convolution_param": {"num_output": 4, "kernel_size": [3], "group": 0}}, UnsupportedError),
    ("InnerProduct", [], {}, UnsupportedError),
    ("InnerProduct", [FC], {"inner_product_param": {"num_output": 4}}, WeightsMismatchError),
    ("BatchNorm", BN[:2], {}, WeightsMismatchError),
    ("BatchNorm", [BN[0], BN[1][:3], BN[2]], {}, WeightsMismatchError),
    ("Scale", [BN[0]], {"scale_param": {"bias_term": True}}, WeightsMismatchError),
    ("Scale", [BN[0], BN[1][:3]], {"scale_param": {"bias_term": True}}, WeightsMismatchError),
    ("Scale", [], {"scale_param": {"num_axes": 2}}, UnsupportedError),
    ("Bias", [], {}, UnsupportedError),
    ("PReLU", [], {}, UnsupportedError),
    ("Pooling", [], {"pooling_param": {"pool": "STOCHASTIC", "kernel_size": 2}}, UnsupportedError),
    ("Pooling", [], {"pooling_param": {}}, UnsupportedError),
    ("Pooling", [], {"pooling_param": {"kernel_size": 2, "pad": 2}}, UnsupportedError),
    ("Pooling", [], {"pooling_param": {"kernel_size": 2, "stride": 0}}, UnsupportedError),
    ("LRN", [], {"lrn_param": {"local_size": 4}}, UnsupportedError),
    ("Eltwise", [], {"eltwise_param": {"coeff": [1.0, 2.0]}}, UnsupportedError),
    ("Slice", [], {"slice_param": {"slice_point": [1, 2]}}, UnsupportedError),
    ("Permute", [], {"permute_param": {"order": [0, 0]}}, UnsupportedError),
    ("Reshape", [], {"reshape_param": {"shape": {"dim": [-1, -1]}}}, UnsupportedError),
    ("Reshape", [], {"reshape_param": {"shape": {"dim": [-2]}}}, UnsupportedError),
    ("Upsample", [], {"upsample_param": {"scale": 0}}, UnsupportedError),
]


@pytest.mark.parametrize(("kind", "blobs", "params", "error"), REFUSED)
def test_a_layer_that_makes_no_sense_is_refused_by_name(kind, blobs, params, error):
    with pytest.raises(error, match="'the layer'"):
        make(kind, blobs, **params)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("ReLU", {"bottoms": ("a", "b")}),
        ("ReLU", {"tops": ("a", "b")}),
        ("Pooling", {"tops": ("pooled", "mask")}),
        ("Crop", {"bottoms": ("a",)}),
        ("Scale", {"bottoms": ("a", "b", "c")}),
        ("Silence", {"tops": ("a",)}),
    ],
)
def test_a_wrong_number_of_blobs_is_refused(kind, names):
    with pytest.raises(UnsupportedError, match=r"'the layer': the number of (bottoms|tops)"):
        make(kind, **names)


@pytest.mark.parametrize(
    ("link", "xs"),
    [
        (make("Slice", tops="ab", slice_param={"axis": 4}), (X,)),
        (make("Eltwise"), (X, X[:, :1])),
        (make("Slice", tops="abcd"), (X,)),
        (make("Slice", tops="ab", slice_param={"slice_point": [6]}), (X,)),
        (make("Pooling", pooling_param={"kernel_size": 9, "round_mode": "FLOOR"}), (X,)),
        (make("Pooling", pooling_param={"global_pooling": True}), (X[0],)),
        (make("Reshape", reshape_param={"shape": {"dim": [11, -1]}}), (X,)),
        (make("Reshape", reshape_param={"shape": {"dim": [0, 0, 0, 0, 0]}}), (X,)),
        (make("Permute", permute_param={"order": [4]}), (X,)),
        (make("SoftmaxWithLoss"), (X, np.zeros(3, np.int32))),
        (make("Crop"), (X, draw(2, 6, 9, 9))),
    ],
)
def test_blobs_that_do_not_fit_a_layer_are_refused_by_its_name(link, xs):
    with pytest.raises(ShapeError, match="'the layer'"):
        link(*xs)


def test_the_table_has_every_layer_that_is_promised():
    promised = (
        "Convolution Deconvolution InnerProduct Pooling ReLU PReLU Sigmoid TanH LRN Concat Eltwise Slice Split Softmax "
        "SoftmaxWithLoss Dropout BatchNorm Scale Flatten Reshape Permute Normalize Upsample Power"
    )
    assert set(promised.split()) <= set(MAKERS)
