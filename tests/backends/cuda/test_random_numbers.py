"""Draws on a GPU (one that is made up) follow the seed, go on after a resume, and are the same in replays."""

import numpy as np
import pytest
from philox import philox_blocks, uniform_float32

from cvzoo.backends.cuda import random_numbers
from cvzoo.config.randomness import (
    get_random_state,
    reserve_device_blocks,
    set_random_state,
    set_seed,
    using_random_state,
)
from cvzoo.errors import DtypeError, GraphError
from cvzoo.training.random_states import load_random_states, random_states


@pytest.fixture
def machine(fake_gpu):
    with fake_gpu(devices=2) as made:
        set_seed(0)
        yield made


def draw():
    return random_numbers.uniform((3, 5)).get()


def test_a_draw_is_the_next_blocks_of_the_seeds_sequence(machine):
    set_seed(7)
    key, _ = reserve_device_blocks(0)
    first, second = draw(), draw()
    blocks = uniform_float32(philox_blocks(key, 0, 8)).ravel()
    assert np.array_equal(first.ravel(), blocks[:15])
    assert np.array_equal(second.ravel(), blocks[16:31])
    assert random_numbers.standard_normal(()).shape == ()
    assert random_numbers.random_mask((0, 3), 0.5, 2.0).shape == (0, 3)


def test_every_gpu_draws_from_one_sequence(machine):
    set_seed(7)
    here = [draw(), draw()]
    set_seed(7)
    with machine.cupy.cuda.Device(1):
        there = draw()
    assert np.array_equal(there, here[0])
    assert np.array_equal(draw(), here[1])


def test_nothing_waits_and_nothing_is_copied(machine):
    draw()
    start = len(machine.recorder)
    with machine.no_sync():
        random_numbers.standard_normal((100,), "float16")
        random_numbers.random_mask((100,), 0.5, 2.0, "float64")
    kinds = {entry.kind for entry in machine.recorder[start:]}
    assert kinds <= {"launch", "alloc", "free"}


def test_draws_go_on_after_a_resume_of_a_training(machine):
    draw()
    state = random_states()
    expected = draw()
    set_seed(5)
    load_random_states(state)
    assert np.array_equal(draw(), expected)


def test_integers_are_refused(machine):
    with pytest.raises(DtypeError):
        random_numbers.uniform(3, "float16")
    with pytest.raises(DtypeError):
        random_numbers.standard_normal(3, "int32")


def captured(machine, work):
    stream = machine.cupy.cuda.Stream(non_blocking=True)
    with stream, random_numbers.recording() as draws:
        stream.begin_capture()
        result = work()
        graph = stream.end_capture()
    return stream, graph, draws, result


def test_replays_give_the_bits_of_eager_draws(machine):
    set_seed(3)
    eager = [draw() for _ in range(7)]
    set_seed(3)
    assert np.array_equal(draw(), eager[0])
    stream, graph, draws, pair = captured(machine, lambda: [random_numbers.uniform((3, 5)) for _ in range(2)])
    seen = []
    for _ in range(2):
        with stream, machine.no_sync():
            draws.before_replay()
            graph.launch(stream)
        stream.synchronize()
        seen += [array.get() for array in pair]
    assert np.array_equal(draw(), eager[5])
    state = get_random_state()
    set_seed(11)
    set_random_state(state)
    assert np.array_equal(seen, eager[1:5])
    with stream:
        draws.before_replay()
        graph.launch(stream)
    stream.synchronize()
    assert np.array_equal(pair[0].get(), eager[6])


def test_a_block_computed_again_inside_a_graph_draws_the_same(machine):
    set_seed(3)

    def work():
        state = get_random_state()
        first = random_numbers.uniform(8)
        between = random_numbers.uniform(8)
        with using_random_state(state):
            return first, random_numbers.uniform(8), between, random_numbers.uniform(8)

    draw()
    stream, graph, draws, arrays = captured(machine, work)
    assert draws.drawn == 4
    for _ in range(2):
        with stream:
            draws.before_replay()
            graph.launch(stream)
        stream.synchronize()
        first, again, between, between_again = (array.get() for array in arrays)
        assert np.array_equal(first, again)
        assert np.array_equal(between, between_again)
        assert not np.array_equal(first, between)


def test_what_was_captured_does_not_count_as_drawn(machine):
    before = get_random_state()
    captured(machine, lambda: random_numbers.uniform(8))
    assert get_random_state() == before


def test_the_seed_is_not_set_in_a_capture(machine):
    with random_numbers.recording():
        set_seed(5)
        with pytest.raises(GraphError, match="seed"):
            random_numbers.uniform(8)


def test_a_new_seed_is_for_another_capture(machine):
    stream, _, draws, _ = captured(machine, lambda: random_numbers.uniform(8))
    set_seed(99)
    with stream, pytest.raises(GraphError, match="captured"):
        draws.before_replay()
