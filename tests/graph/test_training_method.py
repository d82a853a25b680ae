"""What a link does that was compiled for training: the same as before, also where a recorded pass cannot serve."""

import copy
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import optimizers
from cvzoo.autodiff.grad import grad
from cvzoo.autodiff.hooks.timer_hook import TimerHook
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import GraphError
from cvzoo.links.chain import Chain


class Small(Chain):
    """Two ways that meet, a normalization, random numbers, a pooling and a matrix."""

    def __init__(self):
        self.ratio = 0.4
        with self.init_scope():
            self.conv = L.Convolution2D(3, 16, 3, pad=1)
            self.bn = L.BatchNormalization(16)
            self.again = L.Convolution2D(16, 16, 3, pad=1)
            self.fc = L.Linear(16, 5)

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.bn(self.conv(x))), 2)
        h = F.relu(h + self.again(h))
        return self.fc(F.average(F.dropout(h, self.ratio), axis=(2, 3)))


def small():
    set_seed(1)
    return Small()


def photos(seed=0, shape=(4, 3, 16, 16)):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def labels(seed=0, n=4):
    return np.random.default_rng(seed).integers(0, 5, n).astype(np.int32)


def train(model, seeds=range(4), shape=(4, 3, 16, 16), optimizer=None):
    """The losses of some steps."""
    set_seed(7)
    optimizer = optimizer or optimizers.MomentumSGD(lr=0.1).setup(model)
    losses = []

    def lossfun(x, t):
        loss = F.softmax_cross_entropy(model(x), t)
        losses.append(loss.item())
        return loss

    for seed in seeds:
        optimizer.update(lossfun, photos(seed, shape), labels(seed, shape[0]))
    return losses


def assert_same(a, b):
    one, other = a.state_arrays(), b.state_arrays()
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def compiled(model=None):
    model = model or small()
    graph = model.compile(photos(9), train=True)
    assert graph is not None
    return model, graph


def n_replay(model):
    """A model that counts what is computed without a replay."""
    plain, count = Small.forward, []

    class Counting(Small):
        def forward(self, x):
            count.append(1)
            return plain(self, x)

    model.__class__ = Counting
    return count


def test_training_gives_the_bits_of_define_by_run():
    eager, (model, graph) = small(), compiled()
    assert train(model) == train(eager)
    assert_same(model, eager)
    assert model.graphs() == [graph]


def test_compiling_leaves_statistics_random_numbers_and_gradients_as_they_were():
    model = small()
    before = {name: array.copy() for name, array in model.state_arrays().items()}
    set_seed(3)
    model.compile(photos(), train=True)
    drawn = F.dropout(np.ones((1, 50), np.float32)).array
    set_seed(3)
    np.testing.assert_array_equal(F.dropout(np.ones((1, 50), np.float32)).array, drawn)
    for name, array in model.state_arrays().items():
        np.testing.assert_array_equal(array, before[name])
    assert all(parameter.grad is None for parameter in model.params())


def test_without_an_example_the_second_step_of_a_shape_is_recorded():
    eager, model = small(), small()
    assert model.compile(train=True) is None
    assert train(model) == train(eager)
    assert len(model.graphs()) == 1
    assert_same(model, eager)


def test_replays_do_not_call_the_method(monkeypatch):
    model = small()
    count = n_replay(model)
    model.compile(photos(9), train=True)
    del count[:]
    train(model)
    assert not count


def test_inference_is_not_touched_and_may_be_compiled_too():
    model, _ = compiled()
    with using_config("train", False), no_backprop_mode():
        expected = Small.forward(model, photos()).array
        np.testing.assert_array_equal(model(photos()).array, expected)
        assert model.compile(photos()) is not None
        np.testing.assert_allclose(model(photos()).array, expected, rtol=1e-5, atol=1e-5)
    assert len(model.graphs()) == 2
    train(model)
    with using_config("train", False), no_backprop_mode():
        expected = Small.forward(model, photos()).array
        np.testing.assert_allclose(model(photos()).array, expected, rtol=1e-5, atol=1e-5)


def test_gradients_add_to_those_that_are_there():
    eager, (model, _) = small(), compiled()
    for each in (eager, model):
        set_seed(2)
        for seed in range(3):
            F.sum(each(photos(seed))).backward()
    for a, b in zip(model.params(), eager.params()):
        np.testing.assert_array_equal(a.grad, b.grad)


def test_gradients_and_results_are_the_callers():
    model, _ = compiled()
    y = model(photos())
    F.sum(y).backward()
    kept = [y.array, *[parameter.grad for parameter in model.params()]]
    copies = [array.copy() for array in kept]
    model.cleargrads()
    F.sum(model(photos(1)) * 2).backward()
    for array, before in zip(kept, copies):
        np.testing.assert_array_equal(array, before)


def test_a_gradient_of_the_argument_is_given_where_it_is_asked_for():
    eager, (model, _) = small(), compiled()
    found = []
    for each in (eager, model):
        set_seed(2)
        for _ in range(3):
            x = Variable(photos())
            F.sum(each(x * 2)).backward()
            found.append(x.grad)
    for a, b in zip(found[:3], found[3:]):
        np.testing.assert_array_equal(a, b)
    assert len(model.graphs()) == 2


def test_two_calls_before_a_backward_are_both_right():
    eager, (model, _) = small(), compiled()
    for each in (eager, model):
        set_seed(2)
        ys = [each(photos(seed)) for seed in range(3)]
        for y in ys:
            F.sum(y).backward()
    assert_same(model, eager)
    for a, b in zip(model.params(), eager.params()):
        np.testing.assert_array_equal(a.grad, b.grad)


def test_a_backward_that_never_comes_costs_nothing():
    eager, (model, _) = small(), compiled()
    x = photos()
    gone = weakref.ref(x)
    for each in (eager, model):
        set_seed(2)
        each(x)
        each(photos(1))
        F.sum(each(photos(2))).backward()
    del x
    gc.collect()
    assert gone() is None
    for a, b in zip(model.params(), eager.params()):
        np.testing.assert_array_equal(a.grad, b.grad)


def test_a_second_backward_computes_again():
    eager, (model, _) = small(), compiled()
    for each in (eager, model):
        set_seed(2)
        y = F.sum(each(photos()))
        y.backward(retain_graph=True)
        y.backward()
    assert_same(model, eager)  # the running statistics were updated once
    for a, b in zip(model.params(), eager.params()):
        np.testing.assert_allclose(a.grad, b.grad, rtol=1e-5, atol=1e-6)


def test_a_derivative_of_a_derivative_computes_again():
    eager, (model, _) = small(), compiled()
    found = []
    for each in (eager, model):
        set_seed(2)
        x = Variable(photos())
        for _ in range(3):
            each.cleargrads()
            y = F.sum(F.square(each(x)))
            (gx,) = grad([y], [x], enable_double_backprop=True)
            F.sum(F.square(gx)).backward()
        found.append([x.grad, each.fc.W.grad, each.bn.gamma.grad, each.conv.W.grad])
    for a, b in zip(*found):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4 * np.abs(b).max())


def test_a_step_that_raises_in_between_leaves_the_graph_usable(monkeypatch):
    eager, (model, _) = small(), compiled()
    train(eager)
    train(model)

    class Stop(Exception):
        pass

    def stop(x, ratio):
        raise Stop

    with monkeypatch.context() as patch:
        patch.setattr("cvzoo.functions.noise.dropout._draw", stop)
        for each in (eager, model):
            with pytest.raises(Stop):
                each(photos())
    assert train(model) == train(eager)


def test_hooks_see_every_function():
    model, _ = compiled()
    with TimerHook() as hook:
        F.sum(model(photos())).backward()
    assert sum(each.count for each in hook.summary().values()) > 10


@pytest.mark.parametrize(
    "change",
    [
        lambda m: setattr(m.conv.W, "array", m.conv.W.array * 2),
        lambda m: setattr(m.conv, "W", Parameter(m.conv.W.array * 2)),
        lambda m: m.conv.W.array.__imul__(2),
        lambda m: m.conv.disable_update(),
        lambda m: setattr(m, "ratio", 0.1),
        lambda m: setattr(m.bn, "avg_mean", np.ones(16, np.float32)),
        lambda m: setattr(m, "fc", L.Linear(16, 5, initialW=0.1)),
        lambda m: m.load_arrays({name: array * 2 for name, array in m.state_arrays().items()}),
    ],
)
def test_what_changes_the_network_is_noticed(change):
    eager, (model, _) = small(), compiled()
    for each in (eager, model):
        train(each)
        change(each)
    assert train(model) == train(eager)
    assert_same(model, eager)


class Two(Chain):
    """Two results, the second of which may have no part in the loss, and one without gradients."""

    def __init__(self):
        with self.init_scope():
            self.a = L.Linear(4, 4)
            self.b = L.Linear(4, 3)

    def forward(self, x):
        h = self.a(x)
        return {"first": h, "second": self.b(h), "plain": F.square(Variable(x, requires_grad=False))}


def test_a_result_without_a_part_in_the_loss_leaves_its_parameters_without_gradients():
    set_seed(0)
    model = Two()
    eager = copy.deepcopy(model)
    x = photos(0, (5, 4))
    model.compile(x, train=True)
    for _ in range(3):
        for each in (eager, model):
            each.cleargrads()
            ys = each(x)
            np.testing.assert_array_equal(ys["plain"].array, x**2)
            F.sum(F.square(ys["first"])).backward()
        assert model.b.W.grad is None
        np.testing.assert_array_equal(model.a.W.grad, eager.a.W.grad)
    for each in (eager, model):
        each.cleargrads()
        ys = each(x)
        (F.sum(F.square(ys["first"])) + F.sum(ys["second"])).backward()
    np.testing.assert_array_equal(model.b.W.grad, eager.b.W.grad)
    np.testing.assert_array_equal(model.a.W.grad, eager.a.W.grad)


class Loss(Chain):
    """A network with its loss: labels are whole numbers, so the network below is what is replayed."""

    def __init__(self, predictor):
        with self.init_scope():
            self.predictor = predictor

    def forward(self, x, t):
        return F.softmax_cross_entropy(self.predictor(x), t)


def test_in_a_link_with_its_loss_the_network_is_replayed():
    eager, model = Loss(small()), Loss(small())
    model.compile(train=True)
    for each in (eager, model):
        set_seed(2)
        optimizer = optimizers.Adam().setup(each)
        for seed in range(4):
            optimizer.update(each, photos(seed), labels(seed))
    assert_same(model, eager)
    (graph,) = model.graphs()
    assert graph.name == "Small.forward, forward and backward"


class LooksAtNumbers(Small):
    def forward(self, x):
        h = F.relu(self.bn(self.conv(x)))
        if h.array.mean() > 1e9:
            h = -h
        return self.fc(F.average(F.relu(self.again(h)), axis=(2, 3)))


def test_what_looks_at_numbers_stays_eager_says_so_once_and_its_children_learn_as_graphs():
    set_seed(0)
    model = LooksAtNumbers()
    eager = copy.deepcopy(model)
    with pytest.warns(RuntimeWarning, match="is not trained as a graph: values are read in forward"):
        assert model.compile(photos(), train=True) is None
    assert train(model) == train(eager)
    assert_same(model, eager)
    assert {graph.name.split(".")[0] for graph in model.graphs()} == {"Convolution2D", "BatchNormalization", "Linear"}


def test_a_frozen_link_stays_as_it_is_and_says_nothing():
    model = small()
    model.disable_update()
    assert model.compile(photos(), train=True) is None
    set_seed(1)
    expected = Small.forward(model, photos()).array
    set_seed(1)
    np.testing.assert_array_equal(model(photos()).array, expected)


def test_several_shapes_have_graphs_in_one_memory():
    eager, (model, _) = small(), compiled()
    for shape in [(4, 3, 16, 16), (2, 3, 20, 12), (4, 3, 16, 16), (2, 3, 20, 12)]:
        assert train(model, shape=shape) == train(eager, shape=shape)
    assert len(model.graphs()) == 2
    assert_same(model, eager)
    assert len({graph.program._arena for graph in model.graphs()}) == 1


def test_threads_have_graphs_of_their_own():
    model, _ = compiled()
    found = {}

    def work(name):
        twin = copy.deepcopy(model)
        found[name] = train(twin), len(twin.graphs())

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = train(small())
    assert all(losses == expected and n == 1 for losses, n in found.values())


def test_a_compiled_link_is_copied_and_not_pickled():
    model, _ = compiled()
    assert train(copy.deepcopy(model)) == train(copy.deepcopy(model))
    with pytest.raises(GraphError, match="uncompile"):
        pickle.dumps(model)
    model.uncompile()
    assert not model.graphs()
    pickle.dumps(model)


def test_summary_and_picture_show_both_ways(tmp_path):
    _, graph = compiled()
    text = graph.summary()
    assert "forward and backward" in text
    assert "BatchNormalization" in text
    graph.draw(tmp_path / "memory.svg")
    assert (tmp_path / "memory.svg").read_text().startswith("<svg")
    assert graph.lower_bound <= graph.planned_peak
    assert graph.eager_peak > 0


def test_a_network_without_a_value_yet_is_built_first():
    class Lazy(Chain):
        def __init__(self):
            with self.init_scope():
                self.fc = L.Linear(None, 3)
                self.bn = L.BatchNormalization()

        def forward(self, x):
            return self.bn(self.fc(x))

    lazy = Lazy()
    assert lazy.compile(photos(0, (6, 4)), train=True) is not None
    F.sum(lazy(photos(0, (6, 4)))).backward()
    assert lazy.fc.W.grad is not None
