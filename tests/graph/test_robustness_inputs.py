"""Odd arguments: a replay gives what the network gives, be it numbers or an error."""

import numpy as np
import pytest
from compiled_networks import Doing, Small, arrays_of, assert_near, eager, photos, replayed

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import using_config


@pytest.fixture
def model():
    return Small()


def read_only(x):
    x.flags.writeable = False
    return x


def unaligned(x):
    memory = np.zeros(x.nbytes + 1, np.uint8)
    y = np.ndarray(x.shape, x.dtype, memory, 1)
    y[...] = x
    return y


LAYOUTS = [
    read_only,
    unaligned,
    np.asfortranarray,
    lambda x: x[:, :, ::-1],
    lambda x: x[::-1, :, :, ::-1],
    lambda x: np.repeat(x, 2, 3)[..., ::2],
    lambda x: np.broadcast_to(x[:1], x.shape),
    lambda x: np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2),
    lambda x: x.transpose(0, 1, 3, 2),
    lambda x: Variable(x),
    lambda x: read_only(x)[:, :, 1:-1],
]


@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
def test_an_argument_may_lie_in_memory_as_it_likes(model, layout):
    lay = LAYOUTS[layout]
    model.compile(photos())
    for seed in range(3):
        for _ in range(2):
            assert_near(replayed(model, lay(photos(seed))), eager(model, lay(photos(seed))))


@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
def test_an_example_may_lie_in_memory_as_it_likes(model, layout):
    model.compile(LAYOUTS[layout](photos()))
    for seed in range(3):
        assert_near(replayed(model, photos(seed)), eager(model, photos(seed)))
        assert_near(replayed(model, LAYOUTS[layout](photos(seed))), eager(model, LAYOUTS[layout](photos(seed))))


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e38, 1e-42])
def test_numbers_that_are_none_go_through_a_replay_as_they_go_through_the_network(model, value):
    model.compile(photos())
    x = photos(1)
    x[0, 1, 3, 4] = value
    assert_near(replayed(model, x), eager(model, x))
    got, expected = replayed(model, photos(2)), eager(model, photos(2))
    assert_near(got, expected)  # nothing of it is left
    assert np.isfinite(got.array).all()


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("value", [np.nan, np.inf, 0, -1, 1e30])
def test_an_example_may_hold_any_numbers(model, value):
    assert model.compile(np.full((2, 3, 9, 11), value, np.float32)) is not None
    for seed in range(3):
        assert_near(replayed(model, photos(seed)), eager(model, photos(seed)))


@pytest.mark.parametrize(
    "wrong",
    [
        photos(0, (2, 4, 9, 11)),
        photos(0, (2, 3, 9)),
        photos(0, (0, 3, 9, 11)),
        photos(0, (2, 3, 0, 11)),
        photos().astype(np.float64),
        photos().astype(np.float16),
        photos().astype(">f4"),
        photos().astype(np.int32),
        photos() > 0,
        photos().astype(np.complex64),
        photos().astype(object),
        "a photo",
        None,
        [1, 2],
        3.5,
    ],
    ids=lambda x: f"{x.dtype}-{x.shape}" if isinstance(x, np.ndarray) else repr(x),
)
def test_what_the_network_refuses_is_refused_alike_each_time(model, wrong):
    def outcome(call):
        try:
            return call(model, wrong).shape
        except Exception as error:
            return type(error), str(error)

    model.compile(photos())
    expected = outcome(eager)
    for _ in range(4):
        assert outcome(replayed) == expected
    assert_near(replayed(model, photos(1)), eager(model, photos(1)))


def test_no_arguments_or_too_many_are_the_networks_error(model):
    model.compile(photos())
    for args in ((), (photos(), photos())):
        for _ in range(3):
            with pytest.raises(TypeError, match="argument"):
                replayed(model, *args)


def two(link, x, y):
    return link.conv(x) + F.relu(link.conv(y)), x, y


def test_two_arguments_may_share_memory():
    model = Doing(two)
    for example in ((photos(0), photos(1)), (photos(0),) * 2):
        model.uncompile()
        model.compile(*example)
        long = photos(3, (3, 3, 9, 11))
        for args in ((photos(4), photos(5)), (photos(4),) * 2, (long[:2], long[1:]), (long[1:], long[:2])):
            for _ in range(2):
                assert_near(replayed(model, *args), eager(model, *args))


def test_a_result_may_be_the_next_argument_and_be_written_into():
    model = Doing(lambda link, x: F.relu(link.conv(x)[:, :3] + x))
    model.compile(photos())
    x, y = photos(1), photos(1)
    for _ in range(5):
        x = replayed(model, x).array
        y = eager(model, y).array
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-4)
        x *= 0.5
        y *= 0.5


def test_results_that_are_kept_never_change_whatever_is_written_into_others():
    def gives_much(link, x):
        y = link.conv(x)
        return y, F.relu(y), y[:, 1:], F.reshape(y, (2, -1)), F.max(y, axis=(2, 3))

    model = Doing(gives_much)
    model.compile(photos())
    kept = [arrays_of(replayed(model, photos(seed))) for seed in range(6)]
    copies = [[a.copy() for a in each] for each in kept]
    for a in arrays_of(replayed(model, photos(9))):
        a.fill(-1)
    for arrays, expected in zip(kept, copies):
        for a, b in zip(arrays, expected):
            np.testing.assert_array_equal(a, b)
    assert_near(replayed(model, photos(2)), eager(model, photos(2)))


def test_results_share_memory_as_those_of_the_network_do():
    def gives_views(link, x):
        y = link.conv(x)
        return y, y[:, 1:], x[:1]

    model = Doing(gives_views)
    model.compile(photos())
    x = photos(1)
    y, part, own = arrays_of(replayed(model, x))
    assert np.shares_memory(y, part)
    assert np.shares_memory(x, own)


@pytest.mark.parametrize("value", ["numpy", "onednn"])
def test_another_backend_has_graphs_of_its_own(model, value):
    model.compile(photos())
    for _ in range(2):
        with using_config("backend", value):
            for seed in range(3):
                assert_near(replayed(model, photos(seed)), eager(model, photos(seed)))
        assert_near(replayed(model, photos(1)), eager(model, photos(1)))


def test_another_dtype_has_graphs_of_its_own():
    with using_config("dtype", "float64"):
        model = Small()
        x = photos().astype(np.float64)
        model.compile(x)
        for _ in range(3):
            assert_near(replayed(model, x), eager(model, x))
    for _ in range(3):
        assert_near(replayed(model, x), eager(model, x))


def test_training_in_between_leaves_statistics_that_replays_see(model):
    model.compile(photos())
    for seed in range(4):
        with using_config("train", True):
            model(photos(seed) * 10)
        for _ in range(2):
            assert_near(replayed(model, photos(1)), eager(model, photos(1)))


def test_layers_that_are_frozen_exchanged_or_lost_are_noticed(model):
    model.compile(photos())
    model.disable_update()
    assert_near(replayed(model, photos(1)), eager(model, photos(1)))
    model.bn.eps = 0.5
    assert_near(replayed(model, photos(1)), eager(model, photos(1)))
    with model.init_scope():
        model.fc = L.Linear(8, 2)
    assert replayed(model, photos(1)).shape == (2, 2)
    del model.fc
    for _ in range(3):
        with pytest.raises(AttributeError):
            replayed(model, photos(1))


class Turns(FunctionNode):
    """x, in another order of axes in memory at each second call."""

    def __init__(self):
        self.calls = []

    def forward(self, inputs):
        self.calls.append(1)
        x = np.ascontiguousarray(inputs[0] * 2)
        return (x if len(self.calls) % 2 else np.asfortranarray(x),)


def test_a_function_may_lay_its_result_in_memory_as_it_likes_each_time():
    turns = Turns()

    def what(link, x):
        (y,) = turns.apply((F.relu(link.conv(x)),))
        return link.conv(y[:, :3])

    model = Doing(what)
    expected = replayed(model, photos(1))
    assert model.compile(photos()) is not None
    for _ in range(4):
        assert_near(replayed(model, photos(1)), expected)
