"""The best of many scores on a made-up GPU are those that the CPU finds, ties and all."""

import numpy as np
import pytest
from host_cuda import thread_order
from host_cuda.module import ORDERS

from cvzoo.backends.cuda.selection import Candidates, select_best, sort_candidates
from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.best_pairs import best_pairs


@pytest.fixture
def machine(fake_gpu):
    with fake_gpu() as machine:
        yield machine


def places_of(selected):
    """Of each photo and part the places taken, in order."""
    keys, taken = selected.keys.get(), selected.taken.get()
    places = 0xFFFFFFFF - (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
    return [[row[:count].tolist() for row, count in zip(*photo)] for photo in zip(places, taken)]


CASES = {
    "more than wanted": {"n": 900, "limit": 50},
    "fewer than wanted": {"n": 20, "limit": 50},
    "one wanted": {"n": 300, "limit": 1},
    "few values": {"n": 2500, "limit": 120, "values": 4},
    "all equal": {"n": 3000, "limit": 77, "values": 1},
    "several blocks": {"n": 9000, "limit": 2100},
    "nothing above": {"n": 50, "limit": 5, "above": 1e9},
    "everything above": {"n": 400, "limit": 30, "above": -np.inf},
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", CASES)
def test_the_best_of_each_part_are_those_of_best_pairs(machine, name, order):
    case = {"above": 0.1, "values": None} | CASES[name]
    rng = np.random.default_rng(0)
    n, limit, above = case["n"], case["limit"], case["above"]
    score = rng.normal(size=(2, n)).astype(np.float32)
    if case["values"]:
        score = rng.integers(1, case["values"] + 1, (2, n)).astype(np.float32)
    score[0, :: n // 7] = np.nan
    score[1, :3] = [0.0, -0.0, np.inf]
    cut = n // 3
    parts = [(0, cut), (cut, n - cut), (n, 0)]
    with thread_order(order):
        selected = select_best(machine.cupy.array(score), parts, limit=limit, above=above)
    for photo, found in enumerate(places_of(selected)):
        for part, (start, count) in enumerate(parts):
            own = score[photo, start : start + count]
            want = best_pairs(own[:, None], limit, above=above) if count else np.zeros(0)
            assert found[part] == want.tolist()
            assert selected.states.get()[photo, part, 3] == (own > np.float32(above)).sum()


def test_parts_may_be_columns(machine):
    score = np.random.default_rng(1).random((2, 40, 3)).astype(np.float32)
    selected = select_best(
        machine.cupy.array(score.reshape(2, -1)), [(k, 40) for k in range(3)], limit=7, above=0.5, step=3
    )
    for photo, found in enumerate(places_of(selected)):
        for column in range(3):
            assert found[column] == best_pairs(score[photo, :, column][:, None], 7, above=0.5).tolist()


def test_selecting_waits_for_nothing_once_it_is_warm(machine):
    score = machine.cupy.array(np.random.default_rng(2).random((1, 500)).astype(np.float32))
    select_best(score, [(0, 500)], limit=10, above=0.0)
    before = len(machine.recorder)
    select_best(score, [(0, 500)], limit=10, above=0.0)
    assert not [entry for entry in machine.recorder[before:] if entry.kind in ("h2d", "d2h", "sync")]


def test_scores_of_another_shape_or_dtype_are_refused(machine):
    with pytest.raises(ShapeError, match="float32"):
        select_best(machine.cupy.zeros((2, 3), np.float64), [(0, 3)], limit=1, above=0.0)
    with pytest.raises(ShapeError, match="contiguous"):
        select_best(machine.cupy.zeros((2, 6), np.float32)[:, ::2], [(0, 3)], limit=1, above=0.0)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("n", [1, 2, 33, 700, 3000])
@pytest.mark.parametrize("by_pair", [False, True], ids=["by place", "by pair"])
def test_candidates_come_best_first_and_equals_by_who_is_first(machine, n, by_pair, order):
    rng = np.random.default_rng(n)
    bbox = rng.random((2, n, 4)).astype(np.float32)
    label = rng.integers(0, 5, (2, n)).astype(np.int32)
    score = rng.integers(0, 9, (2, n)).astype(np.float32) / 8
    score[rng.random((2, n)) < 0.2] = -np.inf
    pairs = np.stack([rng.permutation(n), rng.permutation(n)]).astype(np.int32)
    there = [machine.cupy.array(each) for each in (bbox, label, score, pairs)]
    with thread_order(order):
        found = sort_candidates(Candidates(*there[:3], there[3] if by_pair else None))
    for i in range(2):
        tie = pairs[i] if by_pair else np.arange(n)
        want = [k for k in np.lexsort((tie, -score[i])) if score[i, k] > -np.inf]
        count = int(found.counts.get()[i])
        assert found.indices.get()[i, :count].tolist() == want
        np.testing.assert_array_equal(found.bbox.get()[i, :count], bbox[i, want])
        np.testing.assert_array_equal(found.label.get()[i, :count], label[i, want])
        np.testing.assert_array_equal(found.score.get()[i, :count], score[i, want])
        assert (found.indices.get()[i, count:] == -1).all()
        assert (found.bbox.get()[i, count:] == 0).all()
