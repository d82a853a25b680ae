"""When shapes are worth a recording: streams of image shapes, played through."""

import itertools

import numpy as np
import pytest

from cvzoo.graph.recompilation import RecompilationPolicy


def play(stream, kept=8):
    """How many shapes of the stream were recorded, and how many were replayed."""
    policy, graphs, n_recording, n_replay = RecompilationPolicy(), [], 0, 0
    for shape in stream:
        if shape in graphs:
            policy.replayed(shape)
            n_replay += 1
            graphs.append(graphs.pop(graphs.index(shape)))
        elif policy.should_compile(shape):
            policy.compiled()
            n_recording += 1
            graphs = [*graphs, shape][-kept:]
    return n_recording, n_replay


STREAMS = {
    "one shape": (["a"] * 100, 1, 98),
    "ever new shapes": (range(1000), 0, 0),
    "each shape twice, at once": (np.repeat(np.arange(500), 2).tolist(), 1, 0),
    "landscape and portrait": (["a", "b"] * 100, 2, 194),
    "one shape for long, then another": (["a"] * 60 + ["b"] * 40, 2, 96),
}


@pytest.mark.parametrize("name", STREAMS)
def test_streams_are_recorded_as_often_as_it_pays(name):
    stream, n_recording, n_replay = STREAMS[name]
    assert play(stream) == (n_recording, n_replay)


def test_more_shapes_than_are_kept_are_recorded_ever_more_rarely():
    n_recording, n_replay = play(itertools.islice(itertools.cycle(range(20)), 4000))
    assert n_recording <= 4 + n_replay // 50 + 10


def test_few_shapes_among_many_rare_ones_are_found():
    rng = np.random.default_rng(0)
    stream = [int(k) if rng.random() < 0.5 else 100 + i for i, k in enumerate(rng.integers(0, 4, 2000))]
    n_recording, n_replay = play(stream)
    assert 4 <= n_recording < 12
    assert n_replay > 800


def test_a_shape_whose_graph_was_lost_after_many_replays_is_recorded_again_at_once():
    policy = RecompilationPolicy()
    assert not policy.should_compile("a")
    assert policy.should_compile("a")
    policy.compiled()
    for _ in range(10):
        policy.replayed("a")
    assert policy.should_compile("a")


def test_only_the_latest_shapes_are_remembered():
    policy = RecompilationPolicy()
    for shape in range(10_000):
        policy.should_compile(shape)
    assert len(policy._counts) <= 256
