"""On a GPU (one that is made up) optimizers take the steps of the CPU, in few launches, and nobody waits."""

import numpy as np
import pytest

from cvzoo import optimizers
from cvzoo.backends.device import get_device
from cvzoo.errors import GraphError

SHAPES = {"W": (30, 400), "b": (30,), "c": (3, 4, 5, 5), "scalar": ()}

OPTIMIZERS = {
    "SGD": lambda: optimizers.SGD(0.1),
    "MomentumSGD": lambda: optimizers.MomentumSGD(0.1),
    "NesterovAG": lambda: optimizers.NesterovAG(0.1),
    "AdaGrad": lambda: optimizers.AdaGrad(0.1),
    "AdaDelta": optimizers.AdaDelta,
    "RMSprop": optimizers.RMSprop,
    "RMSprop inside": lambda: optimizers.RMSprop(eps_inside_sqrt=True),
    "Adam": optimizers.Adam,
    "AdamW": lambda: optimizers.AdamW(weight_decay_rate=0.01, exempt=optimizers.is_vector),
    "AMSGrad": optimizers.AMSGrad,
    "LARS": lambda: optimizers.LARS(weight_decay_rate=0.01),
    "LAMB": lambda: optimizers.LAMB(weight_decay_rate=0.01, exempt=optimizers.is_vector),
}
HOOKS = {
    "no hooks": lambda: (),
    "hooks": lambda: (
        optimizers.GradientScaling(0.5, only=optimizers.named("W")),
        optimizers.WeightDecay(0.1, exempt=optimizers.is_vector),
        optimizers.GradientClipping(50.0),
        optimizers.Lasso(0.01),
        optimizers.GradientHardClipping(-0.02, 0.03),
        optimizers.Freeze(optimizers.named("c"), 3),
    ),
}


class Run:
    """A link of a few parameters and its optimizer, on a device; gradients come from a generator."""

    def __init__(self, make_parameters, make, device, hooks=(), dtype="float32", seed=0):
        rng = np.random.default_rng(seed)
        self.link = make_parameters({name: rng.normal(size=shape) for name, shape in SHAPES.items()}, dtype)
        self.device = get_device(device)
        self.link.to_device(device)
        self.optimizer = make().setup(self.link)
        for hook in hooks:
            self.optimizer.add_hook(hook)
        self.rng = np.random.default_rng(seed + 1)

    def give(self, factor=1.0):
        for param in self.link.params(False):
            param.grad = self.device.asarray(np.asarray(factor * self.rng.normal(size=param.shape), param.dtype))

    def steps(self, count):
        for _ in range(count):
            self.give()
            self.optimizer.update()
        return self

    def values(self):
        return {path: get_device("cpu").asarray(_host(param.array)) for path, param in self.link.namedparams()}


def _host(array):
    return array if isinstance(array, np.ndarray) else array.get()


def near(one, other, dtype="float32"):
    tolerance = {"float32": 1e-6, "float64": 1e-12}[dtype]
    for path, value in one.values().items():
        np.testing.assert_allclose(other.values()[path], value, rtol=tolerance, atol=tolerance)


def same(one, other):
    for path, value in one.values().items():
        assert np.array_equal(other.values()[path], value), path


@pytest.fixture
def make_run(make_parameters, fake_gpu):
    with fake_gpu(devices=2) as machine:

        def make(*args, **rest):
            return Run(make_parameters, *args, **rest)

        make.machine = machine
        yield make


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("hooks", HOOKS)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_twenty_steps_are_those_of_the_cpu(name, hooks, dtype, make_run):
    cpu, gpu = (make_run(OPTIMIZERS[name], place, HOOKS[hooks](), dtype) for place in ("cpu", "gpu:0"))
    for t in range(20):
        for run in (cpu, gpu):
            if "lr" in run.optimizer.hyperparam.get_dict():
                run.optimizer.lr = 0.1 / (1 + t // 7)
            run.steps(1)
    near(cpu, gpu, dtype)
    assert cpu.optimizer.t == gpu.optimizer.t == 20


def test_one_launch_updates_all_parameters_and_nothing_waits(make_run):
    run = make_run(OPTIMIZERS["Adam"], "gpu:0", [optimizers.GradientClipping(1.0)]).steps(2)
    run.give()
    start = len(make_run.machine.recorder)
    with make_run.machine.no_sync():
        run.optimizer.update()
    seen = make_run.machine.recorder[start:]
    assert [entry.name for entry in seen if entry.kind == "launch"] == [
        "write_words",  # the numbers of the step
        "write_words",  # where gradients lie
        "over_chunks",  # the norm
        "root_of_sum",
        "over_chunks",  # the update
    ]
    assert not [entry for entry in seen if entry.kind in ("h2d", "d2h", "sync")]


def test_a_plan_of_many_parameters_has_its_addresses_in_several_launches(make_parameters, fake_gpu):
    with fake_gpu():
        runs = []
        for place in ("cpu", "gpu:0"):
            link = make_parameters({f"p{k}": np.full(3, k) for k in range(700)})
            link.to_device(place)
            optimizer = optimizers.SGD(0.5).setup(link)
            for k, param in enumerate(link.params(False)):
                param.grad = get_device(place).asarray(np.full(3, k, "float32"))
            optimizer.update()
            runs.append([_host(param.array) for param in link.params(False)])
        assert all(np.array_equal(a, b) for a, b in zip(*runs))


def test_gradients_and_parameters_may_lie_in_any_order(make_run):
    cpu, gpu = (make_run(OPTIMIZERS["Adam"], place) for place in ("cpu", "gpu:0"))
    array = gpu.link.c.array
    lying = gpu.device.asarray(np.ascontiguousarray(array.get().transpose(0, 2, 3, 1))).transpose(0, 3, 1, 2)
    gpu.link.c.array = lying
    cpu.steps(2)
    for _ in range(2):
        gpu.give()
        grad = gpu.link.W.grad
        gpu.link.W.grad = gpu.device.asarray(np.ascontiguousarray(grad.get().T)).T
        gpu.optimizer.update()
    assert gpu.link.c.array is lying
    near(cpu, gpu)


@pytest.mark.parametrize("name", ["MomentumSGD", "Adam", "LAMB"])
@pytest.mark.parametrize("places", [("cpu", "gpu:0"), ("gpu:0", "cpu"), ("gpu:0", "gpu:1")])
def test_a_state_goes_on_on_another_device(name, places, make_run):
    whole = make_run(OPTIMIZERS[name], places[0], [optimizers.ExponentialMovingAverage(0.9)]).steps(6)
    first = make_run(OPTIMIZERS[name], places[0], [optimizers.ExponentialMovingAverage(0.9)]).steps(3)
    state, values = first.optimizer.state(), first.values()
    assert all(isinstance(slot, np.ndarray) for kept in state["params"].values() for slot in kept["slots"].values())
    second = make_run(OPTIMIZERS[name], places[1], [optimizers.ExponentialMovingAverage(0.9)])
    for path, param in second.link.namedparams():
        param.array = second.device.asarray(values[path])
    second.optimizer.load_state(state)
    second.rng = first.rng
    second.steps(3)
    near(whole, second)
    averages = [run.optimizer.get_hook("ExponentialMovingAverage").state()["averages"] for run in (whole, second)]
    for path, average in averages[0].items():
        np.testing.assert_allclose(averages[1][path], average, rtol=1e-6, atol=1e-6)
    assert whole.optimizer.t == second.optimizer.t


def test_a_network_that_moves_takes_its_state_along(make_run):
    stays, moves = (make_run(OPTIMIZERS["AdamW"], "cpu") for _ in range(2))
    stays.steps(6)
    moves.steps(2)
    for place in ("gpu:1", "cpu"):
        moves.link.to_device(place)
        moves.device = get_device(place)
        moves.steps(2)
    near(stays, moves)


def test_parameters_on_two_gpus_and_the_cpu_are_clipped_together(make_run):
    hooks = [optimizers.GradientClipping(1.0)]
    cpu, spread = (make_run(OPTIMIZERS["MomentumSGD"], "cpu", hooks) for _ in range(2))
    spread.link.W.to_device("gpu:0")
    spread.link.b.to_device("gpu:1")
    cpu.steps(4)
    for _ in range(4):
        for path, param in spread.link.namedparams(False):
            grad = np.asarray(spread.rng.normal(size=param.shape), "float32")
            place = {"/W": "gpu:0", "/b": "gpu:1"}.get(path, "cpu")
            param.grad = get_device(place).asarray(grad)
        spread.optimizer.update()
    near(cpu, spread)


def test_gradient_noise_is_drawn_on_the_gpu(make_run):
    run = make_run(lambda: optimizers.SGD(1.0), "gpu:0", [optimizers.GradientNoise(1.0)])
    before = run.values()
    for param in run.link.params(False):
        param.grad = run.device.asarray(np.zeros(param.shape, "float32"))
    run.optimizer.update()
    moved = run.values()["/W"] - before["/W"]
    np.testing.assert_allclose([moved.mean(), moved.std()], [0, 1], atol=0.03)


class OwnRule(optimizers.AbstractUpdateRule):
    """Looks at numbers, so that it cannot become a kernel."""

    slots = ("v",)

    def coefficients(self, hp, t, exempt):
        return (hp["lr"],)

    def update_block(self, p, g, state, c, scratch, ratio):
        np.add(state[0], g, state[0])
        if float(np.abs(state[0]).sum()) > 0:
            p -= c[0] * state[0]


class OwnOptimizer(optimizers.AbstractOptimizer):
    __slots__ = ()
    rule_class = OwnRule

    def __init__(self):
        super().__init__({"lr": 0.1})


def test_a_rule_that_cannot_be_traced_runs_on_cupys_arrays(make_run):
    hooks = [optimizers.WeightDecay(0.1), optimizers.GradientClipping(1.0)]
    cpu, gpu = (make_run(OwnOptimizer, place, hooks).steps(3) for place in ("cpu", "gpu:0"))
    near(cpu, gpu)


def test_functions_as_hooks_see_changed_gradients(make_run):
    seen = {}
    for place in ("cpu", "gpu:0"):
        run = make_run(OPTIMIZERS["SGD"], place)
        run.optimizer.add_hook(optimizers.GradientScaling(2.0))
        run.optimizer.add_hook(
            lambda optimizer, at=place: seen.update({at: _host(optimizer.target.W.grad).copy()}), "f"
        )
        run.optimizer.add_hook(optimizers.WeightDecay(0.5))
        seen[place + " after"] = run.steps(2)
    assert np.array_equal(seen["cpu"], seen["gpu:0"])
    near(seen["cpu after"], seen["gpu:0 after"])


def test_averages_are_applied_and_taken_back(make_run):
    hooks = {place: optimizers.ExponentialMovingAverage(0.9) for place in ("cpu", "gpu:0")}
    cpu, gpu = (make_run(OPTIMIZERS["SGD"], place, [hook]).steps(3) for place, hook in hooks.items())
    mine = gpu.values()
    with hooks["cpu"].applied(), hooks["gpu:0"].applied():
        near(cpu, gpu)
        assert not np.array_equal(mine["/W"], gpu.values()["/W"])
    assert np.array_equal(mine["/W"], gpu.values()["/W"])


def test_persistent_arrays_are_averaged_on_the_device(make_run):
    hooks = {place: optimizers.ExponentialMovingAverage(0.9, persistent=True) for place in ("cpu", "gpu:0")}
    runs = [make_run(OPTIMIZERS["SGD"], place, [hook]) for place, hook in hooks.items()]
    for run in runs:
        run.link.add_persistent("avg_mean", run.device.asarray(np.arange(5, dtype=np.float32)))
        run.link.add_persistent("N", 3)  # a number is not averaged
        for _ in range(4):
            run.steps(1)
            run.link.avg_mean += 1
    averages = [hook.state()["averages"]["avg_mean"] for hook in hooks.values()]
    np.testing.assert_allclose(averages[0], averages[1], rtol=1e-6)
    assert (averages[0] > np.arange(5)).all()
    with hooks["gpu:0"].applied():
        np.testing.assert_array_equal(_host(runs[1].link.avg_mean), averages[1])
    np.testing.assert_array_equal(_host(runs[1].link.avg_mean), np.arange(5) + 4)


@pytest.mark.parametrize("name", ["SGD", "AdamW", "LAMB"])
def test_factors_of_the_learning_rate_hold_on_the_device(name, make_run):
    runs = [make_run(OPTIMIZERS[name], place) for place in ("cpu", "gpu:0")]
    before = runs[0].values()
    for run in runs:
        optimizers.scale_learning_rate(run.optimizer, 0.25, optimizers.named("W"))
        optimizers.scale_learning_rate(run.optimizer, 0.0, optimizers.named("b"))
        run.steps(5)
    near(*runs)
    assert np.array_equal(runs[1].values()["/b"], before["/b"])


def test_accumulated_gradients_are_divided(make_run):
    cpu, gpu = (make_run(OPTIMIZERS["Adam"], place) for place in ("cpu", "gpu:0"))
    for run in (cpu, gpu):
        run.optimizer.accumulate(2)
        for _ in range(3):
            run.give()
            run.optimizer.update()
            for param in run.link.params(False):
                param.grad = param.grad + param.grad
            run.optimizer.update()
    assert gpu.optimizer.t == 3
    near(cpu, gpu)


def test_an_update_cannot_be_captured(make_run):
    import cupy

    run = make_run(OPTIMIZERS["SGD"], "gpu:0").steps(1)
    run.give()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        stream.begin_capture()
        with pytest.raises(GraphError, match="cannot be captured"):
            run.optimizer.update()
        stream.end_capture()
    assert run.optimizer.t == 1
