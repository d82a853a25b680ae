"""Floats of 16 bits on a real GPU: every function against the processor, networks against float32, training."""

import pathlib

import numpy as np
import pytest
from neighbour import module_at

from cvzoo.backends.arrays import to_numpy
from cvzoo.backends.cupy.library import cupy, why_no_cupy
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config

REASON = why_no_cupy()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(REASON is not None, reason=str(REASON))]
_tests = pathlib.Path(__file__).parents[1]
BITS = module_at(_tests / "functions" / "test_sixteen_bits.py")
EVERY = BITS._every
DRAWN = {"dropout", "gaussian", "stochastic_depth"}  # other numbers on a GPU
FAMILIES = module_at(_tests / "links" / "model" / "test_dtypes_of_families.py")
# root mean square, of the largest number
BOUNDS = {"float32": 1e-5, "tf32": 1e-3, "mixed_bf16": 2e-2, "mixed_fp16": 5e-3}


def _there(x):
    if isinstance(x, tuple):
        return tuple([_there(each) for each in x])
    if not isinstance(x, np.ndarray):
        return x
    if x.ndim != 4 or x.dtype.kind in "iu":
        return cupy().asarray(x)
    return cupy().asarray(np.ascontiguousarray(x.transpose(0, 2, 3, 1))).transpose(0, 3, 1, 2)


@pytest.fixture(autouse=True)
def constants(monkeypatch):
    for name, value in vars(EVERY).items():
        if name.isupper() and isinstance(value if not isinstance(value, tuple) else value[0], np.ndarray):
            monkeypatch.setattr(EVERY, name, _there(value))


def _run(function, arrays, place):
    xs = [BITS.Variable(place(x)) for x in arrays]
    y = BITS._first(function(*xs))
    gy = np.random.default_rng(3).normal(size=y.shape).astype("f").astype(y.dtype)
    return [y.array, *[None if gx is None else gx.array for gx in BITS.grad([y], xs, [place(gy)])]]


@pytest.mark.parametrize("dtype", BITS.MODES.values(), ids=str)
@pytest.mark.parametrize("name", sorted({*BITS.CASES} - DRAWN - BITS.ELSEWHERE - {"giou_loss"}))
def test_every_function_of_16_bits_gives_what_the_processor_gives(name, dtype, monkeypatch):
    function, arrays, _ = BITS._inputs(name, dtype)
    got = [None if each is None else to_numpy(each) for each in _run(function, arrays, _there)]
    monkeypatch.undo()  # the constants lie on the processor again
    with using_config("backend", "numpy"), np.errstate(all="ignore"):
        wanted = _run(function, arrays, lambda x: x)
    for i, (a, b) in enumerate(zip(got, wanted)):
        if b is None:
            assert a is None
            continue
        assert a.dtype == b.dtype
        BITS._near(a, b, 8, dtype, f"gradient {i - 1}" if i else "value")


@pytest.mark.parametrize("mode", BOUNDS)
@pytest.mark.parametrize("name", ["CIFARResNet", "ConvNeXt", "VGG", "RetinaNet", "SSD", "SwinTransformer"])
def test_networks_are_near_float32(name, mode):
    room, of_room, _ = FAMILIES.FAMILIES[name]
    model = room._made(of_room).copy()
    x = model.prepare(FAMILIES._photo())[None]
    with using_config("train", False), no_backprop_mode():
        wanted = [y.array for y in FAMILIES._outputs(model, x)]
        model.to_device("gpu:0")
        with using_config("dtype", mode):
            got = [to_numpy(y.array).astype("f") for y in FAMILIES._outputs(model, cupy().asarray(x))]
    for a, b in zip(got, wanted):
        assert np.sqrt(np.mean(np.square(a - b))) <= BOUNDS[mode] * np.abs(b).max()


@pytest.mark.parametrize("replayed", [False, True], ids=["eager", "as a graph"])
@pytest.mark.parametrize("mode", BOUNDS)
def test_a_network_learns(mode, replayed):
    learn = module_at(_tests / "training" / "test_dtypes.py")
    random = np.random.default_rng(0)
    x = random.normal(size=(64, 1, 28, 28)).astype("f")
    t = (x.mean(axis=(1, 2, 3)) > 0).astype("i")
    set_seed(1)
    model = learn.L.Classifier(learn.SmallResNet())
    model.to_device("gpu:0")
    if replayed:
        model.compile(train=True)
    optimizer = learn.Adam(alpha=0.003).setup(model)
    if mode == "mixed_fp16":
        optimizer.loss_scaling()
    losses = []
    with using_config("dtype", mode):
        for _ in range(40):
            optimizer.update(model, cupy().asarray(x), cupy().asarray(t))
            losses.append(float(to_numpy(model.loss.array)))
    assert all(np.isfinite(losses))
    assert losses[-1] < 0.3 * losses[0]
