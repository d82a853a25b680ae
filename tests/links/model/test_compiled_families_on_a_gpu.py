"""Every family's network is one CUDA graph in inference, and gives what it gives without.

The GPU is one that is made up, see tests/support/fake_gpu.
"""

import shutil
import warnings

import numpy as np
import pytest
from neighbour import neighbour

import cvzoo.functions as functions
from cvzoo.autodiff.variable import Variable
from cvzoo.config.randomness import get_random_state, set_random_state
from cvzoo.config.switches import using_config

plain = neighbour(__file__, "test_families_on_a_gpu")
pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ compiles the kernels for the host")


# on the processor they are no whole graphs, either
IN_PARTS = {
    "FasterRCNNVGG16": "chooses regions on the way",
    "LightHeadRCNN": "chooses regions on the way",
    "FCIS": "chooses regions on the way",
    "SegNetBasic": "takes places of maxima from one function to another as a setting",
}
WHOLE = [name for name in plain.SMALLEST if name not in IN_PARTS]


@pytest.mark.parametrize("name", WHOLE)
def test_a_network_is_one_launch_with_the_same_numbers(gpu, name):
    model = plain._made(name)
    x = model.prepare(plain.PHOTO)[None]
    try:
        model.to_device("gpu:0")
        x, other = gpu.cupy.asarray(x), gpu.cupy.asarray(x[..., ::-1].copy())
        wanted = [y.get() for y in plain._outputs(model, other)]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert model.compile(x) is not None
        gpu.recorder.clear()
        with gpu.no_sync(name):
            got = plain._outputs(model, other)
        assert gpu.recorder.counts()["graph_launch"] == 1
    finally:
        model.uncompile()
        model.to_device("cpu")
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted):
        np.testing.assert_allclose(a.get(), b, rtol=0, atol=1e-4 * max(float(np.abs(b).max()), 1e-6))


TRAINED = (
    "CIFARResNet",
    "ResNet",
    "ViT",
    "MobileNetV3 small",
    "SqueezeNet 1.1",
    "GoogLeNet",
    "SSD",
    "YOLOv3",
    "ESPNet",
)


def _step(model, x):
    """Results and gradients."""
    ys = model.forward(x)
    ys = [y for each in (ys if isinstance(ys, tuple) else (ys,)) for y in (each if isinstance(each, list) else [each])]
    model.cleargrads()
    losses = [functions.mean(y * y) for y in ys if isinstance(y, Variable)]
    sum(losses[1:], losses[0]).backward()
    return [p.grad.get() for p in model.params() if p.grad is not None]


@pytest.mark.parametrize("name", TRAINED)
def test_a_training_step_is_two_launches_with_the_same_gradients(gpu, name):
    model = plain._made(name)
    x = model.prepare(plain.PHOTO)[None]
    x = np.concatenate([x, x[..., ::-1]])
    try:
        model.to_device("gpu:0")
        x = gpu.cupy.asarray(x)
        state = get_random_state()
        with using_config("train", True):
            wanted = _step(model, x)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert model.compile(x, train=True) is not None
            set_random_state(state)
            gpu.recorder.clear()
            got = _step(model, x)
        assert gpu.recorder.counts()["graph_launch"] == 2
    finally:
        model.uncompile()
        model.to_device("cpu")
    assert len(got) == len(wanted) > 0
    largest = max(float(np.abs(b).max()) for b in wanted)
    for a, b in zip(got, wanted):
        np.testing.assert_allclose(a, b, rtol=0, atol=max(1e-3 * float(np.abs(b).max()), 1e-5 * largest))
