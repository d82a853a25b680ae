"""int8 convolutions by our own kernel: the bits of the reference in NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.backends.dispatch import get_backend
from cvzoo.backends.native.library import why_no_native
from cvzoo.backends.numpy.windows import out_size
from cvzoo.backends.onednn import quantized
from cvzoo.backends.onednn.int8_sums import make_int8_sums
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.backends.onednn.memory import channels_last
from cvzoo.backends.onednn.primitives import local

REASON = why_no_native() or why_no_onednn()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))
REFERENCE = get_backend("numpy")
FAST = REFERENCE if REASON else get_backend("onednn")
EXACT = {None: {}, "relu": {}, "clip": {"alpha": -0.5, "beta": 0.75}, "leaky_relu": {"alpha": 0.1}}
HARD = {"alpha": 1 / 6, "beta": 0.5}
NEAR = {"sigmoid": {}, "swish": {"alpha": 1.5}, "hard_sigmoid": HARD, "hard_swish": HARD}


@pytest.fixture(autouse=True)
def own_kernel(monkeypatch):
    """Also where the processor has instructions of its own, whose kernels other tests may have left in the cache."""
    if not local.ready:
        local.start()
    monkeypatch.setattr(local, "young", {})
    monkeypatch.setattr(local, "old", {})
    monkeypatch.setattr(quantized, "_has_bytes", lambda: False)
    monkeypatch.setattr(quantized, "has_int8_sums", lambda: True)


def bytes_of(rng, shape, dtype):
    low, high = (-128, 128) if dtype == "int8" else (0, 256)
    return rng.integers(low, high, shape).astype(dtype)


def pair(rng, b, c, o, size, ksize, groups=1, source="uint8"):
    x, w = bytes_of(rng, (b, c, *size), source), bytes_of(rng, (o, c // groups, *ksize), "int8")
    return x, w, np.abs(rng.standard_normal(o, np.float32)) / 1000, rng.standard_normal(o, np.float32)


def both(*args, **how):
    made = []
    for backend in (FAST, REFERENCE):
        y = backend.conv_2d_int8(*args, **how)
        made.append((y.dtype, y.tobytes(), y))
    return made


axis = st.tuples(*(st.integers(low, high) for low, high in ((1, 9), (1, 5), (1, 3), (0, 3), (-1, 3), (1, 2))))


@settings(max_examples=60, deadline=None)
@given(
    h=axis,
    w=axis,
    channels=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    depthwise=st.booleans(),
    dtypes=st.tuples(*[st.sampled_from(["uint8", "int8"])] * 3),
    activation=st.sampled_from(sorted(EXACT, key=str)),
    addend=st.sampled_from(["none", "float", "bytes"]),
    in_bytes=st.booleans(),
    has_bias=st.booleans(),
    seed=st.integers(0, 99),
)
def test_any_convolution_has_the_references_bits(
    h, w, channels, depthwise, dtypes, activation, addend, in_bytes, has_bias, seed
):
    rng = np.random.default_rng(seed)
    c, o = channels if not depthwise else (channels[0] + 1,) * 2
    size, ksize, stride, before, after, dilate = zip(h, w)
    pad = (before[0], after[0], before[1], after[1])
    out = [s + a + b - d * (k - 1) - 1 for s, a, b, d, k in zip(size, before, after, dilate, ksize)]
    if min(out) < 0:
        return
    x, filters, scale, bias = pair(rng, 2, c, o, size, ksize, o if depthwise else 1, dtypes[0])
    how = {"stride": stride, "pad": pad, "dilate": dilate, "groups": o if depthwise else 1}
    how |= {"activation": activation, **EXACT[activation]}
    shape = (2, o, *out_size(size, ksize, stride, pad, dilate))
    if addend == "float":
        how |= {"add": rng.standard_normal(shape, np.float32)}
    elif addend == "bytes":
        how |= {"add": bytes_of(rng, shape, dtypes[1]), "add_scale": 0.03}
    if in_bytes:
        how |= {"out_scale": 0.01, "out_signed": dtypes[2] == "int8"}
    fast, reference = both(x, filters, scale, bias if has_bias else None, **how)
    assert fast[:2] == reference[:2]


@pytest.mark.parametrize("groups", [1, 48])
def test_large_maps_are_computed_in_strips(groups):
    x, w, scale, b = pair(np.random.default_rng(0), 2, 48, 48, (150, 70), (3, 3), groups)
    how = {"stride": (2, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": groups, "out_scale": 0.5}
    fast, reference = both(x, w, scale, b, **how)
    assert fast[:2] == reference[:2]


@pytest.mark.parametrize("activation", NEAR)
def test_activations_by_exponentials_are_off_by_a_last_bit(activation):
    x, w, scale, b = pair(np.random.default_rng(0), 2, 24, 40, (9, 9), (3, 3))
    how = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1, "activation": activation}
    fast, reference = both(x, w, scale, b, **how, **NEAR[activation])
    np.testing.assert_allclose(fast[2], reference[2], rtol=2e-6, atol=1e-6)


def test_rows_have_the_references_bits():
    rng = np.random.default_rng(0)
    for n, c, o in ((1, 1, 1), (1, 1280, 100), (13, 257, 70)):
        x, w = bytes_of(rng, (n, c), "uint8"), bytes_of(rng, (o, c), "int8")
        scale, b = np.abs(rng.standard_normal(o, np.float32)), rng.standard_normal(o, np.float32)
        y = FAST.linear_int8(x, w, scale, b)
        assert y.shape == (n, o)
        assert y.tobytes() == REFERENCE.linear_int8(x, w, scale, b).tobytes()


def test_the_largest_sums_are_exact_and_larger_ones_are_left_to_float32():
    assert made_for((1, 65534, 1, 1), (16, 65534, 1, 1))
    assert not made_for((1, 65536, 1, 1), (16, 65536, 1, 1))
    x, w = np.full((1, 65534), 255, np.uint8), np.full((3, 65534), -128, np.int8)
    y = FAST.linear_int8(x, w, np.ones(3, np.float32), None)
    assert y.tolist() == [[np.float32(-255 * 128 * 65534)] * 3]


def made_for(x_shape, w_shape, groups=1, *, has_bias=False, activation=None):
    geometry = (1, 1), (w_shape[2] // 2,) * 4, (1, 1), groups
    u8, f32 = np.dtype(np.uint8), np.dtype(np.float32)
    return make_int8_sums(x_shape, u8, w_shape, has_bias, geometry, None, activation, 0.0, 0.0, None, None, f32)


def test_groups_of_several_channels_and_other_activations_are_left_to_float32():
    assert made_for((1, 32, 4, 4), (32, 1, 3, 3), 32)
    assert not made_for((1, 32, 4, 4), (32, 2, 3, 3), 16)
    assert not made_for((1, 32, 4, 4), (64, 1, 3, 3), 32)
    assert not made_for((1, 32, 4, 4), (32, 32, 3, 3), activation="tanh")


def test_infinities_become_the_last_bytes_and_nan_some_byte():
    x, w = np.full((1, 1, 1, 4), 1, np.uint8), np.ones((17, 1, 1, 1), np.int8)
    b = np.resize(np.array([np.inf, -np.inf, 1e30, np.nan], np.float32), 17)
    how = {"stride": (1, 1), "pad": (0, 0, 0, 0), "dilate": (1, 1), "groups": 1, "out_scale": 1.0}
    y = FAST.conv_2d_int8(x, w, np.ones(17, np.float32), b, **how)
    assert y[0, :3, 0, 0].tolist() == [255, 0, 255]
    y = FAST.conv_2d_int8(x, w, np.ones(17, np.float32), b, out_signed=True, **how)
    assert y[0, :3, 0, 0].tolist() == [127, -128, 127]


@pytest.mark.parametrize("case", [(1, 64, 96, (7, 7), 1), (1, 64, 64, (5, 40), 64), (5, 33, 70, (30, 30), 1)], ids=str)
def test_bits_do_not_depend_on_the_number_of_threads(case, monkeypatch):
    b, c, o, size, groups = case
    x, w, scale, bias = pair(np.random.default_rng(0), b, c, o, size, (3, 3), groups)
    results = set()
    for threads in (1, 2, 3, 4):
        monkeypatch.setattr(local, "threads", threads)
        convolution = made_for(x.shape, w.shape, groups, has_bias=True)
        y = np.empty((b, *size, o), np.float32)
        convolution(channels_last(x), w, bias, None, y, None, scale)
        results.add(y.tobytes())
    assert len(results) == 1
