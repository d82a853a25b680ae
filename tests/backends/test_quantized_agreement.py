"""Eight-bit kernels: the fast ones against the reference ones, and the reference ones against integers by hand."""

import os
import subprocess
import sys

import numpy as np
import pytest

from cvzoo.backends.numpy import backend as numpy_backend
from cvzoo.backends.numpy.bfloat16 import from_bits, to_bits
from cvzoo.backends.onednn import backend as onednn_backend
from cvzoo.backends.onednn.int8_sums import has_int8_sums
from cvzoo.backends.onednn.library import library, why_no_onednn

REFERENCE, FAST = numpy_backend, onednn_backend
needs_onednn = pytest.mark.skipif(why_no_onednn() is not None, reason=f"no oneDNN: {why_no_onednn()}")
BACKENDS = [REFERENCE, pytest.param(FAST, marks=needs_onednn)]
PLAIN = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def bytes_of(*shape, signed, seed=0):
    low, high, dtype = (-128, 128, np.int8) if signed else (0, 256, np.uint8)
    return np.random.default_rng([seed, *shape]).integers(low, high, shape).astype(dtype)


@pytest.mark.parametrize("shape", [(5,), (2, 3, 4, 5), (1, 20, 40, 30), (4, 5000)], ids=str)
@pytest.mark.parametrize("backend", BACKENDS)
def test_floats_become_the_nearest_bytes(backend, shape):
    x = 3 * draw(*shape)
    for signed, low, high, dtype in ((True, -128, 127, np.int8), (False, 0, 255, np.uint8)):
        y = backend.quantize(x, scale=0.0625, signed=signed)
        assert y.dtype == dtype
        assert y.flags.c_contiguous if y.ndim != 4 else y.transpose(0, 2, 3, 1).flags.c_contiguous
        np.testing.assert_array_equal(y, np.clip(np.rint(x / 0.0625), low, high))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("n", [1, 4096])
def test_halves_go_to_the_even_byte_and_infinities_to_the_last(backend, n):
    x = np.repeat(np.array([0.5, 1.5, 2.5, -0.5, -1.5, np.inf, -np.inf, 1e30], np.float32), n)
    signed = backend.quantize(x, scale=1.0, signed=True)[::n]
    assert signed.tolist() == [0, 2, 2, 0, -2, 127, -128, 127]
    assert backend.quantize(x, scale=1.0, signed=False)[::n].tolist() == [0, 2, 2, 0, 0, 255, 0, 255]
    backend.quantize(np.full(n, np.nan, np.float32), scale=1.0, signed=True)  # any byte, and no warning


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_convolution_of_bytes_is_the_sum_of_integers_times_the_scale(backend):
    x, w = bytes_of(1, 2, 3, 3, signed=False), bytes_of(4, 2, 3, 3, signed=True)
    scale, b = np.array([1, 0.5, 0.25, 2], np.float32), np.array([0, 1, -2, 3], np.float32)
    y = backend.conv_2d_int8(x, w, scale, b, **(PLAIN | {"pad": (0, 0, 0, 0)}))
    by_hand = [int((x[0].astype(int) * each.astype(int)).sum()) for each in w]
    assert y.dtype == np.float32
    assert y.ravel().tolist() == [s * v + c for s, v, c in zip(scale, by_hand, b)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_largest_sums_do_not_overflow(backend):
    """Pairs of products of 255 and 127 do not fit into 16 bits: where some processors stop."""
    x, w = np.full((1, 512, 3, 3), 255, np.uint8), np.full((16, 512, 3, 3), 127, np.int8)
    y = backend.conv_2d_int8(x, w, np.ones(16, np.float32), None, **PLAIN)
    assert y[0, 0, 1, 1] == pytest.approx(512 * 9 * 255 * 127, rel=1e-4)
    y = backend.linear_int8(x[:, :, 0, 0], w[:, :, 0, 0], np.ones(16, np.float32), None)
    np.testing.assert_allclose(y, 512 * 255 * 127, rtol=1e-4)


CONVS = [
    # batch, channels in and out, groups, size, window
    (2, 3, 8, 1, (9, 11), (3, 3)),
    (2, 16, 32, 1, (14, 14), (1, 1)),
    (1, 64, 33, 1, (7, 5), (3, 2)),
    (3, 8, 8, 8, (9, 8), (3, 3)),  # depthwise
    (1, 96, 96, 96, (20, 20), (5, 5)),
    (2, 4, 8, 4, (9, 9), (3, 3)),  # depthwise, two outputs a channel
    (2, 12, 18, 3, (8, 9), (3, 3)),  # groups
    (1, 128, 128, 4, (10, 10), (3, 3)),
    (1, 1, 1, 1, (5, 5), (5, 5)),
    (0, 4, 4, 1, (6, 6), (3, 3)),
]
GEOMETRIES = [
    # stride, pad, dilate
    ((1, 1), (1, 1, 1, 1), (1, 1)),
    ((2, 3), (2, 0, 1, 2), (1, 1)),
    ((1, 1), (2, 2, 2, 2), (2, 2)),
    ((1, 2), (0, -1, 0, -2), (1, 1)),
]


@needs_onednn
@pytest.mark.parametrize("signed", [False, True], ids=["uint8", "int8"])
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize("case", CONVS, ids=str)
def test_convolutions_of_bytes_agree(case, geometry, signed):
    b, c, o, groups, size, ksize = case
    stride, pad, dilate = geometry
    if min(size[k] + pad[2 * k] + pad[2 * k + 1] - dilate[k] * (ksize[k] - 1) - 1 for k in (0, 1)) < 0:
        pytest.skip("the window does not fit")
    x, w = bytes_of(b, c, *size, signed=signed), bytes_of(o, c // groups, *ksize, signed=True)
    scale, bias = np.abs(draw(o)) / 1000, draw(o)
    how = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
    for each in (bias, None):
        expected = REFERENCE.conv_2d_int8(x, w, scale, each, **how)
        assert_near(FAST.conv_2d_int8(x, w, scale, each, **how), expected)
    # without rounding in the floats, the same bits
    scale, bias = np.exp2(np.arange(o) % 3 - 4.0).astype(np.float32), np.arange(o, dtype=np.float32)
    fast, expected = (each.conv_2d_int8(x, w, scale, bias, **how) for each in (FAST, REFERENCE))
    np.testing.assert_array_equal(fast, expected)
    for out_signed in (False, True):
        to = {"out_scale": 64.0, "out_signed": out_signed}
        fast, expected = (each.conv_2d_int8(x, w, scale, bias, **how, **to) for each in (FAST, REFERENCE))
        assert fast.dtype == expected.dtype
        np.testing.assert_array_equal(fast, expected)


def assert_near(fast, reference):
    assert fast.shape == reference.shape
    assert fast.dtype == reference.dtype
    if reference.size:
        np.testing.assert_allclose(fast, reference, rtol=0, atol=1e-6 * np.abs(reference).max())


@needs_onednn
@pytest.mark.parametrize("kind", [None, "relu", "leaky_relu", "clip", "sigmoid", "swish", "hard_swish", "tanh"])
@pytest.mark.parametrize("groups", [1, 32])
def test_a_convolution_of_bytes_adds_and_activates_in_that_order(kind, groups):
    x, w = bytes_of(2, 32, 9, 9, signed=False), bytes_of(32, 32 // groups, 3, 3, signed=True)
    scale, b, add = np.abs(draw(32)) / 30000, draw(32), draw(2, 32, 9, 9)
    how = PLAIN | {"groups": groups, "activation": kind, "add": add, "alpha": 0.25, "beta": 1.0}
    kept = add.copy()
    expected = REFERENCE.conv_2d_int8(x, w, scale, b, **how)
    fast = FAST.conv_2d_int8(x, w, scale, b, **how)
    np.testing.assert_allclose(fast, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    np.testing.assert_array_equal(add, kept)
    to = {"out_scale": 0.01, "out_signed": True}
    fast, expected = (each.conv_2d_int8(x, w, scale, b, **how, **to).astype(int) for each in (FAST, REFERENCE))
    assert np.abs(fast - expected).max() <= 1  # a last bit of a float may decide between two bytes
    assert (fast != expected).mean() < 0.01


@needs_onednn
@pytest.mark.parametrize("signed", [False, True], ids=["uint8", "int8"])
@pytest.mark.parametrize("kind", [None, "relu", "clip", "swish"])
@pytest.mark.parametrize("groups", [1, 32])
def test_what_is_added_may_be_bytes(kind, groups, signed):
    x, w = bytes_of(2, 32, 9, 9, signed=False), bytes_of(32, 32 // groups, 3, 3, signed=True)
    scale, b, add = np.abs(draw(32)) / 30000, draw(32), bytes_of(2, 32, 9, 9, signed=signed)
    how = PLAIN | {"groups": groups, "activation": kind, "alpha": 1.0, "beta": 2.0}
    expected = REFERENCE.conv_2d_int8(x, w, scale, b, add=add * np.float32(0.03), **how)
    for backend in (REFERENCE, FAST):
        got = backend.conv_2d_int8(x, w, scale, b, add=add, add_scale=0.03, **how)
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    how |= {"add": add, "add_scale": 0.03, "out_scale": 0.02, "out_signed": True}
    fast, expected = (each.conv_2d_int8(x, w, scale, b, **how).astype(int) for each in (FAST, REFERENCE))
    assert np.abs(fast - expected).max() <= 1  # a last bit of a float may decide between two bytes
    assert (fast != expected).mean() < 0.01


@needs_onednn
@pytest.mark.parametrize("add", [False, True], ids=["alone", "sum"])
@pytest.mark.parametrize(
    "kind",
    [("relu", 0, 0), ("leaky_relu", 0.5, 0), ("leaky_relu", -0.5, 0), ("clip", 0, 64), ("clip", 0, 63.75)]
    + [("clip", 0, 63.5), ("clip", 0, 20), ("clip", -3, 90), ("clip", 2, 90), ("clip", -90, -1)],
    ids=str,
)
def test_an_activation_before_rounding_to_bytes_is_computed_unless_rounding_implies_it(kind, add):
    x, w = bytes_of(1, 32, 9, 9, signed=True), bytes_of(16, 32, 1, 1, signed=True)
    scale, b = np.full(16, 1 / 1024, np.float32), np.arange(16, dtype=np.float32)  # exact: no last bit decides
    how = PLAIN | {"activation": kind[0], "alpha": kind[1], "beta": kind[2], "out_scale": 0.25}
    if add:
        how |= {"add": bytes_of(1, 16, 11, 11, signed=False), "add_scale": 0.125}
    for out_signed in (False, True):
        expected = REFERENCE.conv_2d_int8(x, w, scale, b, **how, out_signed=out_signed)
        np.testing.assert_array_equal(FAST.conv_2d_int8(x, w, scale, b, **how, out_signed=out_signed), expected)


@pytest.mark.parametrize("window", [(2, 2, 0), (3, 2, 1), (5, 1, 2)], ids=str)
@pytest.mark.parametrize("signed", [False, True], ids=["uint8", "int8"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_maxima_of_bytes_are_those_of_what_they_mean(backend, signed, window):
    x, (k, stride, p) = bytes_of(2, 19, 13, 11, signed=signed), window
    how = {"ksize": (k, k), "stride": (stride, stride), "pad": (p, p, p, 0), "keep": False}
    for each in (x, x.transpose(0, 3, 1, 2)):
        y, _ = backend.max_pool_2d(each, **how)
        assert y.dtype == x.dtype
        np.testing.assert_array_equal(y, REFERENCE.max_pool_2d(each.astype(np.float32), **how)[0])


@needs_onednn
@pytest.mark.parametrize("signed", [False, True], ids=["uint8", "int8"])
@pytest.mark.parametrize("n", [0, 1, 3, 64])
def test_linear_layers_of_bytes_agree(n, signed):
    x, w = bytes_of(n, 300, signed=signed), bytes_of(130, 300, signed=True)
    scale, b = np.abs(draw(130)) / 1000, draw(130)
    pack = {}
    for bias in (None, b):
        expected = REFERENCE.linear_int8(x, w, scale, bias)
        for way in (None, pack, pack):
            assert_near(FAST.linear_int8(x, w, scale, bias, pack=way), expected)
    assert_near(FAST.linear_int8(np.asfortranarray(x), np.asfortranarray(w), scale, b), expected)


@needs_onednn
@pytest.mark.parametrize("signed", [False, True], ids=["uint8", "int8"])
@pytest.mark.parametrize("sizes", [(64, 48), (512, 130), (8, 64)], ids=str)
def test_reordered_weights_fit_batches_of_any_size(sizes, signed):
    """oneDNN may choose another kernel for another batch, whose weights lie alike but for a correction behind them."""
    w, scale, pack, filters = bytes_of(*sizes[::-1], signed=True), np.ones(sizes[1], np.float32), {}, {}
    for n in (6, 1, 40, 2, 1, 6):
        x = bytes_of(n, sizes[0], signed=signed, seed=n)
        expected = x.astype(int) @ w.T.astype(int)
        np.testing.assert_array_equal(FAST.linear_int8(x, w, scale, None, pack=pack), expected)
        how = PLAIN | {"pad": (0, 0, 0, 0), "pack": filters}
        y = FAST.conv_2d_int8(x[:, :, None, None], w[:, :, None, None], scale, None, **how)
        np.testing.assert_array_equal(y[:, :, 0, 0], expected)


@needs_onednn
def test_bytes_may_lie_in_any_order():
    x, w = bytes_of(2, 16, 9, 10, signed=True), bytes_of(8, 16, 3, 3, signed=True)
    scale = np.ones(8, np.float32)
    expected = REFERENCE.conv_2d_int8(x, w, scale, None, **PLAIN)
    for turned in (np.ascontiguousarray(x[:, ::-1, ::-1])[:, ::-1, ::-1], FAST.channels_last(x)):
        flipped = np.ascontiguousarray(w[::-1, :, ::-1])[::-1, :, ::-1]
        np.testing.assert_array_equal(FAST.conv_2d_int8(turned, flipped, scale, None, **PLAIN), expected)


@needs_onednn
def test_weights_of_bytes_are_kept_for_bytes_with_and_without_a_sign_apart():
    w, scale, pack = bytes_of(64, 64, 3, 3, signed=True), np.ones(64, np.float32), {}
    for signed in (True, False, True):
        x = bytes_of(2, 64, 14, 14, signed=signed)
        expected = REFERENCE.conv_2d_int8(x, w, scale, None, **PLAIN)
        np.testing.assert_array_equal(FAST.conv_2d_int8(x, w, scale, None, pack=pack, **PLAIN), expected)
    # our own kernel widens both alike; sums in float32 keep none
    assert len(pack) == (2 if library().has_int8 else has_int8_sums())


@needs_onednn
@pytest.mark.parametrize("groups", [1, 64])
def test_a_photo_has_the_same_bytes_alone_and_in_company(groups):
    x, w = bytes_of(8, 64, 14, 14, signed=False), bytes_of(64, 64 // groups, 3, 3, signed=True)
    scale, b = np.abs(draw(64)) / 30000, draw(64)
    how = PLAIN | {"groups": groups, "activation": "swish", "alpha": 1.0}
    together = FAST.conv_2d_int8(x, w, scale, b, **how)
    for k in range(8):
        np.testing.assert_array_equal(FAST.conv_2d_int8(x[k : k + 1], w, scale, b, **how), together[k : k + 1])


@needs_onednn
@pytest.mark.parametrize("isa", ["AVX2", "AVX512_CORE", "AVX512_CORE_VNNI"])
def test_other_processors_compute_the_same(isa):
    """oneDNN is told to forget the newest instructions: sums of bytes stay right, and the facts say how."""
    code = (
        f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
        "import test_quantized_agreement as t\n"
        "from cvzoo.backends.facts import backend_facts\n"
        "t.test_the_largest_sums_do_not_overflow(t.FAST)\n"
        "for case in t.CONVS[:9:2]:\n"
        "    for signed in (True, False):\n"
        "        t.test_convolutions_of_bytes_agree(case, t.GEOMETRIES[0], signed)\n"
        "t.test_what_is_added_may_be_bytes('relu', 1, False)\n"
        "t.test_bits_of_bfloat16_are_read_added_and_given(1)\n"
        "print(backend_facts()['int8'])\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "ONEDNN_MAX_CPU_ISA": isa},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    is_fast = "VNNI" in isa and library().has_int8  # of this process, which may use all instructions
    own = "yes, by our own kernels" if has_int8_sums() else "right but no faster"
    assert result.stdout.startswith("yes, by instructions" if is_fast else own)


@needs_onednn
@pytest.mark.parametrize("case", CONVS, ids=str)
def test_convolutions_of_bfloat16_agree(case):
    b, c, o, groups, size, ksize = case
    x, w, bias = draw(b, c, *size), draw(o, c // groups, *ksize), draw(o)
    how = PLAIN | {"groups": groups, "pad": (2, 2, 2, 2)}
    plain = REFERENCE.conv_2d(x, w, bias, **how)
    add = draw(*plain.shape, seed=5)
    pack = {}
    for each in ({}, {"add": add, "activation": "relu"}):
        expected = REFERENCE.conv_2d_bf16(x, w, bias, **how, **each)
        for _ in range(2):
            fast = FAST.conv_2d_bf16(x, w, bias, pack=pack, **how, **each)
            assert_near(fast, expected)
    if x.size:
        assert 1e-5 < np.abs(REFERENCE.conv_2d_bf16(x, w, bias, **how) - plain).max() < 0.02 * np.abs(plain).max()


@needs_onednn
@pytest.mark.parametrize("groups", [1, 32])
def test_bits_of_bfloat16_are_read_added_and_given(groups):
    x, add = to_bits(draw(2, 32, 9, 9)), to_bits(draw(2, 32, 9, 9, seed=7))
    w, b = draw(32, 32 // groups, 3, 3), draw(32)
    how = PLAIN | {"groups": groups, "activation": "relu"}
    expected = REFERENCE.conv_2d_bf16(from_bits(x), w, b, add=from_bits(add), **how)
    for backend in (REFERENCE, FAST):
        assert_near(backend.conv_2d_bf16(x, w, b, add=add, **how), expected)
        y = backend.conv_2d_bf16(x, w, b, add=add, out_bits=True, **how)
        assert y.dtype == np.uint16
        np.testing.assert_allclose(from_bits(y), expected, rtol=2**-7, atol=1e-5)
        assert (y != to_bits(expected)).mean() < 0.01  # a last bit of a float may decide


@pytest.mark.parametrize("backend", BACKENDS)
def test_bits_of_what_is_no_number_are_none_of_one(backend):
    x = np.array([1.0, np.inf, -np.inf, np.nan, -0.0], np.float32)
    x[3:4].view(np.uint32)[:] = 0x7F800001  # what makes it NaN stands in the last bit
    assert from_bits(to_bits(x)).tobytes() == np.array([1.0, np.inf, -np.inf, np.nan, -0.0], np.float32).tobytes()
    w = np.ones((1, 1, 1, 1), np.float32)
    y = backend.conv_2d_bf16(x[:3, None, None, None], w, None, out_bits=True, **(PLAIN | {"pad": (0, 0, 0, 0)}))
    assert from_bits(y).ravel().tolist() == [1.0, np.inf, -np.inf]


@pytest.mark.parametrize("backend", BACKENDS)
def test_factors_are_rounded_half_to_even(backend):
    x = np.array([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-7, -3.0, 2.0**100], np.float32)[:, None, None, None]
    y = backend.conv_2d_bf16(x, np.ones((1, 1, 1, 1), np.float32), None, **(PLAIN | {"pad": (0, 0, 0, 0)}))
    assert y.ravel().tolist() == [1, 1 + 2**-6, 1 + 2**-7, -3.0, 2.0**100]
