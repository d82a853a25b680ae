"""A resumed run goes on with the same bits; what does not belong together is refused."""

import numpy as np
import pytest

import cvzoo
import cvzoo.links as L
from cvzoo import optimizers
from cvzoo.errors import WeightsMismatchError

NAMES = [
    "SGD", "MomentumSGD", "NesterovAG", "AdaGrad", "AdaDelta", "RMSprop", "Adam", "AdamW", "AMSGrad", "LARS", "LAMB",
]  # fmt: skip


def _set_up(name, model):
    optimizer = getattr(optimizers, name)().setup(model)
    optimizer.add_hook(optimizers.WeightDecay(1e-3, exempt=optimizers.is_vector))
    optimizer.add_hook(optimizers.GradientClipping(0.5))
    optimizer.add_hook(optimizers.ExponentialMovingAverage(0.9))
    optimizer.loss_scaling(interval=3)
    return optimizer


def _is_plain(tree):
    if isinstance(tree, dict):
        return all(isinstance(key, str) and _is_plain(value) for key, value in tree.items())
    if isinstance(tree, list | tuple):
        return all(_is_plain(value) for value in tree)
    return tree is None or isinstance(tree, bool | int | float | str | np.ndarray)


@pytest.mark.parametrize("name", NAMES)
def test_a_resumed_optimizer_goes_on_with_the_same_bits(name, make_network, batches):
    model = make_network()
    optimizer = _set_up(name, model)
    for x, t in batches[:5]:
        optimizer.update(model, x, t)
    if name != "AdaDelta":
        optimizer.lr = 0.02
        model.fc.W.update_rule.hyperparam.lr = 0.01
    state = optimizer.state()
    assert _is_plain(state)
    values = {path: array.copy() for path, array in model.state_arrays().items()}
    for x, t in batches[5:]:
        optimizer.update(model, x, t)

    other = make_network(seed=9)
    resumed = _set_up(name, other)
    resumed.load_state(state)  # before the lazy layer has a shape
    other.load_arrays(values)
    for x, t in batches[5:]:
        resumed.update(other, x, t)
    for (path, a), (_, b) in zip(model.namedparams(), other.namedparams()):
        np.testing.assert_array_equal(a.array, b.array, err_msg=path)
    ema, again = (o.get_hook("ExponentialMovingAverage") for o in (optimizer, resumed))
    for path, average in ema.averages.items():
        np.testing.assert_array_equal(average, again.averages[path])
    assert resumed.t == optimizer.t == 12
    assert resumed.loss_scale == optimizer.loss_scale


def test_a_state_does_not_change_afterwards(make_network, batches):
    model = make_network()
    optimizer = optimizers.Adam().setup(model)
    optimizer.update(model, *batches[0])
    state = optimizer.state()
    before = {path: kept["slots"]["m"].copy() for path, kept in state["params"].items()}
    optimizer.load_state(state)
    optimizer.update(model, *batches[1])
    for path, kept in state["params"].items():
        np.testing.assert_array_equal(kept["slots"]["m"], before[path])


def test_a_run_is_resumed_in_the_midst_of_an_accumulation(make_network, batches):
    ends = []
    for stop in (False, True):
        model = make_network()
        optimizer = optimizers.MomentumSGD().setup(model).accumulate(4)
        for number, (x, t) in enumerate(batches):
            if stop and number == 6:
                state, values = optimizer.state(), {k: v.copy() for k, v in model.state_arrays().items()}
                model = make_network(seed=5)
                model(x, t)
                optimizer = optimizers.MomentumSGD().setup(model).accumulate(4)
                optimizer.load_state(state)
                model.load_arrays(values)
            optimizer.update(model, x, t)
        ends.append(model.state_arrays())
    for path, value in ends[0].items():
        np.testing.assert_array_equal(value, ends[1][path])


def test_a_state_of_another_network_is_refused_with_the_names(make_network, batches):
    model = make_network()
    optimizer = optimizers.Adam().setup(model)
    optimizer.update(model, *batches[0])
    state = optimizer.state()
    other = cvzoo.Chain()
    with other.init_scope():
        other.conv = L.Convolution2D(3, 8, 3)
        other.head = L.Linear(3, 3)
    target = optimizers.Adam().setup(other)
    with pytest.raises(WeightsMismatchError) as caught:
        target.load_state(state)
    text = str(caught.value)
    for words in ("/head/W: not in the state", "/fc/W: not in the network", "/conv/W: m has shape (8, 2, 3, 3)"):
        assert words in text
    assert target.t == 0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: optimizers.AdamW(), "another optimizer"),
        (lambda: optimizers.SGD(), "another optimizer"),
    ],
)
def test_a_state_of_another_optimizer_is_refused(make, words, make_network):
    model = make_network()
    state = optimizers.Adam().setup(model).state()
    with pytest.raises(WeightsMismatchError, match=words):
        make().setup(model).load_state(state)


def test_a_state_with_other_hooks_is_refused(make_network):
    model = make_network()
    optimizer = optimizers.Adam().setup(model)
    state = optimizer.state()
    optimizer.add_hook(optimizers.ExponentialMovingAverage())
    with pytest.raises(WeightsMismatchError, match="ExponentialMovingAverage"):
        optimizer.load_state(state)
    full = optimizer.state()
    optimizer.remove_hook("ExponentialMovingAverage")
    with pytest.raises(WeightsMismatchError, match="ExponentialMovingAverage"):
        optimizer.load_state(full)


def test_state_in_another_memory_order_is_the_optimizers():
    link = L.Linear(100, 200)
    optimizer = optimizers.MomentumSGD(0.1).setup(link)
    link.W.update_rule.state["v"] = np.ones((200, 100), np.float32, order="F")
    link.W.grad = np.zeros((200, 100), np.float32)
    optimizer.update()
    np.testing.assert_allclose(link.W.update_rule.state["v"], 0.9, rtol=1e-6)
