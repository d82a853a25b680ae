"""A photo's result has the same bits alone and in a batch: what `predict` promises rests on it."""

import numpy as np
import pytest

from cvzoo.backends.abstract import ELTWISE_KINDS
from cvzoo.backends.onednn import backend as onednn_backend
from cvzoo.backends.onednn.library import library, why_no_onednn
from cvzoo.backends.openmp import threads_now

pytestmark = pytest.mark.skipif(why_no_onednn() is not None, reason=f"no oneDNN: {why_no_onednn()}")

FAST = onednn_backend


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def assert_same_bits(function, x):
    """At batch 1, 2 and 4, wherever the photo stands, as among eight."""
    together = function(x)
    for n in (1, 2, 4):
        for k in range(0, len(x), n):
            assert function(x[k : k + n].copy(order="K")).tobytes() == together[k : k + n].tobytes(), (n, k)


CONVS = [
    # channels in, size, channels out, window, stride, groups
    (3, 64, 64, 7, 2, 1),
    (64, 28, 64, 3, 1, 1),
    (64, 14, 256, 1, 1, 1),
    (256, 14, 128, 1, 2, 1),
    (512, 7, 512, 3, 1, 1),
    (2048, 7, 512, 1, 1, 1),
    (24, 26, 24, 3, 1, 24),
    (96, 20, 96, 5, 1, 96),
    (128, 10, 75, 1, 1, 1),
    (16, 13, 24, 3, 1, 4),
]


@pytest.mark.parametrize("case", CONVS, ids=str)
def test_a_convolution_does_not_see_the_rest_of_the_batch(case, request):
    c, size, o, k, stride, groups = case
    if groups == 4 and threads_now()[0] > 2 and not library().isa.startswith("AVX-512"):
        reason = "gemm:jit divides one image's groups among three threads and more: docs/processors.md"
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    x, w, b, pad = FAST.channels_last(draw(8, c, size, size)), draw(o, c // groups, k, k), draw(o), k // 2
    how = {"stride": (stride, stride), "pad": (pad,) * 4, "dilate": (1, 1), "groups": groups}
    assert_same_bits(lambda x: FAST.conv_2d(x, w, b, activation="leaky_relu", alpha=0.1, **how), x)


@pytest.mark.parametrize("kind", ELTWISE_KINDS)
def test_a_function_does_not_see_the_rest_of_the_batch(kind):
    for shape in ((8, 37, 13, 11), (8, 5, 7, 7), (8, 100)):  # above and below where NumPy takes over
        x = np.abs(draw(*shape)) + 0.1 if kind in ("log", "sqrt") else draw(*shape)
        assert_same_bits(lambda x: FAST.eltwise(kind, x, alpha=0.3, beta=0.6), x)


def test_layers_do_not_see_the_rest_of_the_batch():
    x, v = FAST.channels_last(draw(8, 37, 33, 31)), np.abs(draw(37)) + 0.1
    assert_same_bits(lambda x: FAST.batch_norm_fixed(x, v, v, v, v, eps=1e-5), x)
    window = {"ksize": (3, 3), "stride": (2, 2), "pad": (1, 1, 1, 1)}
    assert_same_bits(lambda x: FAST.average_pool_2d(x, count_pad=False, **window), x)
    assert_same_bits(lambda x: FAST.max_pool_2d(x, keep=False, **window)[0], x)
    whole = {"ksize": (33, 31), "stride": (1, 1), "pad": (0, 0, 0, 0)}
    assert_same_bits(lambda x: FAST.average_pool_2d(x, count_pad=False, **whole), x)
    for axis in (1, 2, 3):
        assert_same_bits(lambda x, axis=axis: FAST.softmax(x, axis=axis), x)
    for size in ((66, 62), (40, 50)):
        rules = {"mode": "bilinear", "align_corners": False, "antialias": False}
        assert_same_bits(lambda x, size=size, rules=rules: FAST.resize_2d(x, size, **rules), x)
    assert_same_bits(lambda x: FAST.local_response_norm(x, n=5, k=1.0, alpha=1e-4, beta=0.75), x)
    assert_same_bits(lambda x: FAST.softmax(x, axis=1), draw(8, 1000))
    assert_same_bits(lambda x: FAST.layer_norm(x, draw(40), draw(40, seed=1), eps=1e-6)[0], draw(8, 40))
    w = draw(200, 512)
    assert_same_bits(lambda x: FAST.linear(x, w, None), draw(8, 512))
    assert_same_bits(lambda x: FAST.linear(x, w, None, pack={}), draw(8, 512))
