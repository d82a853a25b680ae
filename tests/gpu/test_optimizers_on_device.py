"""Updates, loss scaling and random numbers on a real GPU, against the CPU."""

import numpy as np
import pytest
from philox import philox_blocks, standard_normal, uniform_float32

import cvzoo
from cvzoo import optimizers
from cvzoo.backends.cuda import random_numbers
from cvzoo.backends.cupy.library import cupy, why_no_cupy
from cvzoo.config.randomness import reserve_device_blocks

REASON = why_no_cupy()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(REASON is not None, reason=str(REASON))]
SHAPES = {"W": (301, 400), "b": (30,), "c": (3, 4, 5, 5), "scalar": ()}
OPTIMIZERS = {
    cls.__name__: cls
    for cls in (
        optimizers.SGD,
        optimizers.MomentumSGD,
        optimizers.NesterovAG,
        optimizers.AdaGrad,
        optimizers.AdaDelta,
        optimizers.RMSprop,
        optimizers.Adam,
        optimizers.AdamW,
        optimizers.AMSGrad,
        optimizers.LARS,
        optimizers.LAMB,
    )
}


class Parameters(cvzoo.Link):
    """Parameters by name."""

    def __init__(self, dtype):
        rng = np.random.default_rng(0)
        with self.init_scope():
            for name, shape in SHAPES.items():
                param = cvzoo.Parameter(0, shape)
                param.array = np.asarray(rng.normal(size=shape), dtype)
                setattr(self, name, param)


class Run:
    """An optimizer on a device, with gradients from a generator."""

    def __init__(self, make, place, dtype="float32", hooks=()):
        self.link = Parameters(dtype)
        self.link.to_device(place)
        self.optimizer = make().setup(self.link)
        for hook in hooks:
            self.optimizer.add_hook(hook)
        self.rng = np.random.default_rng(1)
        self.to = cupy().asarray if place != "cpu" else np.asarray

    def step(self, spoil=False):
        for name, param in sorted(self.link.namedparams()):
            grad = np.asarray(self.rng.normal(size=param.shape), param.dtype)
            if spoil and name == "/W":
                grad[300, 399] = np.inf
            param.grad = self.to(grad)
        self.optimizer.update()

    def values(self):
        return {path: self.link.state_arrays()[path] for path in SHAPES}


def near(one, other, tolerance):
    for path, value in one.values().items():
        np.testing.assert_allclose(other.values()[path], value, rtol=tolerance, atol=tolerance)


def hooks():
    return optimizers.WeightDecay(0.1), optimizers.GradientClipping(50.0), optimizers.ExponentialMovingAverage(0.9)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-6), ("float64", 1e-12)])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_twenty_steps_are_those_of_the_cpu(name, dtype, tolerance):
    cpu, gpu = (Run(OPTIMIZERS[name], place, dtype, hooks()) for place in ("cpu", "gpu:0"))
    for _ in range(20):
        cpu.step()
        gpu.step()
    near(cpu, gpu, tolerance)
    averages = [run.optimizer.get_hook("ExponentialMovingAverage").state()["averages"] for run in (cpu, gpu)]
    for path, average in averages[0].items():
        np.testing.assert_allclose(averages[1][path], average, rtol=tolerance, atol=tolerance)


def test_the_gpu_leaves_out_what_overflows():
    runs = [Run(optimizers.Adam, place, hooks=hooks()) for place in ("cpu", "gpu:0")]
    for run in runs:
        run.optimizer.loss_scaling(interval=2)
        for t in range(9):
            run.step(spoil=t in (2, 3, 7))
    assert runs[0].optimizer.t == runs[1].optimizer.t == 6
    assert runs[0].optimizer.loss_scale == runs[1].optimizer.loss_scale
    near(*runs, 1e-5)


def test_random_numbers_are_those_of_the_reference():
    cvzoo.set_seed(4)
    key, _ = reserve_device_blocks(0)
    words = uniform_float32(philox_blocks(key, 0, 50_000))
    assert np.array_equal(random_numbers.uniform(200_000).get(), words.ravel())
    words = uniform_float32(philox_blocks(key, 50_000, 50_000))
    np.testing.assert_allclose(
        random_numbers.standard_normal(200_000).get(), standard_normal(words).ravel(), rtol=1e-5, atol=1e-5
    )
    kept = random_numbers.kept(1_000_000, 0.3, 2.0, "float16").get()
    np.testing.assert_allclose((kept == 2).mean(), 0.7, atol=2e-3)


def test_replays_draw_on():
    cvzoo.set_seed(4)
    eager = [random_numbers.uniform(1000).get() for _ in range(3)]
    cvzoo.set_seed(4)
    stream = cupy().cuda.Stream(non_blocking=True)
    with stream, random_numbers.recording() as draws:
        stream.begin_capture()
        drawn = random_numbers.uniform(1000)
        graph = stream.end_capture()
    for wanted in eager:
        with stream:
            draws.before_replay()
            graph.launch(stream)
        stream.synchronize()
        assert np.array_equal(drawn.get(), wanted)
