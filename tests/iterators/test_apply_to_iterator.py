import gc
import io
import weakref

import pytest

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.iterators import ProgressHook, SerialIterator, apply_to_iterator, unzip

EXAMPLES = [(i, 10 + i, 20 + i) for i in range(5)]


def batches(examples=EXAMPLES, size=2):
    return SerialIterator(examples, size, repeat=False, shuffle=False)


def test_values_come_example_by_example():
    ins, outs, rests = apply_to_iterator(lambda a, b: ([x + 1 for x in a], [y * 2 for y in b]), batches(), n_input=2)
    assert [list(each) for each in ins] == [[0, 1, 2, 3, 4], [10, 11, 12, 13, 14]]
    assert [list(each) for each in outs] == [[1, 2, 3, 4, 5], [20, 22, 24, 26, 28]]
    assert [list(each) for each in rests] == [[20, 21, 22, 23, 24]]


def test_a_single_list_and_examples_that_are_no_tuples_will_do():
    (ins,), (outs,), rests = apply_to_iterator(lambda a: [x + 1 for x in a], batches([1, 2, 3]))
    assert (list(ins), list(outs), rests) == ([1, 2, 3], [2, 3, 4], ())


def test_nothing_is_computed_before_it_is_asked_for():
    calls = []
    _, (outs,), _ = apply_to_iterator(lambda a: calls.append(a) or a, batches())
    assert len(calls) == 1  # the first batch tells how many values there are
    assert [next(outs), next(outs)] == [0, 1]
    assert len(calls) == 1
    next(outs)
    assert len(calls) == 2


def test_no_batches_give_empty_iterators():
    ins, outs, rests = apply_to_iterator(lambda a: a, batches([]))
    assert [list(each) for each in (*ins, *outs, *rests)] == [[], []]


def test_the_hook_sees_every_batch():
    seen = []
    _, (outs,), _ = apply_to_iterator(lambda a: a, batches(), hook=lambda *parts: seen.append(parts))
    list(outs)
    assert seen[0] == (([0, 1],), ([0, 1],), ([10, 11], [20, 21]))
    assert len(seen) == 3


def test_bad_functions_and_examples_are_explained():
    with pytest.raises(ShapeError, match="one result per example"):
        apply_to_iterator(lambda a: [1], batches())
    with pytest.raises(ValueRangeError, match="at least 4"):
        apply_to_iterator(lambda a, b, c, d: a, batches(), n_input=4)
    with pytest.raises(ValueRangeError, match="n_input"):
        apply_to_iterator(lambda: [], batches(), n_input=0)


class Lonely:
    """A communicator of which the other processes are played one after another."""

    def __init__(self, rank, size, shares, said):
        self.rank, self.size, self._shares, self._said = rank, size, shares, said

    def bcast_obj(self, value):
        if self.rank == 0:
            self._said.append(value)
            return value
        return self._said.pop(0)

    def gather_obj(self, value):
        if self.rank == 0:
            return [value, self._shares.pop(0)]
        self._shares.append(value)
        return None


def test_processes_share_each_batch():
    inputs = [([0, 1],), ([2, 3],), ([4],), None]
    shares = []
    func = lambda a: [x * x for x in a]  # noqa: E731
    assert apply_to_iterator(func, None, comm=Lonely(1, 2, shares, list(inputs))) == ((), (), ())
    assert shares == [([1],), ([9],), ([16],)]
    said = []
    (ins,), (outs,), rests = apply_to_iterator(func, batches(), comm=Lonely(0, 2, shares, said))
    assert (list(ins), list(outs), list(rests[0])) == ([0, 1, 2, 3, 4], [0, 1, 4, 9, 16], [10, 11, 12, 13, 14])
    assert said == inputs


class Thing:
    pass


def test_unzip_keeps_nothing_for_iterators_that_are_gone():
    things = []

    def pairs():
        for i in range(4):
            thing = Thing()
            things.append(weakref.ref(thing))
            yield i, thing

    first, second = unzip(pairs())
    assert (next(first), next(first)) == (0, 1)
    assert things[1]() is not None
    del second
    assert list(first) == [2, 3]
    gc.collect()
    assert [thing() for thing in things[:-1]] == [None] * 3
    assert unzip([]) == ()


def test_progress_tells_rate_and_rest():
    now = [0.0]
    stream = io.StringIO()
    hook = ProgressHook(100, stream=stream, clock=lambda: now[0])
    for _ in range(5):
        hook(([1, 2],), (), ())
        now[0] += 4
    assert stream.getvalue() == "2 of 100 examples\n8 of 100 examples, 0.5 a second, 3:04 left\n"
    assert ProgressHook().text() == "0 examples"


def test_progress_rewrites_its_line_on_a_terminal():
    stream = io.StringIO()
    stream.isatty = lambda: True
    hook = ProgressHook(2, stream=stream, clock=lambda: 0.0)
    hook(([1],), (), ())
    hook(([1],), (), ())
    assert stream.getvalue() == "\r1 of 2 examples\r2 of 2 examples\n"
