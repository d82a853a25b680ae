"""One generator a thread, seeded, whose state can be taken and given back."""

import json
import threading

from cvzoo.config.randomness import (
    get_random_state,
    random_generator,
    reserve_device_blocks,
    set_random_state,
    set_seed,
    using_random_state,
)


def draw():
    return random_generator().random(3).tolist()


def test_the_same_seed_gives_the_same_numbers():
    set_seed(3)
    first = draw()
    assert draw() != first
    set_seed(3)
    assert draw() == first
    set_seed(4)
    assert draw() != first


def test_a_state_is_plain_data_and_continues_where_it_was_taken():
    set_seed(3)
    draw()
    state = get_random_state()
    numbers = draw()
    set_random_state(json.loads(json.dumps(state)))
    assert draw() == numbers


def test_a_block_with_a_state_leaves_no_trace():
    set_seed(3)
    state = get_random_state()
    first = draw()
    here = get_random_state()
    with using_random_state(state):
        assert draw() == first
    assert get_random_state() == here
    with using_random_state(state):
        set_seed(100)
    assert get_random_state() == here


def test_threads_draw_apart():
    set_seed(3)
    here = get_random_state()
    seen = []

    def work():
        set_seed(5)
        seen.append(draw())

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen[0] == seen[1]
    assert get_random_state() == here


def test_a_gpus_blocks_are_given_once_and_follow_the_state():
    set_seed(3)
    key, first = reserve_device_blocks(10)
    assert first == 0
    assert reserve_device_blocks(5) == (key, 10)
    state = json.loads(json.dumps(get_random_state()))
    assert reserve_device_blocks(1) == (key, 15)
    set_seed(4)
    assert reserve_device_blocks(0)[0] != key
    with using_random_state(state):
        assert reserve_device_blocks(7) == (key, 15)
    assert reserve_device_blocks(0)[1] == 0
    set_random_state(state)
    assert reserve_device_blocks(0) == (key, 15)


def test_a_state_of_numpys_generator_alone_leaves_the_gpus_where_they_are():
    set_seed(3)
    reserve_device_blocks(10)
    set_random_state(random_generator().bit_generator.state)
    assert reserve_device_blocks(0)[1] == 10
