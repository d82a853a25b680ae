"""A GPU (one that is made up) decides about loss scaling by the rule of the CPU, and nobody waits for it."""

import numpy as np
import pytest

from cvzoo import optimizers
from cvzoo.backends.device import get_device

BAD = {2, 3, 7}  # updates whose gradients overflow


class Run:
    def __init__(self, make_parameters, place, make=optimizers.Adam, hooks=(), **scaling):
        rng = np.random.default_rng(0)
        self.link = make_parameters({"W": rng.normal(size=(70, 200)), "b": rng.normal(size=70)})
        self.device = get_device(place)
        self.link.to_device(place)
        self.optimizer = make().setup(self.link)
        self.optimizer.loss_scaling(**scaling)
        for hook in hooks:
            self.optimizer.add_hook(hook)
        self.rng = np.random.default_rng(1)

    def step(self, t, scale):
        for param in self.link.params(False):
            grad = self.rng.normal(size=param.shape).astype("float32") * np.float32(scale)
            if t in BAD and param.ndim == 2:
                grad[69, 199] = np.nan if t == 3 else np.inf
            param.grad = self.device.asarray(grad)
        self.optimizer.update()

    def values(self):
        arrays = {path: param.array for path, param in self.link.namedparams()}
        return {path: a if isinstance(a, np.ndarray) else a.get() for path, a in arrays.items()}


def same(one, other):
    for path, value in one.values().items():
        np.testing.assert_allclose(other.values()[path], value, rtol=1e-6, atol=1e-7)


HOOKS = {
    "no hooks": lambda: [],
    "hooks": lambda: [
        optimizers.WeightDecay(0.1),
        optimizers.GradientClipping(1.0),
        optimizers.ExponentialMovingAverage(0.9),
    ],
}


@pytest.mark.parametrize("hooks", HOOKS)
@pytest.mark.parametrize("make", [optimizers.Adam, optimizers.LAMB, optimizers.MomentumSGD])
def test_updates_that_overflow_are_left_out_and_not_counted(make, hooks, make_parameters, fake_gpu):
    with fake_gpu() as machine:
        cpu, gpu = (Run(make_parameters, place, make, HOOKS[hooks](), interval=2) for place in ("cpu", "gpu:0"))
        scales = []
        for t in range(12):
            scales.append(cpu.optimizer.loss_scale)
            cpu.step(t, scales[-1])
        gpu.step(0, scales[0])
        with machine.no_sync():
            for t in range(1, 12):
                gpu.step(t, scales[t])
        assert gpu.optimizer.loss_scale == cpu.optimizer.loss_scale
        assert gpu.optimizer.t == cpu.optimizer.t == 9
        assert gpu.link.W.update_rule.t == 9
        same(cpu, gpu)
        if hooks == "hooks":
            averages = [run.optimizer.get_hook("ExponentialMovingAverage").state() for run in (cpu, gpu)]
            assert averages[0]["t"] == averages[1]["t"] == 9
            for path, average in averages[0]["averages"].items():
                np.testing.assert_allclose(averages[1]["averages"][path], average, rtol=1e-6, atol=1e-7)


def test_asking_in_between_changes_nothing(make_parameters, fake_gpu):
    with fake_gpu():
        quiet, asked = (Run(make_parameters, "gpu:0", interval=2) for _ in range(2))
        for t in range(9):
            for run in (quiet, asked):
                run.step(t, 2.0**12)
            assert asked.optimizer.t == t + 1 - len([bad for bad in BAD if bad <= t])
            assert asked.optimizer.loss_scale > 0
        assert quiet.optimizer.t == asked.optimizer.t
        assert all(np.array_equal(value, asked.values()[path]) for path, value in quiet.values().items())


@pytest.mark.parametrize("places", [("gpu:0", "gpu:0"), ("gpu:0", "cpu"), ("cpu", "gpu:0")])
def test_the_factor_and_its_history_are_stored(places, make_parameters, fake_gpu):
    with fake_gpu():
        whole = Run(make_parameters, places[0], interval=3)
        for t in range(8):
            whole.step(t, 2.0**12)
        first, second = Run(make_parameters, places[0], interval=3), Run(make_parameters, places[1], interval=3)
        for t in range(4):
            first.step(t, 2.0**12)
        state = first.optimizer.state()
        assert set(state["loss_scale"]) == {"scale", "n_good"}
        for path, param in second.link.namedparams():
            param.array = second.device.asarray(first.values()[path])
        second.optimizer.load_state(state)
        second.rng = first.rng
        for t in range(4, 8):
            second.step(t, 2.0**12)
        assert second.optimizer.loss_scale == whole.optimizer.loss_scale
        assert second.optimizer.t == whole.optimizer.t == 5
        same(whole, second)


def test_a_fixed_factor_stays_and_overflows_are_left_out(make_parameters, fake_gpu):
    with fake_gpu():
        run = Run(make_parameters, "gpu:0", scale=8.0)
        for t in range(9):
            run.step(t, 8.0)
        assert run.optimizer.loss_scale == 8
        assert run.optimizer.t == 6


def test_backward_starts_from_the_factor_that_the_gpu_has(make_parameters, fake_gpu):
    with fake_gpu() as machine:
        run = Run(make_parameters, "gpu:0")
        run.step(2, 1.0)
        loss = run.link.b * 1.0
        run.link.cleargrads()
        with machine.no_sync():
            run.optimizer.backward(loss)
        assert np.array_equal(loss.grad.get(), np.full(70, 2.0**14, "float32"))
        assert np.array_equal(run.link.b.grad.get(), np.full(70, 2.0**14, "float32"))


def test_a_function_as_hook_is_not_called_when_an_update_is_left_out(make_parameters, fake_gpu):
    with fake_gpu():
        runs, calls = [], []
        for place in ("cpu", "gpu:0"):
            run = Run(make_parameters, place, interval=100)
            called = []
            run.optimizer.add_hook(lambda optimizer, called=called: called.append(optimizer.t), "f")
            run.optimizer.add_hook(lambda optimizer, called=called: called.append(-optimizer.t), "g", "post")
            for t in range(9):
                run.step(t, 2.0**10)
            runs.append(run)
            calls.append(called)
        assert calls[0] == calls[1]
        assert runs[0].optimizer.t == runs[1].optimizer.t == 6
        same(*runs)


def test_parameters_in_several_places_overflow_together(make_parameters, fake_gpu):
    with fake_gpu(devices=2):
        cpu, spread = (Run(make_parameters, "cpu", interval=2) for _ in range(2))
        spread.link.W.to_device("gpu:1")
        for t in range(9):
            scale = cpu.optimizer.loss_scale
            assert spread.optimizer.loss_scale == scale
            cpu.step(t, scale)
            for param in spread.link.params(False):
                grad = spread.rng.normal(size=param.shape).astype("float32") * np.float32(scale)
                if t in BAD and param.ndim == 2:
                    grad[69, 199] = np.inf
                param.grad = get_device("gpu:1" if param.ndim == 2 else "cpu").asarray(grad)
            spread.optimizer.update()
        same(cpu, spread)
        assert spread.optimizer.t == cpu.optimizer.t == 6
