"""Odd networks: a replay does what the network does, or there is none and a warning says why."""

import copy
import itertools
import warnings

import numpy as np
import pytest
from compiled_networks import Doing, Small, arrays_of, assert_near, eager, photos, replayed

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import using_config

CONSTANT = np.full((2, 2), 3, np.float32)


def gives_itself_and_a_constant(link, x):
    return x, link.conv(x), CONSTANT


def gives_the_same_twice(link, x):
    y = link.conv(x)
    return y, y, [y]


def gives_a_dictionary(link, x):
    y = link.conv(x)
    return {"y": y, "relu": (F.relu(y), 3, None, "name")}


def gives_views(link, x):
    y = link.conv(x)
    return F.reshape(x, (2, -1)), F.transpose(y), y[:, :1], x[:, 1:]


def gives_a_parameter(link, x):
    return link.conv.W, link.conv(x)


def gives_a_variable_of_its_own(link, x):
    return Variable(CONSTANT) + F.sum(link.conv(x))


def gives_only_a_constant(link, x):
    return CONSTANT


def gives_nothing(link, x):
    link.conv(x)


def gives_numbers(link, x):
    return F.sum(link.conv(x)), 0.5


def calls_a_layer_twice(link, x):
    return F.concat([link.conv(x), link.conv(x), link.conv(F.relu(x))], axis=1)


@pytest.mark.parametrize(
    "what",
    [
        gives_itself_and_a_constant,
        gives_the_same_twice,
        gives_a_dictionary,
        gives_views,
        gives_a_parameter,
        gives_a_variable_of_its_own,
        gives_only_a_constant,
        gives_nothing,
        gives_numbers,
        calls_a_layer_twice,
    ],
)
def test_whatever_a_network_gives_is_replayed(what):
    model = Doing(what)
    assert model.compile(photos()) is not None
    for seed in range(3):
        assert_near(replayed(model, photos(seed)), eager(model, photos(seed)))
    assert len(model.forward.graphs()) == 1


@pytest.mark.parametrize("what", [gives_only_a_constant, gives_itself_and_a_constant])
def test_a_constant_that_was_given_may_be_written_into(what):
    model = Doing(what)
    model.compile(photos())
    arrays_of(replayed(model, photos()))[-1][:] = 9
    np.testing.assert_array_equal(arrays_of(replayed(model, photos()))[-1], 3)


def reads_its_mean(link, x):
    return link.conv(x) if x.mean() > 1e9 else -link.conv(x)


def reads_a_number(link, x):
    return link.conv(x) if x[0, 0, 0, 0] > 1e9 else -link.conv(x)


def reads_by_a_function_of_numpy(link, x):
    return link.conv(x) if np.count_nonzero(x) > 1e9 else -link.conv(x)


def reads_the_largest_place(link, x):
    return link.conv(x)[:, : 1 + int(x.argmax() > 1e9)]


def reads_a_converted_copy(link, x):
    return link.conv(x) if (x.astype(np.float64) ** 2).sum() > 1e9 else -link.conv(x)


def reads_a_part(link, x):
    return link.conv(x) if float(x[:1, :1, :1, 0].max()) > 1e9 else -link.conv(x)


def computes_with_numpy(link, x):
    return link.conv(x - x.mean(axis=(2, 3), keepdims=True))


@pytest.mark.parametrize(
    "what",
    [
        reads_its_mean,
        reads_a_number,
        reads_by_a_function_of_numpy,
        reads_the_largest_place,
        reads_a_converted_copy,
        reads_a_part,
        computes_with_numpy,
    ],
)
def test_who_reads_the_numbers_of_an_argument_is_named_once(what):
    model = Doing(what)
    with pytest.warns(RuntimeWarning, match=f"Doing.forward is not replayed as a graph: values.* in {what.__name__}, "):
        assert model.compile(photos()) is None
    for seed in range(3):
        assert_near(replayed(model, photos(seed)), eager(model, photos(seed)))


def looks_at_its_shape(link, x):
    assert isinstance(x, np.ndarray)
    assert x.dtype == np.float32
    n, _, *size = x.shape
    assert len(x) == n
    assert np.ndim(x) == 4
    part = x[:, :, ::-1][:1].reshape(1, 3, *size)
    return link.conv(x) + F.sum(link.conv(np.transpose(part, (0, 1, 2, 3)).astype(np.float32, copy=False)))


def test_who_looks_at_shapes_only_is_replayed():
    model = Doing(looks_at_its_shape)
    assert model.compile(photos()) is not None
    for seed in range(3):
        assert_near(replayed(model, photos(seed)), eager(model, photos(seed)))


def adds_to_its_argument(link, x):
    x += 1
    return link.conv(x)


def wipes_its_argument(link, x):
    y = link.conv(x)
    x.fill(0)
    return y


@pytest.mark.parametrize("what", [adds_to_its_argument, wipes_its_argument])
def test_who_writes_into_an_argument_stays_eager(what):
    model = Doing(what)
    with pytest.warns(RuntimeWarning, match="not replayed"):
        assert model.compile(photos()) is None
    for seed in range(3):
        mine, other = photos(seed), photos(seed)
        assert_near(replayed(model, mine), eager(model, other))
        np.testing.assert_array_equal(mine, other)


def keeps_a_result(link, x):
    link.last = link.conv(x)
    return F.relu(link.last)


def counts(link, x):
    link.count = vars(link).get("count", 0) + 1
    return link.conv(x)


def appends(link, x):
    link.kept.append(1)
    return link.conv(x)


@pytest.mark.parametrize(("what", "name"), [(keeps_a_result, "last"), (counts, "count"), (appends, "kept")])
def test_who_changes_an_attribute_stays_eager(what, name):
    model = Doing(what)
    model.kept = []
    with pytest.warns(RuntimeWarning, match=f"it changes the attribute {name}"):
        assert model.compile(photos()) is None
    before = len(model.kept), vars(model).get("count", 0)
    for seed in range(3):
        assert_near(replayed(model, photos(seed)), eager(model, photos(seed)))
        if what is keeps_a_result:
            assert_near(model.last, replayed(model.conv, photos(seed)))
    assert what is not counts or model.count == before[1] + 3
    assert what is not appends or len(model.kept) == before[0] + 3


def draws_with_numpy(link, x):
    return link.conv(x) + np.random.normal(size=(2, 4, 9, 11)).astype(np.float32)


def draws_by_a_function(link, x):
    with using_config("train", True):
        return F.dropout(link.conv(x))


@pytest.mark.parametrize("what", [draws_with_numpy, draws_by_a_function])
def test_who_draws_random_numbers_draws_new_ones_each_time(what):
    model = Doing(what)
    with pytest.warns(RuntimeWarning, match="not replayed"):
        model.compile(photos())
    results = [replayed(model, photos()).array for _ in range(4)]
    assert not any(np.array_equal(a, b) for a, b in itertools.pairwise(results))


def test_a_network_without_arguments_is_called_as_it_is():
    model = Doing(lambda link: link.conv(photos()))
    assert model.compile() is None
    assert_near(replayed(model), eager(model))


def test_an_attribute_that_is_assigned_is_noticed():
    def scales(link, x):
        return link.conv(x) * link.scale

    model = Doing(scales)
    model.scale = np.full((1, 4, 1, 1), 2, np.float32)
    model.compile(photos())
    model.scale = model.scale * 5
    for _ in range(3):
        assert_near(replayed(model, photos(1)), eager(model, photos(1)))


def test_a_list_of_layers_that_is_assigned_is_noticed():
    def through_all(link, x):
        for layer in link.layers:
            x = layer(x)
        return x

    model = Doing(through_all)
    model.layers = [model.conv, F.relu]
    model.compile(photos())
    model.layers = [model.conv, F.exp]
    for _ in range(3):
        assert_near(replayed(model, photos(1)), eager(model, photos(1)))


def test_a_shallow_copy_calls_its_own_layers():
    model = Small()
    model.compile(photos())
    twin = copy.copy(model)
    twin.fc = L.Linear(8, 7)
    assert replayed(twin, photos()).shape == (2, 7)
    assert replayed(model, photos()).shape == (2, 5)
    assert len(model.forward.graphs()) == 1


def test_a_network_within_a_compiled_network_may_be_compiled_too():
    inner = Small()

    def asks_another(link, x):
        return inner(link.conv(x)[:, :3])

    model = Doing(asks_another)
    inner.compile(photos())
    model.compile(photos())
    for seed in range(3):
        assert_near(replayed(model, photos(seed)), eager(model, photos(seed)))
        assert_near(replayed(inner, photos(seed)), eager(inner, photos(seed)))


def test_an_error_of_the_network_while_it_is_recorded_is_the_callers_and_leaves_it_usable():
    broken = []

    def fails_at_times(link, x):
        if broken:
            raise broken[0]
        return link.conv(x)

    model = Doing(fails_at_times)
    for error in (ValueError("mine"), MemoryError(), KeyboardInterrupt()):
        broken.append(error)
        with pytest.raises(type(error)):
            model.compile(photos())
        broken.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.compile(photos()) is not None
    assert_near(replayed(model, photos(1)), eager(model, photos(1)))


def refuses_small_numbers(link, x):
    y = link.conv(x)
    if vars(link).setdefault("calls", []) is not None and len(link.calls) == 1:
        raise ValueError("these numbers are too small for me")
    link.calls.append(1)
    return y


def test_an_error_with_other_numbers_is_no_error_of_this_call():
    model = Doing(refuses_small_numbers)
    with pytest.warns(RuntimeWarning, match="it raises ValueError for other values"):
        assert model.compile(photos()) is None
