import copy
import gc
import pickle
import threading
import warnings
import weakref

import numpy as np
import pytest
from compiled_networks import Small

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.autodiff.hooks.timer_hook import TimerHook
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import GraphError, ValueRangeError
from cvzoo.links.chain import Chain, Sequential


@pytest.fixture
def model():
    np.random.seed(0)
    return Small()


def photos(seed=0, shape=(2, 3, 9, 11)):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def eager(model, *args):
    with using_config("train", False), no_backprop_mode():
        return type(model).forward(model, *args)


def replayed(model, *args):
    with using_config("train", False), no_backprop_mode():
        return model(*args)


def near(a, b):
    np.testing.assert_allclose(a.array, b.array, rtol=1e-5, atol=1e-5 * np.abs(b.array).max())


def test_a_replay_gives_the_numbers_of_the_eager_pass(model):
    graph = model.compile(photos())
    for seed in range(3):
        near(replayed(model, photos(seed)), eager(copy.deepcopy(model), photos(seed)))
    assert model.graphs()[0] is graph
    assert len(model.forward.graphs()) == 1


def test_where_nothing_is_fused_the_bits_are_the_same():
    model = L.ResNet50(n_class=3)
    x = photos(0, (1, 3, 64, 64))
    expected = eager(model, x).array
    model.compile(x)
    np.testing.assert_array_equal(replayed(model, x).array, expected)


def test_results_are_the_callers_and_never_change(model):
    model.compile(photos())
    first = replayed(model, photos(1)).array
    kept = first.copy()
    second = replayed(model, photos(2)).array
    np.testing.assert_array_equal(first, kept)
    first[:] = 0
    np.testing.assert_array_equal(replayed(model, photos(2)).array, second)


def test_the_callers_arrays_are_neither_changed_nor_kept(model):
    model.compile(photos())
    x = photos(1)
    kept, gone = x.copy(), weakref.ref(x)
    replayed(model, x)
    np.testing.assert_array_equal(x, kept)
    del x
    gc.collect()
    assert gone() is None


def test_a_variable_or_another_order_of_axes_in_memory_is_fine(model):
    model.compile(photos())
    expected = eager(copy.deepcopy(model), photos(1)).array
    turned = np.ascontiguousarray(photos(1).transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    part = np.zeros((2, 3, 18, 22), np.float32)[:, :, ::2, ::2]
    part[...] = photos(1)
    for x in (Variable(photos(1)), turned, part):
        for _ in range(3):
            np.testing.assert_allclose(replayed(model, x).array, expected, rtol=1e-5, atol=1e-5)


def test_a_new_shape_costs_one_eager_pass_and_is_recorded_when_it_comes_again(model):
    model.compile(photos())
    other = photos(0, (1, 3, 7, 7))
    expected = eager(copy.deepcopy(model), other)
    near(replayed(model, other), expected)
    assert len(model.forward.graphs()) == 1
    near(replayed(model, other), expected)
    assert len(model.forward.graphs()) == 2
    near(replayed(model, other), expected)


def test_the_least_recently_used_shape_goes_first(model):
    model.compile(photos(), limit=2)
    shapes = [(1, 3, 5, 5), (1, 3, 6, 6)]
    for shape in shapes:
        for _ in range(4):
            replayed(model, photos(0, shape))
    assert len(model.forward.graphs()) == 2
    assert [graph.program.inputs[0].shape for graph in model.forward.graphs()] == shapes


def test_training_and_gradients_stay_eager(model):
    model.compile(photos())
    x = Variable(photos())
    y = model(x)
    F.sum(y).backward()
    assert x.grad is not None
    assert model.conv.W.grad is not None


def test_hooks_see_every_function(model):
    model.compile(photos())
    with TimerHook() as hook:
        replayed(model, photos())
    assert sum(each.count for each in hook.summary().values()) > 5


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.conv.W.array.__setitem__(..., 0.5),
        lambda m: setattr(m.conv.W, "array", np.full((8, 3, 3, 3), 0.25, np.float32)),
        lambda m: setattr(m.conv, "W", Parameter(np.full((8, 3, 3, 3), 0.75, np.float32))),
        lambda m: m.bn.gamma.array.__setitem__(..., 3.0),
        lambda m: m.bn.avg_mean.__setitem__(..., 3.0),
        lambda m: m.bn.avg_var.__setitem__(0, 9.0),
        lambda m: m.fc.b.array.__setitem__(1, 3.0),
        lambda m: setattr(m, "slope", 0.5),
        lambda m: setattr(m, "fc", L.Linear(8, 4)),
        lambda m: m.load_arrays({name: array + 0.5 for name, array in m.state_arrays().items()}),
        lambda m: m.copyparams(Small()),
    ],
)
def test_what_changes_the_network_is_noticed(model, change):
    model.compile(photos())
    before = replayed(model, photos(1)).array
    with using_config("train", True):
        change(model)
    expected = eager(copy.deepcopy(model), photos(1))
    for _ in range(3):
        near(replayed(model, photos(1)), expected)
    assert before.shape != expected.shape or not np.allclose(before, expected.array)


def test_a_setting_that_comes_back_finds_its_graph(model):
    model.compile(photos())
    (graph,) = model.forward.graphs()
    model.slope = 0.7
    replayed(model, photos())
    model.slope = 0.1
    replayed(model, photos())
    assert model.forward.graphs() == [graph]


class LooksAtNumbers(Chain):
    def __init__(self):
        with self.init_scope():
            self.first = L.Convolution2D(3, 4, 3)
            self.second = L.Convolution2D(4, 2, 3)

    def forward(self, x):
        h = self.first(x)
        if h.array.mean() > 1e9:
            h = -h
        return self.second(h)


class ComputesAside(LooksAtNumbers):
    def forward(self, x):
        return self.second(self.first(x) * np.float32(np.abs(x).max()))


class ShapeOfNumbers(LooksAtNumbers):
    def forward(self, x):
        return self.second(self.first(x))[:, :, : 1 + int(np.abs(x).sum()) % 5]


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (LooksAtNumbers, "values are read in forward"),
        (ComputesAside, "values of an argument are read in forward"),
        (ShapeOfNumbers, "values of an argument are read in forward"),
    ],
)
def test_what_depends_on_numbers_stays_eager_says_so_once_and_its_children_are_replayed(kind, says):
    model = kind()
    with pytest.warns(RuntimeWarning, match=f"{kind.__name__}.forward is not replayed as a graph: .*{says}"):
        assert model.compile(photos()) is None
    for seed in range(3):
        expected = eager(copy.deepcopy(model), photos(seed))
        near(replayed(model, photos(seed)), expected)
    assert len(model.graphs()) == 2  # no further warning: warnings are errors here


def test_whole_numbers_and_other_arguments_stay_eager():
    class Picks(Chain):
        def forward(self, x, index):
            return F.get_item(x, index)

    model = Picks()
    model.compile()
    x = photos()
    for index in (np.array([1, 0]), slice(0, 1), np.array([0])):
        for _ in range(3):
            np.testing.assert_array_equal(replayed(model, x, index).array, x[index])


def test_results_may_be_tuples_lists_dictionaries_and_arrays():
    class Several(Chain):
        def forward(self, x):
            y = F.relu(x)
            return {"a": (y, [y * 2, x]), "b": 3, "c": y}

    model = Several()
    model.compile(photos())
    got = replayed(model, photos(1))
    np.testing.assert_array_equal(got["a"][0].array, np.maximum(photos(1), 0))
    np.testing.assert_array_equal(got["a"][1][0].array, 2 * np.maximum(photos(1), 0))
    np.testing.assert_array_equal(got["a"][1][1], photos(1))
    assert got["b"] == 3


def test_an_error_in_the_midst_of_a_replay_leaves_it_usable(model, monkeypatch):
    graph = model.compile(photos())
    expected = replayed(model, photos(1)).array
    steps = graph.program._steps

    def fails():
        raise MemoryError("no more")

    steps.insert(2, fails)
    with pytest.raises(MemoryError):
        replayed(model, photos(1))
    del steps[2]
    np.testing.assert_array_equal(replayed(model, photos(1)).array, expected)


def test_a_call_from_within_a_replay_is_eager(model):
    graph = model.compile(photos())
    inner = []
    graph.program._steps.insert(2, lambda: inner.append(replayed(model, photos(2))))
    expected = eager(copy.deepcopy(model), photos(1))
    near(replayed(model, photos(1)), expected)
    near(inner[0], eager(copy.deepcopy(model), photos(2)))


def test_threads_have_graphs_of_their_own(model):
    model.compile(photos())
    expected = [eager(copy.deepcopy(model), photos(seed)).array for seed in range(4)]
    wrong = []

    def work(seed):
        for _ in range(20):
            got = replayed(model, photos(seed)).array
            if not np.allclose(got, expected[seed], rtol=1e-5, atol=1e-5):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_pickling_is_refused_until_it_is_uncompiled(model):
    model.compile(photos())
    with pytest.raises(GraphError, match="compiled"):
        pickle.dumps(model)
    model.uncompile()
    assert "forward" not in vars(model)
    assert not model.graphs()


def test_copies_have_graphs_of_their_own(model):
    model.compile(photos())
    twin = copy.deepcopy(model)
    twin.fc.b.array[...] = 100
    near(replayed(twin, photos(1)), eager(twin, photos(1)))
    near(replayed(model, photos(1)), eager(copy.deepcopy(model), photos(1)))
    shared = model.copy("share")
    assert "forward" not in vars(shared)
    near(replayed(shared, photos(1)), replayed(model, photos(1)))


def test_a_compiled_link_dies_with_its_last_handle():
    model = Small()
    model.compile(photos())
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_numpy_alone_is_replayed_too(model):
    with using_config("backend", "numpy"):
        expected = eager(copy.deepcopy(model), photos(1))
        model.compile(photos())
        near(replayed(model, photos(1)), expected)


def test_a_limit_below_one_is_refused(model):
    with pytest.raises(ValueRangeError):
        model.compile(photos(), limit=0)


def test_a_network_without_functions_is_left_alone():
    class Nothing(Chain):
        def forward(self, x):
            return x

    model = Nothing()
    model.compile(photos())
    assert replayed(model, photos(1)).shape == photos(1).shape


def test_what_draws_random_numbers_is_not_replayed():
    class Noisy(Chain):
        def forward(self, x):
            return F.gaussian(x, x * 0 - 1)

    model = Noisy()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.compile(photos())
    if told:
        assert model.forward.reason
    a, b = replayed(model, photos()).array, replayed(model, photos()).array
    assert not np.array_equal(a, b)


def test_training_after_compiling_is_noticed(model):
    model.compile(photos())
    before = replayed(model, photos(1)).array
    optimizer = cvzoo.optimizers.MomentumSGD(lr=0.1).setup(model)
    with using_config("train", True):
        for seed in range(3):
            optimizer.update(lambda x: F.sum(model(x) ** 2), photos(seed))
    expected = eager(copy.deepcopy(model), photos(1))
    assert not np.allclose(before, expected.array)
    for _ in range(3):
        near(replayed(model, photos(1)), expected)


def test_values_from_a_file_are_noticed(model, tmp_path):
    other = Small()
    cvzoo.serializers.save_npz(tmp_path / "other.npz", other)
    model.compile(photos())
    replayed(model, photos(1))
    cvzoo.serializers.load_npz(tmp_path / "other.npz", model)
    for _ in range(3):
        near(replayed(model, photos(1)), eager(other, photos(1)))


def test_eager_calls_in_between_cost_no_graph(model):
    graph = model.compile(photos())
    replayed(model, photos(0, (1, 3, 8, 8)))  # a new shape: eager, which looks at scales and shifts
    replayed(model, photos())
    assert model.forward.graphs()[0] is graph


@pytest.mark.parametrize(
    "change",
    [
        lambda layers: layers.__setitem__(1, F.exp),
        lambda layers: layers.append(F.exp),
        lambda layers: layers.insert(0, F.exp),
        lambda layers: layers.pop(1),
        lambda layers: layers.__delitem__(1),
        lambda layers: layers.remove_by_layer_type("relu"),
    ],
)
def test_layers_put_in_or_taken_out_are_noticed(change):
    model = Sequential(L.Linear(4, 4), F.relu, L.Linear(4, 4))
    x = photos(0, (3, 4))
    model.compile(x)
    before = replayed(model, x).array
    change(model)
    expected = eager(model, x)
    assert not np.allclose(before, expected.array)
    for _ in range(3):
        near(replayed(model, x), expected)


def test_how_an_axis_of_one_element_steps_makes_no_difference(model):
    x = photos(0, (1, 3, 9, 8))
    model.compile(x)
    expected = replayed(model, x).array
    for like in (x[0][None], np.ascontiguousarray(x), x.copy().transpose(1, 0, 2, 3).transpose(1, 0, 2, 3)):
        np.testing.assert_array_equal(replayed(model, like).array, expected)
    assert len(model.graphs()) == 1
    other = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    for _ in range(4):
        np.testing.assert_allclose(replayed(model, other).array, expected, rtol=1e-5, atol=1e-5)
    assert len(model.graphs()) == 2
