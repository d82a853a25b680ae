"""SINGA's formulas against numbers worked out step by step in float64, and how optimizers are used."""

import copy

import numpy as np
import pytest

from cvzoo.errors import DtypeError, GraphError, ShapeError, UnsupportedError, ValueRangeError
from cvzoo.singa import autograd, layer, opt, tensor
from cvzoo.singa.tensor import Tensor

START = np.array([[1.0, -2.0, 0.5], [0.0, 3.0, -0.25]])
GRADIENTS = [np.array([[0.5, -1.0, 2.0], [0.25, 0.0, -3.0]]) * factor for factor in (1.0, -0.5, 0.25, 2.0)]


def sgd(p, g, state, t, lr=0.1, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False):
    g = g + weight_decay * p
    if momentum:
        v = state["v"] = momentum * state.get("v", 0) + (1 - dampening) * g
        g = g + momentum * v if nesterov else v
    return p - lr * g


def rms_prop(p, g, state, t, lr=0.1, rho=0.9, epsilon=1e-8, weight_decay=0.0):
    g = g + weight_decay * p
    state["a"] = rho * state.get("a", 0) + (1 - rho) * g * g
    return p - lr * g / np.sqrt(state["a"] + epsilon)


def ada_grad(p, g, state, t, lr=0.1, epsilon=1e-8, weight_decay=0.0):
    g = g + weight_decay * p
    state["h"] = state.get("h", 0) + g * g
    return p - lr * g / np.sqrt(state["h"] + epsilon)


def adam(p, g, state, t, lr=0.1, beta_1=0.9, beta_2=0.999, epsilon=1e-8, weight_decay=0.0):
    g = g + weight_decay * p
    state["m"] = beta_1 * state.get("m", 0) + (1 - beta_1) * g
    state["v"] = beta_2 * state.get("v", 0) + (1 - beta_2) * g * g
    m = state["m"] / (1 - beta_1 ** (t + 1))
    v = state["v"] / (1 - beta_2 ** (t + 1))
    return p - lr * m / (np.sqrt(v) + epsilon)


CASES = [
    (opt.SGD, sgd, {}),
    (opt.SGD, sgd, {"lr": 0.05, "weight_decay": 0.1}),
    (opt.SGD, sgd, {"lr": 0.05, "momentum": 0.9}),
    (opt.SGD, sgd, {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.1}),
    (opt.SGD, sgd, {"lr": 0.05, "momentum": 0.9, "dampening": 0.3}),
    (opt.SGD, sgd, {"lr": 0.05, "momentum": 0.8, "nesterov": True, "weight_decay": 0.01}),
    (opt.SGD, sgd, {"lr": 0.05, "dampening": 0.5}),
    (opt.RMSProp, rms_prop, {}),
    (opt.RMSProp, rms_prop, {"lr": 0.01, "rho": 0.8, "epsilon": 0.01, "weight_decay": 0.1}),
    (opt.AdaGrad, ada_grad, {}),
    (opt.AdaGrad, ada_grad, {"lr": 0.2, "epsilon": 0.5, "weight_decay": 0.1}),
    (opt.Adam, adam, {}),
    (opt.Adam, adam, {"lr": 0.01, "beta_1": 0.8, "beta_2": 0.9, "epsilon": 0.1, "weight_decay": 0.1}),
]


@pytest.mark.parametrize("called", [True, False])
@pytest.mark.parametrize(("kind", "formula", "settings"), CASES)
def test_steps_are_those_of_singas_formula(kind, formula, settings, called):
    optimizer = kind(**settings)
    W = Tensor(data=START, stores_grad=True, name="W")
    wanted, state = START.copy(), {}
    autograd.training = True
    for t, g in enumerate(GRADIENTS):
        if called:
            optimizer(tensor.sum(W * tensor.from_numpy(g)))
        else:
            optimizer.update(W, tensor.from_numpy(g))
            optimizer.step()
        wanted = formula(wanted, g, state, t, **settings)
        np.testing.assert_allclose(tensor.to_numpy(W), wanted, rtol=2e-5, atol=2e-6)
    assert optimizer.step_counter.item() == len(GRADIENTS)


def test_positions_of_the_arguments_are_singas():
    optimizer = opt.SGD(0.1, 0.9, 1e-5, 0.01, False, tensor.float32)
    assert [optimizer.lr.init_value, optimizer.momentum.init_value, optimizer.dampening.init_value] == [0.1, 0.9, 1e-5]
    assert optimizer.weight_decay.init_value == 0.01
    assert opt.SGD().lr_value.item() == pytest.approx(0.1)
    assert [opt.Adam(0.5, 0.6, 0.7, 0.8, 0.9).beta_2.init_value, opt.RMSProp(0.5, 0.6).rho.init_value] == [0.7, 0.6]


def test_updates_without_a_step_count_none():
    W = Tensor(data=START, stores_grad=True)
    optimizer = opt.Adam(lr=0.1)
    first = adam(START, GRADIENTS[0], {}, 0)
    optimizer.update(W, tensor.from_numpy(GRADIENTS[0]))
    np.testing.assert_allclose(tensor.to_numpy(W), first, rtol=1e-5)
    assert optimizer.step_counter.item() == 0


@pytest.mark.parametrize(
    ("schedule", "numbers"),
    [
        (opt.Constant(0.3), [0.3] * 5),
        (opt.ExponentialDecay(0.1, 2, 0.5), [0.1 * 0.5 ** (t / 2) for t in range(5)]),
        (opt.ExponentialDecay(0.1, 2, 0.5, True), [0.1, 0.1, 0.05, 0.05, 0.025]),
    ],
)
def test_learning_rates_follow_their_schedule(schedule, numbers):
    optimizer = opt.SGD(lr=schedule)
    W = Tensor((1,), stores_grad=True)
    autograd.training = True
    place = 0.0
    for number in numbers:
        assert optimizer.lr_value.item() == pytest.approx(number, rel=1e-6)
        optimizer(tensor.sum(W * 1.0))
        place -= number
        assert W.item() == pytest.approx(place, rel=1e-5)


def test_other_numbers_and_schedules_of_ones_own_may_change():
    class Half(opt.DecayScheduler):
        def call(self, step):
            return (step * 0.0 + 0.5) * self.init_value

    optimizer = opt.SGD(lr=Half(0.2), momentum=opt.ExponentialDecay(0.8, 1, 0.5), weight_decay=Half(0.4))
    W = Tensor(data=START, stores_grad=True)
    wanted, v = START.copy(), 0.0
    for t, g in enumerate(GRADIENTS):
        optimizer.update(W, tensor.from_numpy(g))
        optimizer.step()
        v = 0.8 * 0.5**t * v + g + 0.2 * wanted
        wanted = wanted - 0.1 * v
    np.testing.assert_allclose(tensor.to_numpy(W), wanted, rtol=1e-5)


def test_an_optimizer_of_ones_own_writes_apply():
    class Signs(opt.Optimizer):
        def apply(self, param_name, param_value, param_grad):
            self.name = param_name
            param_value -= self.lr_value * autograd.sign(param_grad)

    W = Tensor(data=START, stores_grad=True, name="W")
    autograd.training = True
    optimizer = Signs(0.5)
    optimizer(tensor.sum(W * tensor.from_numpy(GRADIENTS[0])))
    np.testing.assert_allclose(tensor.to_numpy(W), START - 0.5 * np.sign(GRADIENTS[0]))
    assert optimizer.name == "W"
    with pytest.raises(GraphError, match="write apply"):
        opt.Optimizer(0.1).update(W, W)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: opt.SGD(momentum=-0.1), ValueRangeError),
        (lambda: opt.SGD(weight_decay=-0.1), ValueRangeError),
        (lambda: opt.SGD(nesterov=True), ValueRangeError),
        (lambda: opt.SGD(momentum=0.9, dampening=0.1, nesterov=True), ValueRangeError),
        (lambda: opt.SGD(lr="0.1"), DtypeError),
        (lambda: opt.Adam(beta_1=None), DtypeError),
        (lambda: opt.SGD(dtype=tensor.float16), UnsupportedError),
        (lambda: opt.ExponentialDecay(0.1, 0, 0.5), ValueRangeError),
        (lambda: opt.DistOpt(opt.SGD(), world_size=2), ValueRangeError),
        (lambda: opt.Constant(0.1)(3), DtypeError),
    ],
)
def test_bad_settings_are_refused(make, error):
    with pytest.raises(error):
        make()


def test_a_gradient_of_another_shape_is_refused():
    with pytest.raises(ShapeError, match="gradient"):
        opt.SGD().update(Tensor((2, 3), stores_grad=True), Tensor((3, 2)))


def test_a_loss_without_a_graph_is_refused():
    W = Tensor(data=START, stores_grad=True)
    loss = tensor.sum(W * 2.0)
    with pytest.raises(GraphError, match=r"autograd\.training = True"):
        opt.SGD()(loss)
    autograd.training = True
    loss = tensor.sum(W * 2.0)
    opt.SGD()(loss)
    with pytest.raises(GraphError, match="released by an earlier"):
        opt.SGD()(loss)
    with pytest.raises(ShapeError, match="a single element"):
        opt.SGD()(W * 2.0)
    with pytest.raises(DtypeError):
        opt.SGD()(3.0)


@pytest.mark.parametrize("make", [lambda: opt.SGD(0.1, 0.9), lambda: opt.Adam(0.01), opt.RMSProp, opt.AdaGrad])
def test_states_go_on_where_they_were(make):
    autograd.training = True
    first, other = make(), make()
    W = Tensor(data=START, stores_grad=True, name="W")
    big = Tensor((100, 120), stores_grad=True, name="big").set_value(1.0)

    def step(optimizer, a, b, g):
        optimizer(tensor.sum(a * tensor.from_numpy(g)) + tensor.sum(b * b))

    for g in GRADIENTS[:2]:
        step(first, W, big, g)
    states = first.get_states()
    assert states["step_counter"] == 2
    twins = [Tensor(data=tensor.to_numpy(each), stores_grad=True, name=each.name) for each in (W, big)]
    other.set_states(states)
    for g in GRADIENTS[2:]:
        step(first, W, big, g)
        step(other, *twins, g)
    np.testing.assert_array_equal(tensor.to_numpy(twins[0]), tensor.to_numpy(W))
    np.testing.assert_array_equal(tensor.to_numpy(twins[1]), tensor.to_numpy(big))


def test_states_have_singas_names():
    autograd.training = True
    linear = layer.Linear(2)
    loss = autograd.mse_loss(linear(Tensor((3, 4)).gaussian(0, 1)), Tensor((3, 2)))
    sgd, adam = opt.SGD(0.1, 0.9), opt.Adam(0.1)
    sgd(loss)
    assert {name: value.shape for name, value in sgd.get_states()["moments"].items()} == {"W": (4, 2), "b": (2,)}
    assert set(adam.get_states()) == {"step_counter", "m", "v"}
    assert set(opt.SGD(0.1).get_states()) == {"step_counter"}


def test_a_copied_optimizer_goes_on_with_copied_parameters():
    autograd.training = True
    W = Tensor(data=START, stores_grad=True, name="W")
    optimizer = opt.SGD(0.1, 0.9)
    optimizer(tensor.sum(W * tensor.from_numpy(GRADIENTS[0])))
    twin, V = copy.deepcopy((optimizer, W))
    optimizer(tensor.sum(W * tensor.from_numpy(GRADIENTS[1])))
    twin(tensor.sum(V * tensor.from_numpy(GRADIENTS[1])))
    np.testing.assert_array_equal(tensor.to_numpy(V), tensor.to_numpy(W))
    twin(tensor.sum(V * tensor.from_numpy(GRADIENTS[1])))
    assert (tensor.to_numpy(V) != tensor.to_numpy(W)).any()


def test_gradients_come_by_their_parameters_and_are_scaled():
    autograd.training = True
    a, b = Tensor(data=START, stores_grad=True), Tensor(data=START, stores_grad=True)
    frozen = Tensor(data=START, stores_grad=True)
    frozen.requires_grad = False
    y = a * b + frozen
    y.stores_grad = True
    loss = tensor.sum(y * y)
    grads = autograd.gradients(loss, dy=2.0)
    value = START * START + START
    np.testing.assert_allclose(tensor.to_numpy(grads[id(a)]), 2 * 2 * value * START, rtol=1e-5)
    np.testing.assert_allclose(tensor.to_numpy(grads[id(y)]), 2 * 2 * value, rtol=1e-5)
    assert set(grads) == {id(a), id(b), id(y)}
    assert a.grad is None
