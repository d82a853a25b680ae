"""Which functions become calls of primitives, and how often that is tried, with which kernels."""

import numpy as np
import pytest

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.graph import lowering
from cvzoo.graph.program import Program


def photo(seed=0):
    return np.random.default_rng(seed).normal(size=(1, 16, 32, 32)).astype(np.float32)


@pytest.fixture
def tried(monkeypatch):
    """The functions' names that were tried, as it goes."""
    found = []
    plain = lowering._Lowering.reproduces

    def reproduces(self, steps, *rest):
        found.append(steps[0].record.label)
        return plain(self, steps, *rest)

    monkeypatch.setattr(lowering._Lowering, "reproduces", reproduces)
    return found


class ReluPlus(FunctionNode):
    """relu(x) by a primitive, and `more` by NumPy."""

    def __init__(self, more):
        self.more = more

    def forward(self, inputs):
        y = F.relu(inputs[0]).array
        if self.more:
            y = np.add(y, np.float32(self.more), out=y)
        return (y,)


def test_functions_of_one_kind_are_tried_once(record, replay, tried):
    def call(x):
        for _ in range(4):
            x = F.sigmoid(x)
        return x

    graph, wanted = record(call, photo())
    (y,), program, _ = replay(graph, photo())
    np.testing.assert_array_equal(y, wanted[0])
    assert program.n_call >= 4
    assert tried == [graph.records[0].label]


def test_another_shape_is_another_kind(record, replay, tried):
    a, b = L.Convolution2D(16, 16, 3, pad=1), L.Convolution2D(16, 16, 3)
    graph, _ = record(lambda x: b(b(a(x))), photo())
    replay(graph, photo())
    assert len(tried) == 3


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 1, 0, 2)])
def test_other_settings_are_another_kind(record, replay, order):
    def call(x):
        for more in order:
            (x,) = ReluPlus(more).apply((x,))
        return x

    graph, _ = record(call, photo())
    (y,), _, _ = replay(graph, photo(1))
    expected = photo(1)
    for more in order:
        expected = np.maximum(expected, 0) + np.float32(more)
    np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_what_the_graph_gives_need_not_be_kept_to_the_end(record):
    graph, wanted = record(lambda x: (F.relu(x), F.sigmoid(x)), photo())
    results = Program(lowering.lower(graph, [photo()]))([photo()])
    for y, expected in zip(results, wanted):
        np.testing.assert_allclose(y, expected, rtol=1e-6)


# --- kernels that do not run ----------------------------------------------------------------------------------------
@pytest.fixture
def skipped(monkeypatch):
    """Whether each heavy kernel of a traced function was skipped, as it goes."""
    found = []
    plain = lowering._stood_in

    def stood_in(primitive, arrays, heavy):
        found.append(plain(primitive, arrays, heavy))
        return found[-1]

    monkeypatch.setattr(lowering, "_stood_in", stood_in)
    return found


def assert_replayed(record, replay, call, *arrays):
    graph, expected = record(call, *arrays)
    got, program, _ = replay(graph, *arrays)
    for a, b in zip(got, expected):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
    return program


def test_convolutions_do_not_run_before_the_replay(record, replay, tried, skipped):
    convs = [L.Convolution2D(16, 16, 3, stride=2) for _ in range(4)]

    def call(x):
        for conv in convs:
            x = conv(x)
        return x

    assert_replayed(record, replay, call, photo().repeat(3, 2))
    assert len(tried) == 4
    assert skipped.count(True) == 8


def test_a_function_of_other_settings_is_tried_on_noise(record, replay, tried, skipped):
    convs = [L.Convolution2D(16, 16, 3, pad=1) for _ in range(3)]

    def call(x):
        for conv in convs:
            x = conv(x)
        return ReluPlus(2).apply((x,))[0]

    program = assert_replayed(record, replay, call, photo())
    assert skipped.count(True) == 5  # the first one reads NCHW, and the third one is like the second
    assert tried[2:] == ["ReluPlus", "ReluPlus"]  # once more, with true values, before it runs in Python
    assert program.n_function == 1


def one_more(h):
    np.add(h, np.float32(1), out=h)


def swapped(h):
    h[:2] = h[1::-1].copy()


class TwoProducts(FunctionNode):
    """x @ w @ w by primitives, between which NumPy changes the first product in place."""

    def __init__(self, w, change):
        self.w = w
        self.change = change

    def forward(self, inputs):
        h = F.matmul(inputs[0], self.w).array
        self.change(h)
        return (F.matmul(h, self.w).array,)


@pytest.mark.parametrize("change", [one_more, swapped])
def test_a_change_between_two_kernels_is_noticed_although_neither_runs(record, replay, skipped, change):
    w = np.random.default_rng(3).normal(size=(64, 64)).astype(np.float32) / 8
    program = assert_replayed(
        record, replay, lambda x: TwoProducts(w, change).apply((x,))[0], photo()[0, 0].repeat(2, 1)
    )
    assert skipped.count(True) > 1
    assert program.n_function == 1


def test_kernels_run_where_noise_cannot_tell(record, replay, tried, monkeypatch):
    """Such as one that reads memory with gaps of undefined values, whose checksum always differs."""
    checksums = iter(range(100))
    monkeypatch.setattr(lowering, "checksum_of", lambda arrays: next(checksums))
    w = np.random.default_rng(3).normal(size=(64, 64)).astype(np.float32) / 8
    program = assert_replayed(record, replay, lambda x: F.matmul(x, w), photo()[0, 0].repeat(2, 1))
    assert len(tried) == 2
    assert program.n_function == 0


class KeptProduct(FunctionNode):
    """x @ (w @ w), whose second product is kept from the first call on; `more` is added by NumPy."""

    def __init__(self, w, more=0):
        self.w = w
        self.more = more
        self.square = None

    def forward(self, inputs):
        if self.square is None:
            self.square = F.matmul(self.w, self.w).array
        y = F.matmul(inputs[0], self.square).array
        return (np.add(y, np.float32(self.more), out=y) if self.more else y,)


@pytest.mark.parametrize("more", [(0, 0, 0), (0, 1, 1), (1, 1, 1), (1, 0, 1)])
def test_what_functions_keep_is_not_computed_from_noise(record, replay, more):
    w = np.random.default_rng(3).normal(size=(64, 64)).astype(np.float32) / 8

    def call(x):
        for each in more:
            (x,) = KeptProduct(w, each).apply((x,))
        return x

    graph, (expected,) = record(call, photo()[0, 0].repeat(2, 1))
    for each in graph.records:
        each.function.square = None  # as in a dry run
    (got,), _, _ = replay(graph, photo()[0, 0].repeat(2, 1))
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)


class Small(FunctionNode):
    """x, which must have values of a convolution's sizes: noise has none below zero."""

    def forward(self, inputs):
        if (inputs[0] > 0).all():
            raise ValueError("all values are positive")
        return (inputs[0] * 1,)


def test_a_function_that_refuses_noise_is_lowered_with_true_values(record, replay, skipped):
    convs = [L.Convolution2D(16, 16, 3, pad=1) for _ in range(3)]

    def call(x):
        for conv in convs:
            (x,) = Small().apply((conv(x),))
        return x

    assert_replayed(record, replay, call, photo())
    assert True in skipped


def test_a_bias_that_python_adds_counts_although_it_is_zero_while_the_graph_is_made():
    model = L.Sequential(L.Deconvolution2D(3, 4, 2, 2))
    x = np.random.default_rng(0).normal(size=(2, 3, 5, 6)).astype(np.float32)
    before = model(x).array.copy()
    assert model.compile(x, train=True) is not None
    bias = next(param for name, param in model.namedparams() if name.endswith("b"))
    assert not bias.array.any()
    bias.array[...] = [1, 2, 3, 4]
    np.testing.assert_allclose(model(x).array, before + bias.array.reshape(4, 1, 1), rtol=1e-5, atol=1e-5)
