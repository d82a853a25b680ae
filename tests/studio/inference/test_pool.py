"""Processes of models: kept, ended, and replaced when they die."""

import contextlib
import os
import pathlib
import random
import select
import signal
import subprocess
import sys
import threading

import pytest

from cvzoo.studio.inference import pool as pool_module
from cvzoo.studio.inference.pool import IDLE_S, Loaded, Pool
from cvzoo.studio.problems import Problem

WORKER = pathlib.Path(__file__).with_name("fake_worker.py")
FIRST = Loaded("first", 1, "voc:shapes")


class Seconds:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1e-3
        return self.now


@pytest.fixture
def seconds():
    return Seconds()


@pytest.fixture
def pool(seconds):
    pool = Pool(seconds, (sys.executable, str(WORKER)))
    yield pool
    pids = pool.pids
    pool.close()
    assert not any(pathlib.Path(f"/proc/{pid}").exists() for pid in pids)


def pid_of(pool, which):
    return pool.ask(which, {"op": "say"})[0]["pid"]


def test_a_loaded_model_is_kept(pool):
    answer, payload = pool.ask(FIRST, {"op": "say"}, b"abc")
    assert answer["words"] == ["first", "voc:shapes"]
    assert (answer["n_byte"], payload) == (3, b"cba")
    assert pid_of(pool, FIRST) == answer["pid"]


def test_a_third_model_ends_the_one_that_was_used_least_recently(pool):
    first, second = pid_of(pool, FIRST), pid_of(pool, Loaded("second", 1, ""))
    assert pid_of(pool, FIRST) == first
    third = pid_of(pool, Loaded("third", 1, ""))
    assert sorted(pool.pids) == sorted([first, third])
    assert not pathlib.Path(f"/proc/{second}").exists()


def test_a_file_that_changed_is_loaded_again(pool):
    before = pid_of(pool, FIRST)
    after = pid_of(pool, Loaded("first", 2, "voc:shapes"))
    assert pool.pids == [after]
    assert before != after


def test_an_idle_one_is_ended_after_five_minutes(pool, seconds):
    pid = pid_of(pool, FIRST)
    pool.reap()
    assert pool.pids == [pid]
    seconds.now += IDLE_S + 1
    pool.reap()
    assert pool.pids == []


@pytest.mark.parametrize(
    ("op", "status", "words"),
    [("refuse", 415, "no image"), ("fail", 422, "exit status 3"), ("die", 503, "signal 9"), ("lie", 503, "died")],
)
def test_what_goes_wrong_is_one_answer_and_the_next_one_is_right(pool, op, status, words, monkeypatch):
    if op == "lie":
        monkeypatch.setattr(pool_module, "END_S", 0.01)
    with pytest.raises(Problem) as caught:
        pool.ask(FIRST, {"op": op})
    assert caught.value.status_code == status
    assert words in caught.value.detail
    assert pid_of(pool, FIRST)


def test_a_prediction_that_takes_too_long_is_ended(pool, monkeypatch):
    pid = pid_of(pool, FIRST)
    monkeypatch.setattr(pool_module, "ANSWER_S", 0.1)
    with pytest.raises(Problem, match=r"more than 0\.1 s") as caught:
        pool.ask(FIRST, {"op": "hang"})
    assert caught.value.status_code == 503
    assert not pathlib.Path(f"/proc/{pid}").exists()
    assert pool.pids == []


def test_a_verification_has_longer(pool, monkeypatch):
    pool.ask(FIRST, {"op": "say"})
    limits = []
    real = pool_module.killed_after
    monkeypatch.setattr(pool_module, "killed_after", lambda process, s: limits.append(s) or real(process, s))
    pool.ask(Loaded("second", 1, ""), {"op": "verify"})
    pool.ask(FIRST, {"op": "say"})
    assert limits == [300, 300, 30]


def test_a_model_that_cannot_be_loaded_says_why_each_time(pool):
    for _ in range(2):
        with pytest.raises(Problem, match="the file is damaged"):
            pool.ask(Loaded("damaged", 1, ""), {"op": "say"})
    assert pool.pids == []


def test_a_process_that_was_killed_is_replaced(pool):
    before = pid_of(pool, FIRST)
    os.kill(before, 9)
    os.waitid(os.P_PID, before, os.WEXITED | os.WNOWAIT)
    assert pid_of(pool, FIRST) != before


@pytest.mark.parametrize("is_loaded", [False, True])
def test_who_waited_for_a_process_that_was_ended_gets_an_answer(is_loaded):
    process = pool_module._Process([sys.executable, str(WORKER), "first", ""])
    if is_loaded:
        process.ask({"op": "say"}, b"")
    process.end()
    with pytest.raises(Problem, match=r"died \(signal 9\)") as caught:
        process.ask({"op": "say"}, b"")
    assert caught.value.status_code == 503


def test_more_than_sixteen_do_not_wait(pool, monkeypatch):
    monkeypatch.setattr(pool_module, "MAX_WAITING", 1)
    held = threading.Event()
    go_on = threading.Event()
    real = pool_module._Process.ask

    def slow(self, tree, payload):
        held.set()
        assert go_on.wait(20)
        return real(self, tree, payload)

    monkeypatch.setattr(pool_module._Process, "ask", slow)
    thread = threading.Thread(target=pool.ask, args=(FIRST, {"op": "say"}))
    thread.start()
    assert held.wait(20)
    with pytest.raises(Problem) as caught:
        pool.ask(FIRST, {"op": "say"})
    assert caught.value.status_code == 429
    go_on.set()
    thread.join()


# as a server does: asks for an answer that never comes, in a thread of a request that has ended before
SERVER = """
import sys, threading
from cvzoo.studio.inference.pool import Loaded, Pool
pool, which = Pool(command=tuple(sys.argv[2:])) if sys.argv[2:] else Pool(), Loaded(sys.argv[1], 1, "")
first = threading.Thread(target=pool.ask, args=(which, {"op": "facts"}))
first.start()
first.join()
print(*pool.pids, flush=True)
pool.ask(which, {"op": "hang" if sys.argv[2:] else "facts"})
threading.Event().wait()
"""


@pytest.mark.parametrize("kind", ["imitated", pytest.param("real", marks=pytest.mark.slow)])
def test_a_process_that_hangs_ends_with_a_server_that_is_killed(kind):
    words = ["first", sys.executable, str(WORKER)] if kind == "imitated" else ["retinanet_text"]
    server = subprocess.Popen([sys.executable, "-c", SERVER, *words], stdout=subprocess.PIPE)
    with server, os.fdopen(os.pidfd_open(int(server.stdout.readline()))) as process:
        if kind == "real":
            signal.pidfd_send_signal(process.fileno(), signal.SIGSTOP)
        server.kill()
        poll = select.poll()
        poll.register(process, select.POLLIN)
        assert poll.poll(20_000), "it outlives the server"


@pytest.mark.slow
def test_forty_kills_at_random_moments_give_the_right_answer_or_a_clear_error(pool):
    moments, ended, killed = random.Random(0), threading.Event(), []

    def kill():
        while not ended.is_set() and len(killed) < 40:
            ended.wait(moments.uniform(0, 0.5))
            for pid in set(pool.pids) - set(killed):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    thread = threading.Thread(target=kill)
    thread.start()
    right, problems = 0, []
    try:
        while thread.is_alive():
            try:
                answer, payload = pool.ask(FIRST, {"op": "say"}, b"abc" * 10_000)
            except Problem as problem:
                problems.append(problem)
            else:
                assert (answer["n_byte"], payload) == (30_000, b"cba" * 10_000)
                right += 1
    finally:
        ended.set()
        thread.join()
    assert len(killed) >= 40
    assert right
    assert all(each.status_code == 503 and "signal 9" in each.detail for each in problems)
    assert pid_of(pool, FIRST) not in killed
    assert all(not pathlib.Path(f"/proc/{pid}").exists() for pid in killed)
