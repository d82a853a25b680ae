"""Work shared among threads: all of it is done, and errors come back."""

import threading

import pytest

from cvzoo.backends import in_threads as module
from cvzoo.backends.in_threads import in_threads


@pytest.fixture(params=[1, 3])
def n_thread(request, monkeypatch):
    monkeypatch.setattr(module, "thread_count", lambda: (request.param, "asked for"))
    executors = []
    monkeypatch.setattr(module, "_executors", executors)
    yield request.param
    for each in executors:
        each.shutdown()


def test_every_part_is_worked_on_once(n_thread):
    for n in (0, 1, 2, 50):
        done = []
        in_threads(range(n), done.append)
        assert sorted(done) == list(range(n))


def test_parts_are_worked_on_at_the_same_time(n_thread):
    meeting = threading.Barrier(n_thread, timeout=5)
    in_threads(range(n_thread), lambda part: meeting.wait())


def test_errors_come_back(n_thread):
    def work(part):
        if part == 7:
            raise KeyError(part)

    with pytest.raises(KeyError, match="7"):
        in_threads(range(20), work)


def test_work_may_share_its_own_work(n_thread):
    done = []
    in_threads(range(6), lambda i: in_threads(range(6), lambda j: done.append((i, j))))
    assert sorted(done) == [(i, j) for i in range(6) for j in range(6)]


def test_threads_may_share_work_at_the_same_time(n_thread):
    done = []

    def share(i):
        in_threads(range(50), lambda j: done.append((i, j)))

    threads = [threading.Thread(target=share, args=(i,)) for i in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert len(set(done)) == len(done) == 250
