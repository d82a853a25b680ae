"""The fast kernels against the reference ones, case by case, in float32 and to 1e-5 of the largest number."""

import itertools

import numpy as np
import pytest

from cvzoo.backends.abstract import ELTWISE_KINDS, FROM_OUTPUT_KINDS
from cvzoo.backends.numpy import backend as numpy_backend
from cvzoo.backends.onednn import backend as onednn_backend
from cvzoo.backends.onednn.library import why_no_onednn

pytestmark = pytest.mark.skipif(why_no_onednn() is not None, reason=f"no oneDNN: {why_no_onednn()}")

REFERENCE, FAST = numpy_backend, onednn_backend
ORDERS = ("channels_last", "c_order", "sliced", "flipped", "broadcast")


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def in_order(x, order):
    """x (B, C, H, W) with the same values, lying in memory in another way."""
    if order == "channels_last":
        return REFERENCE.channels_last(x)
    if order == "sliced":
        b, c, h, w = x.shape
        big = np.zeros((b, h + 3, w + 2, c + 5), np.float32).transpose(0, 3, 1, 2)
        big[:, 2 : c + 2, 1 : h + 1, 2:] = x
        return big[:, 2 : c + 2, 1 : h + 1, 2:]
    if order == "flipped":
        return np.ascontiguousarray(x[:, ::-1, ::-1])[:, ::-1, ::-1]
    if order == "broadcast":
        return np.broadcast_to(x[:, :, :1, :1], x.shape)
    return np.ascontiguousarray(x)


def assert_agree(fast, reference, *, tolerance=1e-5, scale=None):
    assert type(fast) is np.ndarray
    assert fast.shape == reference.shape
    assert fast.dtype == reference.dtype
    if reference.size:
        largest = scale if scale is not None else max(np.abs(reference).max(), 1e-30)
        np.testing.assert_allclose(fast, reference, rtol=0, atol=tolerance * largest)


CONVS = [
    # batch, channels in and out, groups, size, window
    (2, 3, 8, 1, (9, 11), (3, 3)),  # a photo's three channels
    (2, 16, 32, 1, (14, 14), (1, 1)),
    (1, 64, 33, 1, (7, 5), (3, 2)),  # odd numbers of channels, an oblong window
    (3, 8, 8, 8, (9, 8), (3, 3)),  # depthwise
    (2, 4, 8, 4, (9, 9), (3, 3)),  # depthwise, two outputs a channel
    (2, 12, 18, 3, (8, 9), (3, 3)),  # groups
    (1, 1, 1, 1, (5, 5), (5, 5)),  # all sizes 1
    (2, 6, 4, 1, (1, 6), (1, 3)),  # a single row
    (0, 4, 4, 1, (6, 6), (3, 3)),  # nothing at all
]
GEOMETRIES = [
    # stride, pad, dilate
    ((1, 1), (0, 0, 0, 0), (1, 1)),
    ((1, 1), (1, 1, 1, 1), (1, 1)),
    ((2, 2), (1, 1, 1, 1), (1, 1)),
    ((2, 3), (2, 0, 1, 2), (1, 1)),  # different on all sides
    ((1, 1), (2, 2, 2, 2), (2, 2)),
    ((1, 2), (0, -1, 0, -2), (1, 1)),  # the last pixels are left out
    ((2, 2), (1, 4, 1, 4), (1, 1)),  # the last windows see little but padding
]


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize("case", CONVS, ids=str)
def test_convolutions_agree(case, geometry):
    b, c, o, groups, size, ksize = case
    stride, pad, dilate = geometry
    rows = [size[k] + pad[2 * k] + pad[2 * k + 1] - dilate[k] * (ksize[k] - 1) - 1 for k in (0, 1)]
    if min(rows) < 0:
        pytest.skip("the window does not fit")
    x, w, bias = draw(b, c, *size), draw(o, c // groups, *ksize), draw(o)
    settings = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
    y = REFERENCE.conv_2d(x, w, bias, **settings)
    assert_agree(FAST.conv_2d(x, w, bias, **settings), y)
    assert_agree(FAST.conv_2d(x, w, None, **settings), REFERENCE.conv_2d(x, w, None, **settings))
    gy = draw(*y.shape, seed=1)
    gx = REFERENCE.conv_2d_input_grad(gy, w, size, **settings)
    assert_agree(FAST.conv_2d_input_grad(gy, w, size, **settings), gx)
    gw = REFERENCE.conv_2d_weight_grad(x, gy, ksize, **settings)
    norm = np.sqrt((x * x).sum() * (gy * gy).sum())  # a gradient of a few numbers may nearly cancel
    assert_agree(FAST.conv_2d_weight_grad(x, gy, ksize, **settings), gw, scale=max(norm / 10, 1e-30))


@pytest.mark.parametrize("order", ORDERS)
def test_convolutions_take_any_order_of_memory(order):
    x, w, gy = (in_order(draw(*shape), order) for shape in ((2, 16, 30, 31), (8, 16, 3, 3), (2, 8, 30, 31)))
    before = x.copy(), w.copy(), gy.copy()
    settings = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}
    assert_agree(FAST.conv_2d(x, w, None, **settings), REFERENCE.conv_2d(x, w, None, **settings))
    reference = REFERENCE.conv_2d_input_grad(gy, w, (30, 31), **settings)
    assert_agree(FAST.conv_2d_input_grad(gy, w, (30, 31), **settings), reference)
    reference = REFERENCE.conv_2d_weight_grad(x, gy, (3, 3), **settings)
    # a kernel that adds 1,860 equal numbers one after another errs in the same direction most of the time
    tolerance = 5e-5 if order == "broadcast" else 1e-5
    assert_agree(FAST.conv_2d_weight_grad(x, gy, (3, 3), **settings), reference, tolerance=tolerance)
    for array, copy in zip((x, w, gy), before):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("activation", [None, *ELTWISE_KINDS])
def test_a_convolution_adds_and_activates_in_that_order(activation):
    x, w, b, add = draw(2, 8, 9, 9), draw(16, 8, 3, 3), draw(16), draw(2, 16, 9, 9)
    alpha, beta = (0.5, 2.0) if activation != "clip" else (-0.5, 0.5)
    settings = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}
    settings |= {"activation": activation, "alpha": alpha, "beta": beta}
    if activation in ("log", "sqrt"):
        x, w, b, add = np.abs(x), np.abs(w), np.abs(b), np.abs(add)
    if activation == "exp":
        w = w / 10
    kept = add.copy()
    assert_agree(FAST.conv_2d(x, w, b, add=add, **settings), REFERENCE.conv_2d(x, w, b, add=add, **settings))
    np.testing.assert_array_equal(add, kept)


def test_reordered_weights_are_kept_where_the_owner_says():
    x, w = draw(2, 64, 14, 14), draw(64, 64, 3, 3)
    settings = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}
    pack = {}
    first = FAST.conv_2d(x, w, None, pack=pack, **settings)
    assert len(pack) == 1
    w[...] = 0  # the owner has not emptied `pack`: the kept copy is what counts
    np.testing.assert_array_equal(FAST.conv_2d(x, w, None, pack=pack, **settings), first)
    pack.clear()
    assert not FAST.conv_2d(x, w, None, pack=pack, **settings).any()


def test_channel_sums_agree():
    for shape in ((4, 7, 30, 31), (5, 3), (2, 3, 4), (0, 3, 4, 4), (8, 64, 56, 56)):
        x = draw(*shape)
        assert_agree(FAST.channel_sum(x), REFERENCE.channel_sum(x))
        if x.ndim == 4:
            assert_agree(FAST.channel_sum(in_order(x, "channels_last")), REFERENCE.channel_sum(x))


MATRICES = [
    ((3, 4), (4, 5)),
    ((70, 64), (64, 33)),
    ((1, 300), (300, 200)),
    ((200, 1), (1, 300)),
    ((2, 70, 64), (2, 64, 33)),
    ((5, 1, 40, 30), (1, 6, 30, 40)),  # leading axes broadcast
    ((40, 60), (3, 60, 50)),
    ((3, 40, 60), (60, 50)),
    ((0, 400), (400, 300)),
    ((300, 0), (0, 200)),
]


@pytest.mark.parametrize("shapes", MATRICES, ids=str)
def test_products_of_matrices_agree(shapes):
    a, b = draw(*shapes[0]), draw(*shapes[1])
    expected = REFERENCE.matmul(a, b)
    assert_agree(FAST.matmul(a, b), expected)
    turned_a, turned_b = (np.ascontiguousarray(m.swapaxes(-1, -2)).swapaxes(-1, -2) for m in (a, b))
    assert_agree(FAST.matmul(turned_a, b), expected)
    assert_agree(FAST.matmul(turned_a, turned_b), expected)
    assert_agree(FAST.matmul(np.repeat(a, 2, -1)[..., ::2], b), expected)
    assert_agree(FAST.matmul(a[..., ::-1, :], b), expected[..., ::-1, :])
    for add in (draw(*expected.shape, seed=1), draw(*expected.shape[-2:], seed=2)):
        assert_agree(FAST.matmul(a, b, scale=0.3, add=add), REFERENCE.matmul(a, b, scale=0.3, add=add))


@pytest.mark.parametrize("n", [0, 1, 3, 64])
@pytest.mark.parametrize("has_bias", [False, True])
def test_linear_layers_agree(n, has_bias):
    x, w = draw(n, 300), draw(130, 300)
    b = draw(130) if has_bias else None
    expected = REFERENCE.linear(x, w, b)
    pack = {}
    assert_agree(FAST.linear(x, w, b), expected)
    assert_agree(FAST.linear(x, w, b, pack=pack), expected)
    assert_agree(FAST.linear(x, w, b, pack=pack), expected)
    assert_agree(FAST.linear(np.asfortranarray(x), np.asfortranarray(w), b), expected)


POOLS = [
    # size, ksize, stride, pad
    ((8, 8), (2, 2), (2, 2), (0, 0, 0, 0)),
    ((9, 11), (3, 3), (2, 2), (1, 1, 1, 1)),
    ((9, 11), (3, 2), (2, 3), (1, 2, 0, 1)),
    ((13, 13), (2, 2), (1, 1), (0, 1, 0, 1)),  # darknet's pooling without shrinking
    ((7, 7), (7, 7), (7, 7), (0, 0, 0, 0)),
    ((6, 7), (3, 3), (2, 2), (0, 1, 0, 0)),  # a last window that is cut off
    ((8, 9), (3, 3), (2, 2), (0, -1, 0, -2)),
    ((4, 4), (2, 2), (2, 2), (0, 5, 0, 0)),  # a window of nothing but padding
    ((5, 5), (13, 13), (1, 1), (6, 6, 6, 6)),
]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("case", POOLS, ids=str)
def test_poolings_agree(case, order):
    size, ksize, stride, pad = case
    settings = {"ksize": ksize, "stride": stride, "pad": pad}
    for b, c in ((2, 3), (1, 40), (0, 4)):
        x = in_order(draw(b, c, *size), order)
        y, kept = REFERENCE.max_pool_2d(x, keep=True, **settings)
        fast_y, fast_kept = FAST.max_pool_2d(x, keep=True, **settings)
        np.testing.assert_array_equal(fast_y, y)
        np.testing.assert_array_equal(FAST.max_pool_2d(x, keep=False, **settings)[0], y)
        indices = FAST.max_pool_2d_indices(x, **settings)
        np.testing.assert_array_equal(indices, REFERENCE.max_pool_2d_indices(x, **settings))
        gy = in_order(draw(*y.shape, seed=2), order)
        gx = REFERENCE.max_pool_2d_grad(gy, kept, x.shape, **settings)
        assert_agree(FAST.max_pool_2d_grad(gy, fast_kept, x.shape, **settings), gx)
        for count_pad in (False, True):
            y = REFERENCE.average_pool_2d(x, count_pad=count_pad, **settings)
            assert_agree(FAST.average_pool_2d(x, count_pad=count_pad, **settings), y)
            gx = REFERENCE.average_pool_2d_grad(gy, x.shape, count_pad=count_pad, **settings)
            assert_agree(FAST.average_pool_2d_grad(gy, x.shape, count_pad=count_pad, **settings), gx)


def test_of_equal_maxima_the_first_gets_the_gradient():
    x = np.zeros((1, 20, 6, 6), np.float32)
    settings = {"ksize": (3, 3), "stride": (2, 2), "pad": (1, 1, 1, 1)}
    for backend in (REFERENCE, FAST):
        y, kept = backend.max_pool_2d(x, keep=True, **settings)
        gx = backend.max_pool_2d_grad(np.ones_like(y), kept, x.shape, **settings)
        expected = np.zeros((6, 6))
        for i, j in itertools.product((0, 1, 3), (0, 1, 3)):
            expected[i, j] = 1
        np.testing.assert_array_equal(gx[0, 7], expected)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("shape", [(4, 20, 9, 7), (2, 1, 30, 30), (1, 16, 1, 1), (3, 5, 1, 8)], ids=str)
def test_batch_normalizations_agree(shape, order):
    x, gy = in_order(draw(*shape) * 3 + 2, order), in_order(draw(*shape, seed=1), order)
    c = shape[1]
    gamma, beta, mean, var = draw(c), draw(c, seed=1), draw(c, seed=2), np.abs(draw(c, seed=3))
    eps = 1e-2
    for fast, reference in zip(
        FAST.batch_norm_train(x, gamma, beta, eps=eps), REFERENCE.batch_norm_train(x, gamma, beta, eps=eps)
    ):
        assert_agree(fast, reference, scale=20)
    for fast, trained in zip(FAST.batch_norm_statistics(x), FAST.batch_norm_train(x, gamma, beta, eps=eps)[1:]):
        np.testing.assert_array_equal(fast, trained)
    for fast, reference in zip(FAST.batch_norm_statistics(x), REFERENCE.batch_norm_statistics(x)):
        assert_agree(fast, reference, scale=20)
    expected = REFERENCE.batch_norm_fixed(x, gamma, beta, mean, var, eps=eps)
    assert_agree(FAST.batch_norm_fixed(x, gamma, beta, mean, var, eps=eps), expected)
    mean, var = REFERENCE.batch_norm_train(x, gamma, beta, eps=eps)[1:]
    for fast, reference in zip(
        FAST.batch_norm_grad(gy, x, gamma, mean, var, eps=eps),
        REFERENCE.batch_norm_grad(gy, x, gamma, mean, var, eps=eps),
    ):
        assert_agree(fast, reference, scale=max(np.abs(reference).max(), 10))


@pytest.mark.parametrize("shape", [(64, 10), (2, 3, 40), (5, 4), (2, 3, 4, 5, 6), (0, 4, 3, 3)], ids=str)
def test_batch_normalization_of_other_ranks_agrees(shape):
    x, gy, c = draw(*shape), draw(*shape, seed=1), shape[1]
    gamma, beta = draw(c), draw(c, seed=1)
    got, expected = (backend.batch_norm_train(x, gamma, beta, eps=1e-3) for backend in (FAST, REFERENCE))
    for fast, reference in zip(got, expected):
        assert_agree(fast, reference, scale=5)
    for fast, reference in zip(FAST.batch_norm_statistics(x), expected[1:]):
        assert_agree(fast, reference, scale=5)
    got, expected = (backend.batch_norm_grad(gy, x, gamma, *expected[1:], eps=1e-3) for backend in (FAST, REFERENCE))
    for fast, reference in zip(got, expected):
        assert_agree(fast, reference, scale=10)


@pytest.mark.parametrize("order", ["c_order", "transposed", "part"])
@pytest.mark.parametrize("shape", [(50, 96), (3, 37), (1, 8), (7, 1), (0, 8)], ids=str)
def test_layer_normalizations_agree(shape, order):
    x, gy, gamma, beta = draw(*shape) * 3 + 2, draw(*shape, seed=1), draw(shape[1], seed=2), draw(shape[1], seed=3)
    if order == "transposed":
        x, gy = np.asfortranarray(x), np.asfortranarray(gy)
    elif order == "part":
        x = np.concatenate([x, x], axis=1)[:, : shape[1]]
    got, expected = (backend.layer_norm(x, gamma, beta, eps=1e-3) for backend in (FAST, REFERENCE))
    for fast, reference in zip(got, expected):
        assert_agree(fast, reference)
    got, expected = (backend.layer_norm_grad(gy, x, gamma, *expected[1:], eps=1e-3) for backend in (FAST, REFERENCE))
    for fast, reference in zip(got, expected):
        assert_agree(fast, reference, scale=10)


@pytest.mark.parametrize("n", [1, 3, 4, 5])
@pytest.mark.parametrize("shape", [(2, 20, 5, 6), (1, 3, 9, 9), (2, 2, 3, 3)], ids=str)
def test_local_response_normalizations_agree(shape, n):
    x, gy = draw(*shape), draw(*shape, seed=1)
    for k, alpha, beta in ((1.0, 0.2, 0.75), (2.0, 1e-4, 0.5)):
        settings = {"n": n, "k": k, "alpha": alpha, "beta": beta}
        assert_agree(FAST.local_response_norm(x, **settings), REFERENCE.local_response_norm(x, **settings))
        expected = REFERENCE.local_response_norm_grad(gy, x, **settings)
        assert_agree(FAST.local_response_norm_grad(gy, x, **settings), expected)


SHAPES = [(3, 16, 30, 31), (5,), (40000,), (300, 200), (0, 3)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", ELTWISE_KINDS)
def test_elementwise_functions_agree(kind, shape):
    x, gy = draw(*shape) * 3, draw(*shape, seed=1)
    alpha, beta = {
        "clamp": (-1.0, 1.5),
        "clip": (-1.0, 1.5),
        "hard_sigmoid": (0.2, 0.5),
        "hard_swish": (1 / 6, 0.5),
    }.get(kind, (0.7, 0.0))
    if kind in ("log", "sqrt"):
        x = np.abs(x) + 0.1
    orders = ORDERS if x.ndim == 4 else [None]
    for order in orders:
        there = x if order is None else in_order(x, order)
        y = REFERENCE.eltwise(kind, there, alpha=alpha, beta=beta)
        assert_agree(FAST.eltwise(kind, there, alpha=alpha, beta=beta), y)
        gx = REFERENCE.eltwise_grad(kind, gy, there, alpha=alpha, beta=beta)
        assert_agree(FAST.eltwise_grad(kind, gy, there, alpha=alpha, beta=beta), gx)
        if kind in FROM_OUTPUT_KINDS:
            gx = REFERENCE.eltwise_grad_from_output(kind, gy, y, alpha=alpha, beta=beta)
            assert_agree(FAST.eltwise_grad_from_output(kind, gy, y, alpha=alpha, beta=beta), gx)


def test_elementwise_functions_keep_the_order_of_memory():
    for order in ("channels_last", "c_order"):
        x = in_order(draw(3, 16, 30, 31), order)
        assert FAST.eltwise("relu", x).strides == x.strides
    x = draw(300, 200).T
    assert FAST.eltwise("tanh", x).strides == x.strides


PAIRS = [
    ((3, 16, 30, 31), (3, 16, 30, 31)),
    ((3, 16, 30, 31), (1, 16, 1, 1)),
    ((3, 16, 30, 31), (16, 1, 1)),
    ((3, 16, 30, 31), (3, 16, 1, 1)),
    ((3, 16, 30, 31), ()),
    ((3, 1, 30, 31), (3, 16, 30, 31)),
    ((200, 1), (1, 300)),
    ((300, 200), (200,)),
    ((0, 3), (1, 3)),
]


@pytest.mark.parametrize("shapes", PAIRS, ids=str)
def test_sums_and_products_agree(shapes):
    a, b = draw(*shapes[0]), draw(*shapes[1], seed=1) if shapes[1] else np.float32(3)
    orders = ORDERS if a.ndim == 4 else [None]
    for order in orders:
        there = a if order is None else in_order(a, order)
        for first, second in ((there, b), (b, there)):
            if first is b and not shapes[1]:
                first = np.asarray(b)
            np.testing.assert_array_equal(FAST.add(first, second), REFERENCE.add(first, second))
            np.testing.assert_array_equal(FAST.multiply(first, second), REFERENCE.multiply(first, second))


def test_a_sum_may_replace_what_was_added():
    for order in ("channels_last", "c_order", "sliced"):
        a, b = in_order(draw(3, 16, 30, 31), order), draw(3, 16, 30, 31, seed=1)
        expected = a + b
        assert FAST.add(a, b, out=a) is a
        np.testing.assert_array_equal(a, expected)
    a, b = draw(3, 16, 30, 31), draw(16, 1, 1)
    expected = a + b
    FAST.add(b, a, out=a)
    np.testing.assert_array_equal(a, expected)


@pytest.mark.parametrize(
    "case", [((8, 5000), 1), ((2, 21, 30, 31), 1), ((2, 21, 30, 31), -1), ((3, 4), 0), ((0, 4), 1)]
)
def test_softmaxes_agree(case):
    shape, axis = case
    orders = ORDERS if len(shape) == 4 else [None]
    for order in orders:
        x, gy = draw(*shape) * 5, draw(*shape, seed=1)
        x = x if order is None else in_order(x, order)
        for forward, backward in (("softmax", "softmax_grad"), ("log_softmax", "log_softmax_grad")):
            y = getattr(REFERENCE, forward)(x, axis=axis)
            assert_agree(getattr(FAST, forward)(x, axis=axis), y)
            gx = getattr(REFERENCE, backward)(gy, y, axis=axis)
            assert_agree(getattr(FAST, backward)(gy, y, axis=axis), gx)


def test_softmax_of_huge_numbers_is_finite():
    x = np.tile(np.float32([1e30, -1e30, 0.0, 1e30]), (2, 2000))
    for backend in (REFERENCE, FAST):
        assert np.isfinite(backend.softmax(x, axis=1)).all()


@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1])
def test_concatenations_agree(axis):
    shapes = [[3, 16, 20, 21] for _ in range(3)]
    for k, shape in enumerate(shapes):
        shape[axis] = 5 + 8 * k
    for order in ORDERS:
        arrays = [in_order(draw(*shape), order) for shape in shapes]
        np.testing.assert_array_equal(FAST.concat(arrays, axis=axis), np.concatenate(arrays, axis))
    np.testing.assert_array_equal(FAST.concat(arrays[:1], axis=axis), arrays[0])


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2)])
def test_concatenations_of_other_than_photos_agree(axis, order):
    arrays = [np.transpose(draw(7, 60, 60, seed=k), order)[:, 1:] for k in range(3)]
    np.testing.assert_array_equal(FAST.concat(arrays, axis=axis), np.concatenate(arrays, axis))


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_concatenations_of_parts_of_photos_agree(axis):
    x = in_order(draw(2, 24, 20, 30), "channels_last")
    arrays = [x[:, 1:9, :11, 2:22], x[:, 9:17, 3:14, 5:25], in_order(x[:, :8, 9:20, 10:], "c_order")]
    y = FAST.concat(arrays, axis=axis)
    assert y.transpose(0, 2, 3, 1).flags.c_contiguous
    np.testing.assert_array_equal(y, np.concatenate(arrays, axis))


RESIZES = [
    ((7, 9), (14, 18)),
    ((7, 9), (21, 9)),
    ((7, 9), (11, 20)),
    ((20, 21), (10, 7)),
    ((17, 33), (100, 65)),
    ((90, 70), (31, 201)),
    ((5, 5), (1, 1)),
    ((1, 1), (4, 5)),
]


@pytest.mark.parametrize("case", RESIZES, ids=str)
@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
@pytest.mark.parametrize("rules", [(False, False), (False, True), (True, False), (True, True)], ids=str)
def test_resizes_agree(case, mode, rules):
    small, size = case
    align_corners, antialias = rules
    settings = {"mode": mode, "align_corners": align_corners, "antialias": antialias}
    for order in ORDERS:
        x, gy = in_order(draw(2, 16, *small), order), in_order(draw(2, 16, *size, seed=1), order)
        assert_agree(FAST.resize_2d(x, size, **settings), REFERENCE.resize_2d(x, size, **settings))
        expected = REFERENCE.resize_2d_grad(gy, small, **settings)
        assert_agree(FAST.resize_2d_grad(gy, small, **settings), expected)


def test_resizing_a_large_photo_agrees():
    x = draw(1, 3, 480, 640)
    settings = {"mode": "bilinear", "align_corners": False, "antialias": False}
    for size in ((511, 777), (300, 300)):
        assert_agree(FAST.resize_2d(x, size, **settings), REFERENCE.resize_2d(x, size, **settings))


@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_other_dtypes_are_left_to_numpy(dtype):
    x, w = (draw(2, 4, 40, 40) * 3).astype(dtype), (draw(4, 4, 3, 3) * 3).astype(dtype)
    settings = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}
    y = FAST.conv_2d(x, w, None, **settings)
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, REFERENCE.conv_2d(x, w, None, **settings))
    assert FAST.eltwise("relu", x).dtype == x.dtype
    assert FAST.add(x, x).dtype == x.dtype
    pooled, _ = FAST.max_pool_2d(x, ksize=(2, 2), stride=(2, 2), pad=(0, 0, 0, 0), keep=False)
    assert pooled.dtype == x.dtype


BOUNDED = ("clamp", "clip", "hard_sigmoid", "exp")  # oneDNN gives one of the bounds, or inf


def test_nan_stays_nan_in_elementwise_functions():
    x = np.full(20000, np.nan, np.float32)
    for kind in ELTWISE_KINDS:
        assert np.isnan(REFERENCE.eltwise(kind, x, alpha=0.5, beta=1.0)).all(), kind
        assert np.isnan(FAST.eltwise(kind, x, alpha=0.5, beta=1.0)).all() or kind in BOUNDED, kind


def test_nan_stays_nan_through_convolution_and_normalization():
    x, w = draw(1, 8, 9, 9), draw(8, 8, 3, 3)
    x[0, 3, 4, 4] = np.nan
    settings = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}
    y, expected = (backend.conv_2d(x, w, None, **settings) for backend in (FAST, REFERENCE))
    np.testing.assert_array_equal(np.isnan(y), np.isnan(expected))
    one = np.ones(8, np.float32)
    y, expected = (backend.batch_norm_fixed(x, one, one, one, one, eps=0.1) for backend in (FAST, REFERENCE))
    np.testing.assert_array_equal(np.isnan(y), np.isnan(expected))


def test_the_maximum_of_nothing_but_minus_infinity_or_nan():
    settings = {"ksize": (2, 2), "stride": (2, 2), "pad": (0, 0, 0, 0), "keep": False}
    lowest = np.finfo(np.float32).min
    for value, fast in ((-np.inf, lowest), (np.nan, lowest)):  # oneDNN begins with the lowest finite number
        x = np.full((1, 4, 8, 8), value, np.float32)
        np.testing.assert_array_equal(REFERENCE.max_pool_2d(x, **settings)[0], np.float32(value))
        np.testing.assert_array_equal(FAST.max_pool_2d(x, **settings)[0], np.float32(fast))
