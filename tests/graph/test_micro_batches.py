"""Large batches are computed a few images at a time, with the same bits."""

import numpy as np
import pytest

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import Chain
from cvzoo.graph import micro_batches
from cvzoo.graph.compiled_graph import NotReplayableError, build
from cvzoo.graph.micro_batches import MicroBatches


@pytest.fixture(autouse=True)
def small_cache(monkeypatch):
    """One image is all that fits."""
    monkeypatch.setattr(micro_batches, "_LARGEST", 1)
    monkeypatch.setattr(micro_batches, "thread_count", lambda: (1, "a test"))


class Bottleneck(Chain):
    """Few weights and large maps, with everything that `images_at_once` knows."""

    def __init__(self):
        with self.init_scope():
            self.expand = L.Conv2DBNActiv(3, 24, 1, activ=F.relu6)
            self.depthwise = L.Conv2DBNActiv(24, 24, 3, 2, 1, groups=24, activ=F.swish)
            self.gate = L.Convolution2D(24, 24, 1)
            self.project = L.Conv2DBNActiv(24, 8, 1, activ=None)
            self.classify = L.Linear(16, 5)

    def forward(self, x):
        h = self.depthwise(F.max_pooling_2d(self.expand(x), 2))
        h = h * F.sigmoid(self.gate(F.average_pooling_2d(h, h.shape[2:])))
        h = self.project(h)
        h = F.concat((h, F.resize_images(F.relu(h), h.shape[2:])), axis=1)
        boxes = F.reshape(F.transpose(h, (0, 2, 3, 1)), (len(h), -1, 4))
        return boxes, self.classify(F.average_pooling_2d(h, h.shape[2:]))


def images(n, seed=0, side=24):
    return np.random.default_rng(seed).standard_normal((n, 3, side, side)).astype(np.float32)


def arrays_of(result):
    return [y.array for y in result] if isinstance(result, tuple) else [result.array]


def test_an_image_at_a_time_gives_the_bits_of_the_whole_batch_in_less_memory(inference, monkeypatch):
    model = Bottleneck()
    graph, _ = build(model.forward, (images(6),), {})
    assert isinstance(graph.program, MicroBatches)
    assert graph.program.n == 6
    monkeypatch.setattr(micro_batches, "_LARGEST", 1 << 60)
    whole, _ = build(model.forward, (images(6),), {})
    assert not isinstance(whole.program, MicroBatches)
    for x in (images(6), images(6, seed=1)):
        for y, expected, eager in zip(*map(arrays_of, (graph([x]), whole([x]), model(x)))):
            assert y.strides == eager.strides
            np.testing.assert_array_equal(y, expected)
            np.testing.assert_allclose(y, eager, rtol=1e-5, atol=1e-5)
    assert "6 micro-batches" in graph.summary()
    assert len(graph.profile()) == len(graph.program.lowered.steps)
    assert graph.planned_peak < whole.planned_peak / 5


def test_results_do_not_change_when_the_next_ones_are_computed(inference):
    model = Bottleneck()
    graph, _ = build(model.forward, (images(4),), {})
    first = arrays_of(graph([images(4)]))
    kept = [y.copy() for y in first]
    graph([images(4, seed=1)])
    for y, expected in zip(first, kept):
        np.testing.assert_array_equal(y, expected)


def test_images_without_a_difference_are_no_proof(inference):
    """Of zeros, all images have the same results, wherever they are written."""
    model = Bottleneck()
    graph, _ = build(model.forward, (np.zeros((4, 3, 24, 24), np.float32),), {})
    assert isinstance(graph.program, MicroBatches)
    for y, expected in zip(arrays_of(graph([images(4)])), arrays_of(model(images(4)))):
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("n", "threads", "parts"), [(6, 1, 6), (6, 2, 3), (6, 4, 1), (7, 2, 1), (1, 1, 1)])
def test_each_thread_has_an_image(inference, monkeypatch, n, threads, parts):
    monkeypatch.setattr(micro_batches, "thread_count", lambda: (threads, "a test"))
    graph, _ = build(Bottleneck().forward, (images(n),), {})
    assert getattr(graph.program, "n", 1) == parts


def test_as_many_as_fit_are_computed_at_once(inference, monkeypatch):
    monkeypatch.setattr(micro_batches, "_LARGEST", 2 * 24 * 24 * 24 * 4)
    graph, _ = build(Bottleneck().forward, (images(8),), {})
    assert graph.program.n == 4


def test_a_network_with_more_weights_than_maps_reads_them_once(inference):
    layer = L.Conv2DActiv(64, 64, 3, 1, 1)
    x = np.random.default_rng(0).standard_normal((4, 64, 5, 5)).astype(np.float32)
    graph, _ = build(layer.forward, (x,), {})
    assert not isinstance(graph.program, MicroBatches)


def column(x):
    """(B,)"""
    means = F.average_pooling_2d(x, x.shape[2:])
    return F.reshape(F.convolution_2d(means, np.ones((1, 3, 1, 1), np.float32)), (len(x),))


ALTOGETHER = {
    "a mean of all images": lambda x: x - F.mean(x, axis=0, keepdims=True),
    "images in a row": lambda x: F.concat((x, x), axis=0),
    "axes that change places": lambda x: F.relu(F.transpose(x, (1, 0, 2, 3))),
    "channels of all images": lambda x: F.relu(F.reshape(x, (-1, *x.shape[2:]))),
    "channels of all images, and back": lambda x: F.reshape(F.relu(F.reshape(x, (2, -1, *x.shape[2:]))), x.shape),
    "a number for each image": lambda x: F.relu(x) * np.arange(4, dtype=np.float32).reshape(4, 1, 1, 1),
    "images in another order": lambda x: F.relu(x[::-1]),
    "filters made of all images": lambda x: F.convolution_2d(x, F.average_pooling_2d(x, x.shape[2:])),
    "a number of each image in a column": lambda x: F.relu(x) + column(x),
    "a softmax of images": lambda x: F.softmax(F.relu(x), axis=0),
}


@pytest.mark.parametrize("name", ALTOGETHER)
def test_images_that_depend_on_each_other_are_computed_together(inference, name):
    call = ALTOGETHER[name]
    graph, _ = build(call, (images(4, side=4),), {})
    assert not isinstance(graph.program, MicroBatches)
    x = images(4, seed=1, side=4)
    np.testing.assert_allclose(arrays_of(graph([x]))[0], arrays_of(call(x))[0], rtol=1e-5, atol=1e-6)


def test_code_that_wants_a_number_of_images_has_it(inference):
    def call(x):
        assert len(x) == 4
        return F.relu(x)

    graph, _ = build(call, (images(4),), {})
    assert not isinstance(graph.program, MicroBatches)


def test_code_that_does_something_else_for_fewer_images_is_noticed_even_with_zeros(inference):
    with pytest.raises(NotReplayableError, match="different results"):
        build(lambda x: F.relu(x) if len(x) > 3 else F.sigmoid(F.relu(x)), (images(4),), {})
    zeros = np.zeros((4, 3, 8, 8), np.float32)
    graph, _ = build(lambda x: F.relu(x) if len(x) > 3 else F.leaky_relu(F.relu(x), 0.5) * x, (zeros,), {})
    assert not isinstance(graph.program, MicroBatches)


def test_a_compiled_network_of_the_zoo_predicts_the_same(inference):
    model = L.MobileNetV2(n_class=10)
    x = images(2, side=160)
    expected = model(x).array
    graph = model.compile(x)
    assert isinstance(graph.program, MicroBatches)
    np.testing.assert_array_equal(model(x).array, expected)
