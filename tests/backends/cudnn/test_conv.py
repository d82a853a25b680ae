"""Convolutions by cuDNN's graphs, computed by the stand-in: strides, padded channels, what is added, what is kept."""

import itertools
import threading

import ml_dtypes
import numpy as np
import pytest
from fake_gpu.fake_cudnn import COMPILED, installed
from hypothesis import given, settings
from hypothesis import strategies as st

import cvzoo.functions as F
from cvzoo.autodiff.grad import grad
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.abstract import ELTWISE_KINDS
from cvzoo.backends.cudnn import conv, plans
from cvzoo.backends.cudnn.arrangement import Shapes, fitted, whole_channels
from cvzoo.backends.cudnn.plan_store import PlanStore
from cvzoo.backends.numpy import conv as reference
from cvzoo.backends.numpy.windows import out_size
from cvzoo.config.switches import using_config

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = {"float32": np.dtype(np.float32), "float16": np.dtype(np.float16), "bfloat16": BFLOAT16}
ERRORS = {
    "float32": 5e-6,
    "float16": 1e-3,
    "bfloat16": 8e-3,
}  # of the largest number: another order of sums, one rounding
PLAIN = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}

CONVS = [
    # batch, channels in and out, groups, size, window
    (2, 3, 8, 1, (9, 11), (3, 3)),  # a photo's three channels
    (2, 16, 32, 1, (14, 14), (1, 1)),
    (1, 64, 33, 1, (7, 5), (3, 2)),  # odd numbers of channels, an oblong window
    (2, 12, 18, 3, (8, 9), (3, 3)),  # groups
    (1, 1, 1, 1, (5, 5), (5, 5)),  # all sizes 1
    (2, 6, 4, 1, (1, 6), (1, 3)),  # a single row
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


def draw(*shape, dtype="float32", seed=0):
    numbers = np.random.default_rng([seed, *shape]).standard_normal(shape, np.float32)
    return numbers.astype(DTYPES[dtype])


def wide(x):
    return None if x is None else x.astype(np.float32)


def assert_near(got, want, dtype="float32", scale=None):
    assert got.shape == want.shape
    assert got.dtype == DTYPES[dtype]
    got = got.get().astype(np.float32)
    largest = max(np.abs(want).max(initial=0), 1e-3) if scale is None else scale
    np.testing.assert_allclose(got, want, rtol=0, atol=ERRORS[dtype] * largest)


def is_channels_last(x):
    return x.transpose(0, 2, 3, 1).flags.c_contiguous


def bits_of_tf32(x):
    return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def check(machine, x, w, b, add, geometry, dtype, activation=None, *, gy=lambda numbers: numbers):
    """All three convolutions of the arrays against NumPy's. gy: what is done to the gradient that is drawn."""
    to = machine.cupy.array
    wanted = reference.conv_2d(wide(x), wide(w), wide(b), add=wide(add), activation=activation, **geometry)
    device = [None if each is None else to(each) for each in (x, w, b, add)]
    y = conv.conv_2d(*device[:3], add=device[3], activation=activation, **geometry)
    assert_near(y, wanted, dtype)
    assert is_channels_last(y)
    gy = gy(draw(*wanted.shape, dtype=dtype, seed=1))
    size = x.shape[2:]
    wanted = reference.conv_2d_input_grad(wide(gy), wide(w), size, **geometry)
    gx = conv.conv_2d_input_grad(to(gy), device[1], size, **geometry)
    assert_near(gx, wanted, dtype)
    assert is_channels_last(gx)
    more = draw(*x.shape, dtype=dtype, seed=2)
    gx = conv.conv_2d_input_grad(to(gy), device[1], size, add=to(more), **geometry)
    assert_near(gx, wanted + wide(more), dtype)
    wanted = reference.conv_2d_weight_grad(wide(x), wide(gy), w.shape[2:], **geometry)
    gw = conv.conv_2d_weight_grad(device[0], to(gy), w.shape[2:], **geometry)
    norm = np.sqrt((wide(x) ** 2).sum() * (wide(gy) ** 2).sum())
    assert_near(gw, wanted, dtype, max(norm / 10, np.abs(wanted).max(), 1e-3))
    assert gw.flags.c_contiguous


@pytest.mark.parametrize("case", CONVS, ids=str)
def test_convolutions_agree_in_tf32(gpu, case):
    machine, _ = gpu
    b, c, o, groups, size, ksize = case
    for stride, pad, dilate in GEOMETRIES[:4]:
        if not fits(size, ksize, stride, pad, dilate):
            continue
        geometry = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
        # what has no more than the 10 bits behind the point that tensor cores read is multiplied exactly
        x, w, bias = (bits_of_tf32(draw(*shape)) for shape in ((b, c, *size), (o, c // groups, *ksize), (o,)))
        out = out_size(size, ksize, stride, pad, dilate)
        with using_config("dtype", "tf32"):
            check(machine, x, w, bias, draw(b, o, *out, seed=3), geometry, "float32", "relu", gy=bits_of_tf32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "case",
    [
        (3, 64, (23, 22), (7, 7), (2, 2), (3, 3, 3, 3)),  # ResNet's first
        (3, 8, (21, 19), (3, 3), (2, 2), (0, 1, 0, 1)),  # MobileNet's, padded at the end
        (3, 24, (16, 20), (4, 4), (4, 4), (0, 0, 0, 0)),  # patches
        (3, 8, (35, 31), (11, 11), (4, 4), (2, 2, 2, 2)),  # AlexNet's
        (1, 8, (9, 13), (3, 5), (1, 3), (1, 1, 2, 2)),  # blocks of one row
        (2, 5, (9, 9), (3, 3), (3, 2), (0, -1, 1, -2)),
        (3, 8, (9, 9), (1, 1), (2, 2), (0, 0, 0, 0)),  # windows that see less than their stride
    ],
    ids=str,
)
def test_few_channels_become_blocks(gpu, case, dtype):
    machine, _ = gpu
    c, o, size, ksize, stride, pad = case
    geometry = {"stride": stride, "pad": pad, "dilate": (1, 1), "groups": 1}
    arrays = [draw(2, c, *size, dtype=dtype), draw(o, c, *ksize, dtype=dtype), draw(o, dtype=dtype)]
    out = out_size(size, ksize, stride, pad)
    check(machine, *arrays, draw(2, o, *out, dtype=dtype, seed=3), geometry, dtype, "relu")


def test_the_first_layer_has_full_tensor_cores():
    shapes = Shapes(
        (8, 3, 224, 224), 64, (112, 112), (7, 7), BFLOAT16, (2, 2), (3, 3, 3, 3), (1, 1), 1, strict=True, may_block=True
    )
    assert shapes.x == (8, 16, 115, 115)
    assert shapes.w == (64, 16, 4, 4)
    assert shapes.y == (8, 64, 112, 112)
    assert shapes.window == ((0, 0), (0, 0), (1, 1), (1, 1))
    assert (shapes.block, shapes.begin) == ((2, 2), (3, 3))


def fits(size, ksize, stride, pad, dilate):
    return min(size[k] + pad[2 * k] + pad[2 * k + 1] - dilate[k] * (ksize[k] - 1) - 1 for k in (0, 1)) >= 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CONVS, ids=str)
def test_convolutions_agree(gpu, case, dtype):
    machine, fake = gpu
    b, c, o, groups, size, ksize = case
    for stride, pad, dilate in GEOMETRIES:
        if not fits(size, ksize, stride, pad, dilate):
            continue
        before = len(fake.calls)
        settings = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
        out = out_size(size, ksize, stride, pad, dilate)
        arrays = [draw(b, c, *size, dtype=dtype), draw(o, c // groups, *ksize, dtype=dtype), draw(o, dtype=dtype)]
        check(machine, *arrays, draw(b, o, *out, dtype=dtype, seed=3), settings, dtype, "relu")
        assert sum(call[0] == "cudnnBackendExecute" for call in fake.calls[before:]) == 4


@settings(max_examples=60)
@given(data=st.data())
def test_any_convolution_agrees(fake_gpu_of_module, data):
    machine, _ = fake_gpu_of_module
    pick = data.draw
    groups = pick(st.integers(1, 3))
    c, o = groups * pick(st.integers(2, 9)), groups * pick(st.integers(1, 9))
    size, ksize, stride, dilate = ((pick(st.integers(1, top)), pick(st.integers(1, top))) for top in (12, 4, 3, 2))
    pad = tuple(pick(st.integers(least, 3)) for least in (0, -2, 0, -2))
    if not fits(size, ksize, stride, pad, dilate):
        return
    dtype = pick(st.sampled_from(sorted(DTYPES)))
    geometry = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
    b = pick(st.integers(1, 3))
    out = out_size(size, ksize, stride, pad, dilate)
    bias = draw(o, dtype=dtype) if pick(st.booleans()) else None
    add = draw(b, o, *out, dtype=dtype, seed=3) if pick(st.booleans()) else None
    x, w = draw(b, c, *size, dtype=dtype), draw(o, c // groups, *ksize, dtype=dtype)
    check(machine, x, w, bias, add, geometry, dtype, pick(st.sampled_from([None, "relu"])))


@pytest.fixture(scope="module")
def fake_gpu_of_module():
    from fake_gpu.install import fake_gpu

    with fake_gpu() as machine, installed(machine) as fake:
        yield machine, fake


@pytest.mark.parametrize("case", list(itertools.product([False, True], repeat=3)), ids=str)
def test_bias_add_and_relu_are_part_of_one_kernel(gpu, case):
    machine, fake = gpu
    has_bias, has_add, relu = case
    for o in (8, 5):
        x, w = draw(2, 8, 6, 6, dtype="bfloat16"), draw(o, 8, 3, 3, dtype="bfloat16")
        bias = draw(o, dtype="bfloat16") if has_bias else None
        add = draw(2, o, 6, 6, dtype="bfloat16", seed=1) if has_add else None
        check(machine, x, w, bias, add, PLAIN, "bfloat16", "relu" if relu else None)
    names = {call[1] for call in fake.calls if call[0] == "cudnnBackendExecute" and "forward" in call[1]}
    want = ["forward"]
    if has_bias or has_add or relu:
        want += ["add"] * has_add + ["add"] + ["relu"] * relu
    assert names == {"-".join(want)}


@pytest.mark.parametrize("activation", [None, *ELTWISE_KINDS])
def test_any_activation_follows(gpu, activation):
    machine, _ = gpu
    x, w, b, add = draw(2, 8, 5, 5), draw(16, 8, 3, 3), draw(16), draw(2, 16, 5, 5)
    alpha, beta = (0.5, 2.0) if activation != "clip" else (-0.5, 0.5)
    if activation in ("log", "sqrt"):
        x, w, b, add = np.abs(x), np.abs(w), np.abs(b), np.abs(add)
    if activation == "exp":
        w = w / 10
    told = PLAIN | {"activation": activation, "alpha": alpha, "beta": beta}
    device = [machine.cupy.array(each) for each in (x, w, b, add)]
    y = conv.conv_2d(*device[:3], add=device[3], **told)
    want = reference.conv_2d(x, w, b, add=add, **told)
    np.testing.assert_allclose(y.get(), want, rtol=1e-5, atol=1e-5 * np.abs(want).max())
    for array, copy in zip(device, (x, w, b, add)):
        np.testing.assert_array_equal(array.get(), copy)


def test_a_second_call_of_a_kind_is_one_call_of_c(gpu):
    machine, fake = gpu
    cupy = machine.cupy
    x, w, b = (cupy.array(draw(*shape)) for shape in ((2, 8, 6, 6), (8, 8, 1, 1), (8,)))
    x = x.transpose(0, 2, 3, 1).copy().transpose(0, 3, 1, 2)
    gy = x.copy(order="K")
    calls = [
        lambda: conv.conv_2d(x, w, b, **PLAIN | {"pad": (0, 0, 0, 0)}),
        lambda: conv.conv_2d_input_grad(gy, w, (6, 6), **PLAIN | {"pad": (0, 0, 0, 0)}),
        lambda: conv.conv_2d_weight_grad(x, gy, (1, 1), **PLAIN | {"pad": (0, 0, 0, 0)}),
    ]
    for call in calls:
        for _ in range(2):
            call()  # results of the second call lie where those of the first did, which nobody keeps
        before = len(fake.calls), len(machine.recorder)
        call()
        assert [name for name, *_ in fake.calls[before[0] :]] == ["cudnnBackendExecute"]
        assert [entry.kind for entry in machine.recorder[before[1] :] if entry.kind not in ("alloc", "free")] == [
            "launch"
        ]


def test_nothing_waits_for_the_device(gpu):
    machine, _ = gpu
    arrays = [draw(2, 3, 9, 9, dtype="float16"), draw(5, 3, 3, 3, dtype="float16"), draw(5, dtype="float16")]
    x, w, b = (machine.cupy.array(each) for each in arrays)
    with machine.no_sync():
        y = conv.conv_2d(x, w, b, activation="relu", pack={}, **PLAIN)
        conv.conv_2d_input_grad(y, w, (9, 9), add=x, **PLAIN)
        conv.conv_2d_weight_grad(x, y, (3, 3), **PLAIN)


def test_weights_are_turned_once_where_their_owner_keeps_them(gpu):
    machine, _ = gpu
    x, w = machine.cupy.array(draw(2, 8, 6, 6)), machine.cupy.array(draw(8, 8, 3, 3))
    pack = {}
    first = conv.conv_2d(x, w, None, pack=pack, **PLAIN)
    assert len(pack) == 1
    w[...] = 0  # the owner has not emptied `pack`: the kept copy is what counts
    np.testing.assert_array_equal(conv.conv_2d(x, w, None, pack=pack, **PLAIN).get(), first.get())
    pack.clear()
    assert not conv.conv_2d(x, w, None, pack=pack, **PLAIN).get().any()


def test_weights_that_lie_well_are_not_copied(gpu):
    machine, _ = gpu
    x, w = machine.cupy.array(draw(2, 8, 6, 6)), machine.cupy.array(draw(8, 8, 1, 1))
    pack = {}
    conv.conv_2d(x, w, None, pack=pack, **PLAIN | {"pad": (0, 0, 0, 0)})
    assert pack == {}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_views_in_any_order_and_at_any_address_are_fine(gpu, dtype):
    machine, _ = gpu
    cupy = machine.cupy
    big = cupy.array(draw(2, 11, 12, 19, dtype=dtype)).transpose(0, 3, 1, 2)
    w = cupy.array(draw(9, 10, 4, 9, dtype=dtype)).transpose(0, 3, 1, 2)[1:, 1:, :3, 1:4]
    bias = cupy.array(draw(9, dtype=dtype))[1:]
    views = [big[:, 3:11, 1:10, 2:10], big[:, 8:0:-1, ::-1, :8][:, :, 1:10], big[:, 1:9, 2:11, 3:11]]
    views.append(cupy.array(draw(2, 8, 9, 8, dtype=dtype)))
    flat = cupy.array(draw(2 * 9 * 8 * 8 + 1, dtype=dtype))[1:]
    views.append(flat.reshape(2, 9, 8, 8).transpose(0, 3, 1, 2))  # dense, at an odd address
    for x in views:
        want = reference.conv_2d(wide(x.get()), wide(w.get()), wide(bias.get()), **PLAIN)
        before = x.get()
        assert_near(conv.conv_2d(x, w, bias, **PLAIN), want, dtype)
        np.testing.assert_array_equal(x.get(), before)


def test_float64_integers_depthwise_and_nothing_at_all_go_to_the_other_backend(gpu):
    machine, fake = gpu
    to = machine.cupy.array
    cases = [
        (draw(2, 4, 6, 6).astype(np.float64), draw(3, 4, 3, 3).astype(np.float64), 1),
        (draw(2, 4, 6, 6), draw(4, 1, 3, 3), 4),
        (draw(0, 4, 6, 6), draw(3, 4, 3, 3), 1),
    ]
    for x, w, groups in cases:
        geometry = PLAIN | {"groups": groups}
        y = conv.conv_2d(to(x), to(w), None, **geometry)
        np.testing.assert_allclose(y.get(), reference.conv_2d(x, w, None, **geometry), rtol=1e-5, atol=1e-5)
        gx = conv.conv_2d_input_grad(y, to(w), (6, 6), **geometry)
        gw = conv.conv_2d_weight_grad(to(x), y, (3, 3), **geometry)
        assert (gx.shape, gw.shape) == (x.shape, w.shape)
    assert not [call for call in fake.calls if call[0] == "cudnnBackendExecute"]


def test_without_a_plan_the_other_backend_computes(gpu):
    machine, fake = gpu
    fake.engines = {mode: [] for mode in fake.engines}
    check(machine, draw(2, 8, 6, 6), draw(8, 8, 3, 3), draw(8), draw(2, 8, 6, 6, seed=3), PLAIN, "float32", "relu")
    planned = len(fake.calls)
    check(machine, draw(2, 8, 6, 6), draw(8, 8, 3, 3), draw(8), draw(2, 8, 6, 6, seed=3), PLAIN, "float32", "relu")
    assert len(fake.calls) == planned  # that there is none is remembered
    assert not [call for call in fake.calls if call[0] == "cudnnBackendExecute"]


def test_without_a_fused_plan_the_rest_follows(gpu):
    machine, fake = gpu
    offered = fake._offered
    fake._offered = lambda asked: offered(asked) if len(fake.objects[asked.values[201][0]].what) == 1 else []
    check(machine, draw(2, 8, 6, 6), draw(5, 8, 3, 3), draw(5), draw(2, 5, 6, 6, seed=3), PLAIN, "float32", "relu")
    assert ("cudnnBackendExecute", "forward") in fake.calls


def test_float32_is_float32_unless_tf32_is_asked_for(gpu):
    machine, _ = gpu
    x, w = draw(2, 8, 6, 6), draw(8, 8, 3, 3)
    want = reference.conv_2d(x, w, None, **PLAIN)
    largest = np.abs(want).max()
    y = conv.conv_2d(machine.cupy.array(x), machine.cupy.array(w), None, **PLAIN).get()
    assert np.abs(y - want).max() < 1e-6 * largest
    with using_config("dtype", "tf32"):
        y = conv.conv_2d(machine.cupy.array(x), machine.cupy.array(w), None, **PLAIN).get()
    assert 1e-5 * largest < np.abs(y - want).max() < 2e-3 * largest
    y = conv.conv_2d(machine.cupy.array(x), machine.cupy.array(w), None, **PLAIN).get()
    assert np.abs(y - want).max() < 1e-6 * largest


def test_measured_plans_are_for_who_asks(gpu):
    machine, fake = gpu
    x, w = machine.cupy.array(draw(2, 8, 6, 6)), machine.cupy.array(draw(8, 8, 3, 3))
    with using_config("autotune", True):
        conv.conv_2d(x, w, None, **PLAIN)
        executed = sum(call[0] == "cudnnBackendExecute" for call in fake.calls)
        assert executed == 2 * 8 + 1  # two kernels keep to the rules: one run and seven measured ones each
        conv.conv_2d(x, w, None, **PLAIN)
        assert sum(call[0] == "cudnnBackendExecute" for call in fake.calls) == executed + 1
    conv.conv_2d(x, w, None, **PLAIN)
    assert sum(call[0] == "cudnnBackendExecute" for call in fake.calls) == executed + 2


def test_kernels_to_compile_are_measured_too(gpu):
    machine, fake = gpu
    x, w = (machine.cupy.array(draw(*shape, dtype="float16")) for shape in ((2, 8, 6, 6), (8, 8, 3, 3)))
    with using_config("autotune", True):
        conv.conv_2d(x, w, None, **PLAIN)
    # tensor cores, none, the fallback's, and the one that is compiled
    assert sum(call[0] == "cudnnBackendExecute" for call in fake.calls) == 4 * 8 + 1


def test_every_device_has_its_own_handle(fake_gpu):
    with fake_gpu(devices=2) as machine, installed(machine) as fake:
        for device in (0, 1, 0):
            with machine.cupy.cuda.Device(device):
                x, w = machine.cupy.array(draw(2, 8, 6, 6)), machine.cupy.array(draw(8, 8, 3, 3))
                y = conv.conv_2d(x, w, None, **PLAIN)
                assert y.device.id == device
                assert_near(y, reference.conv_2d(x.get(), w.get(), None, **PLAIN))
                del x, w, y
        assert sum(call[0] == "cudnnCreate" for call in fake.calls) == 2


def test_functions_differentiate_twice(gpu):
    machine, fake = gpu
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape, np.float32) for shape in ((2, 3, 7, 7), (5, 3, 3, 3), (5,))]

    def gradients(device):
        x, w, b = (Variable(device(array)) for array in arrays)
        y = F.convolution_2d(x, w, b, stride=2, pad=1)
        gx, gw = grad([F.sum(y * y)], [x, w], enable_double_backprop=True)
        again = grad([F.sum(gx * gx) + F.sum(gw * gw)], [x, w, b])
        return [y, gx, gw, *again]

    with using_config("backend", "numpy"):
        wanted = gradients(lambda array: array)
    with using_config("backend", "cudnn"):
        got = gradients(machine.cupy.array)
    for one, other in zip(got, wanted):
        want = other.array
        np.testing.assert_allclose(one.array.get(), want, rtol=0, atol=2e-5 * np.abs(want).max())
    names = {call[1] for call in fake.calls if call[0] == "cudnnBackendExecute"}
    assert names == {"forward", "forward-add", "input_grad", "weight_grad"}


def test_plans_are_found_on_the_disk_by_the_next_process(gpu):
    machine, fake = gpu
    x, w = machine.cupy.array(draw(2, 8, 6, 6)), machine.cupy.array(draw(8, 8, 3, 3))
    with using_config("autotune", True):
        first = conv.conv_2d(x, w, None, **PLAIN).get()
        conv.forget_calls()
        plans.forget_plans()
        before = len(fake.calls)
        np.testing.assert_array_equal(conv.conv_2d(x, w, None, **PLAIN).get(), first)
    again = fake.calls[before:]
    assert [call for call in again if call[0] == "cudnnBackendExecute"] == [("cudnnBackendExecute", "forward")]
    assert ("cudnnBackendFinalize", "HEURISTICS") not in again
    assert ("cudnnBackendFinalize", "PLAN") in again


def test_a_damaged_plan_on_the_disk_is_made_anew(gpu, monkeypatch):
    machine, fake = gpu
    x, w = machine.cupy.array(draw(2, 8, 6, 6)), machine.cupy.array(draw(8, 8, 3, 3))
    first = conv.conv_2d(x, w, None, **PLAIN).get()
    conv.forget_calls()
    plans.forget_plans()
    monkeypatch.setattr("cvzoo.backends.cudnn.plan_store._digest", lambda *row: b"")  # all are believed
    (file,) = (plans.cvzoo_home() / "plans").iterdir()
    store = PlanStore(file)
    with store._opened(to_write=True) as connection:
        connection.execute("UPDATE plans SET plan = ?, digest = ?", (b"no plan", b""))
    np.testing.assert_array_equal(conv.conv_2d(x, w, None, **PLAIN).get(), first)
    assert ("cudnnBackendFinalize", "HEURISTICS") in fake.calls


def test_each_thread_has_a_handle_and_threads_share_plans(gpu):
    machine, fake = gpu
    x, w = machine.cupy.array(draw(2, 8, 6, 6)), machine.cupy.array(draw(8, 8, 3, 3))
    results = []

    def work():
        results.append(conv.conv_2d(x, w, None, **PLAIN).get())
        conv.forget_calls()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
        thread.join()
    assert sum(call[0] == "cudnnCreate" for call in fake.calls) == 3
    assert sum(call == ("cudnnBackendFinalize", "PLAN") for call in fake.calls) == 1
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_the_stream_is_set_when_it_changes(gpu):
    machine, fake = gpu
    x, w = machine.cupy.array(draw(2, 8, 6, 6)), machine.cupy.array(draw(8, 8, 3, 3))
    for _ in range(2):
        conv.conv_2d(x, w, None, **PLAIN)
    with machine.cupy.cuda.Stream(non_blocking=True):
        for _ in range(2):
            conv.conv_2d(x, w, None, **PLAIN)
    conv.conv_2d(x, w, None, **PLAIN)
    assert sum(call[0] == "cudnnSetStream" for call in fake.calls) == 3


def test_calls_can_be_captured_and_replayed(gpu):
    machine, _ = gpu
    cupy = machine.cupy
    pool, stream = cupy.cuda.MemoryPool(), cupy.cuda.Stream(non_blocking=True)
    x, w, b = cupy.array(draw(2, 3, 6, 6)), cupy.array(draw(5, 3, 3, 3)), cupy.array(draw(5))
    with stream, cupy.cuda.using_allocator(pool.malloc):
        conv.conv_2d(x, w, b, activation="relu", **PLAIN)
        stream.synchronize()
        stream.begin_capture()
        y = conv.conv_2d(x, w, b, activation="relu", **PLAIN)
        graph = stream.end_capture()
    x[...] = cupy.array(draw(2, 3, 6, 6, seed=7))
    graph.launch(stream)
    stream.synchronize()
    want = reference.conv_2d(draw(2, 3, 6, 6, seed=7), w.get(), b.get(), activation="relu", **PLAIN)
    assert_near(y, want)


def test_with_autotune_a_capture_is_not_disturbed(gpu):
    machine, _ = gpu
    cupy = machine.cupy
    stream = cupy.cuda.Stream(non_blocking=True)
    x, w = cupy.array(draw(2, 8, 6, 6)), cupy.array(draw(8, 8, 3, 3))
    with stream, using_config("autotune", True):
        cupy.empty(1)
        stream.begin_capture()
        y = conv.conv_2d(x, w, None, **PLAIN)
        stream.end_capture().launch(stream)
        stream.synchronize()
    assert_near(y, reference.conv_2d(x.get(), w.get(), None, **PLAIN))


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_channels_are_filled_up_where_tensor_cores_are(dtype):
    full = 4 if dtype == np.float32 else 8
    assert whole_channels(3, dtype, 1, False) == full
    assert whole_channels(2 * full, dtype, 1, False) == 2 * full
    assert whole_channels(3, dtype, 3, False) == 3
    assert whole_channels(3, dtype, 1, True) == (3 if dtype == np.float32 else 8)


@given(st.data())
def test_the_fitted_window_gives_the_same_places(data):
    number = lambda low, high: (data.draw(st.integers(low, high)), data.draw(st.integers(low, high)))  # noqa: E731
    size, ksize, stride, dilate = number(1, 20), number(1, 5), number(1, 4), number(1, 3)
    pad = tuple(data.draw(st.integers(low, 5)) for low in (0, -3, 0, -3))
    if not fits(size, ksize, stride, pad, dilate):
        return
    out = out_size(size, ksize, stride, pad, dilate)
    window, kept = fitted(size, out, ksize, stride, pad, dilate)
    assert (window.pre, window.stride, window.dilate) == ((pad[0], pad[2]), stride, dilate)
    assert min(window.post) >= 0
    assert all(k <= n for k, n in zip(kept, size))
    full = (window.pre[0], window.post[0], window.pre[1], window.post[1])
    assert out_size(kept, ksize, stride, full, dilate) == out


def test_old_plans_go_but_for_those_that_were_compiled(gpu, monkeypatch):
    machine, fake = gpu
    monkeypatch.setattr(plans, "_MOST_PLANS", 2)
    fake.engines = {mode: [COMPILED] for mode in fake.engines}
    w = machine.cupy.array(draw(8, 8, 3, 3, dtype="float16"))
    with using_config("autotune", True):
        for size in range(4, 9):
            conv.conv_2d(machine.cupy.array(draw(1, 8, size, size, dtype="float16")), w, None, **PLAIN)
        assert (len(plans._plans), len(plans._compiled)) == (2, 3)
        plans.forget_plans()
        conv.forget_calls()
        for size in range(4, 9):
            conv.conv_2d(machine.cupy.array(draw(1, 8, size, size, dtype="float16")), w, None, **PLAIN)
        assert (len(plans._plans), len(plans._compiled)) == (2, 3)  # the disk knows, too


def test_zeros_that_a_capture_has_not_written_yet_are_nobody_elses(gpu):
    machine, _ = gpu
    cupy = machine.cupy
    x, w = cupy.array(draw(2, 8, 6, 6)), cupy.array(draw(8, 8, 3, 3))
    want = reference.conv_2d(x.get(), w.get(), None, activation="relu", **PLAIN)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        cupy.empty(1)
        stream.begin_capture()
        y = conv.conv_2d(x, w, None, activation="relu", **PLAIN)
        graph = stream.end_capture()
        assert_near(conv.conv_2d(x, w, None, activation="relu", **PLAIN), want)
        graph.launch(stream)
        stream.synchronize()
    assert_near(y, want)
