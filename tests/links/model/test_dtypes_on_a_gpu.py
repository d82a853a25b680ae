"""Families that compute in 16 bits on a GPU: near float32, in the dtypes that the processor gives; nothing waits.

The GPU is one that is made up, see tests/support/fake_gpu.
"""

import contextlib
import shutil

import numpy as np
import pytest
from neighbour import neighbour

import cvzoo.links as L
from cvzoo.backends.arrays import is_device_array
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.links.model.raw_outputs import named_results
from cvzoo.optimizers import MomentumSGD

pytest.importorskip("ml_dtypes")
pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ compiles the kernels for the host")
dtypes = neighbour(__file__, "test_dtypes_of_families")
WAITING = {"FCIS", "FasterRCNNVGG16", "LightHeadRCNN"}  # how many regions there are is asked for
LIGHT = ("CIFARResNet", "ViT", "RetinaNet", "SSD", "UltraLightFace", "MobileNetV3 small", "ConvNeXt")


def _outputs(model, x):
    with using_config("train", False), no_backprop_mode():
        return [y.array for y in dtypes._outputs(model, x)]


@pytest.mark.parametrize("mode", dtypes.MODES)
@pytest.mark.parametrize(
    "name", [name if name in LIGHT else pytest.param(name, marks=pytest.mark.slow) for name in dtypes.SMALLEST]
)
def test_outputs_are_near_float32s(gpu, name, mode):
    room, of_room, let_through = dtypes.FAMILIES[name]
    model = room._made(of_room)
    if let_through is not None:
        let_through(model)
    x = model.prepare(dtypes._photo())[None]
    wanted = dtypes._arrays(model, x)
    with using_config("dtype", mode):
        on_cpu = _outputs(model, x)
    rounding = dtypes._off(
        dtypes._with_rounded_weights(model, dtypes.MODES[mode], lambda: dtypes._arrays(model, x)), wanted
    )
    try:
        model.to_device("gpu:0")
        x = gpu.cupy.asarray(x)
        with using_config("dtype", mode):
            for _ in range(2):  # constants are copied, kernels are compiled
                _outputs(model, x)
            with contextlib.nullcontext() if name in WAITING else gpu.no_sync(name):
                got = _outputs(model, x)
            (found,) = named_results(model.predict([dtypes._photo()]))
    finally:
        model.to_device("cpu")
    assert [y.dtype for y in got] == [y.dtype for y in on_cpu]
    got = [y.get().astype("f") for y in got]
    assert all(np.isfinite(y).all() for y in got)
    if name not in dtypes.CHOOSING:
        off = dtypes._off(got, wanted)
        assert off < max(20 * rounding, 4 * dtypes.STEPS[mode])
    for what, value in found.items():
        array = np.asarray(value)
        if array.dtype.kind not in "iubO":
            assert array.dtype == np.float32, what
            assert np.isfinite(array).all(), what


def _trained(place, mode, machine=None):
    """The parameters after a few steps of a small network, and the loss scale."""
    set_seed(1)
    random = np.random.default_rng(2)
    xs, ts = random.normal(size=(6, 8, 3, 12, 12)).astype("f"), random.integers(0, 4, (6, 8)).astype("i")
    body = L.Sequential(
        L.Convolution2D(3, 8, 3, 1, 1, nobias=True), L.BatchNormalization(8), lambda x: x * 1.5, L.Linear(8 * 144, 4)
    )
    model = L.Classifier(body)
    model.to_device(place)
    optimizer = MomentumSGD(lr=0.02).setup(model)
    if mode == "mixed_fp16":
        optimizer.loss_scaling(scale=256.0)
    with using_config("dtype", mode), using_config("train", True):
        for k, (x, t) in enumerate(zip(xs, ts)):
            x, t = (x, t) if machine is None else (machine.cupy.asarray(x), machine.cupy.asarray(t))
            if machine is None or k < 2:
                optimizer.update(model, x, t)
            else:
                with machine.no_sync("a step"):
                    optimizer.update(model, x, t)
    return [p.array for _, p in sorted(model.namedparams())]


@pytest.mark.parametrize("mode", ["tf32", *dtypes.MODES])
def test_a_network_learns_what_it_learns_on_the_processor(gpu, mode):
    wanted, got = _trained("cpu", mode), _trained("gpu:0", mode, gpu)
    step = dtypes.STEPS.get(mode, 2.0**-11)
    for a, b in zip(got, wanted):
        assert is_device_array(a)
        assert a.dtype == np.float32
        np.testing.assert_allclose(a.get(), b, rtol=0, atol=8 * step * np.abs(b).max())
