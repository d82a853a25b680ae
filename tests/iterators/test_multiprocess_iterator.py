import contextlib
import copy
import gc
import multiprocessing.forkserver
import os
import pathlib
import select
import signal
import subprocess
import sys
import weakref

import cv2
import numpy as np
import pytest
from worker_datasets import BrokenOnArrival, Numbers, Odd

from cvzoo.errors.exceptions import DtypeError, ExampleError, ValueRangeError
from cvzoo.iterators import MultiprocessIterator, SerialIterator, worker_pool

# a test process has many threads, and Python warns of forking it; that is what "fork" is asked for here
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
METHODS = ["forkserver", "spawn", "fork"]


def numbers(batch):
    return [int(label) for _, label, _ in batch]


def alive(iterator):
    return [] if iterator._pool is None else [process.pid for process in iterator._pool._processes]


def wait_for_end(pids):
    """True when all have ended; the kernel says so at once, and only a process that stays costs the two minutes."""
    for pid in pids:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        ended, _, _ = select.select([descriptor], [], [], 120)
        os.close(descriptor)
        if not ended:
            return False
    return True


@pytest.mark.parametrize("method", METHODS)
def test_batches_are_those_of_a_serial_iterator(method):
    serial = SerialIterator(Numbers(11), 4, seed=7)
    with MultiprocessIterator(Numbers(11), 4, n_processes=2, seed=7, start_method=method, n_prefetch=2) as it:
        for _ in range(7):
            for one, two in zip(next(serial), next(it), strict=True):
                np.testing.assert_array_equal(one[0], two[0])
                assert (one[1], one[2]) == (two[1], two[2])
                assert two[0].flags.writeable
            assert it.state() == serial.state()
        pids = alive(it)
        assert len(pids) == 2
    assert wait_for_end(pids)


def test_resume_reset_and_copies_in_the_middle_of_an_epoch():
    with MultiprocessIterator(Numbers(9), 2, n_processes=2, seed=1, start_method="fork") as it:
        first = [numbers(next(it)) for _ in range(6)]
        it.reset()
        assert [numbers(next(it)) for _ in range(3)] == first[:3]
        state = it.state()
        with copy.copy(it) as other:
            assert [numbers(next(other)) for _ in range(3)] == first[3:]
        next(it)
        it.load_state(state)
        assert [numbers(next(it)) for _ in range(3)] == first[3:]


def test_without_repeat_it_ends_and_starts_again():
    with MultiprocessIterator(Numbers(5), 2, False, False, n_processes=2, start_method="fork") as it:
        for _ in range(2):
            assert [numbers(batch) for batch in it] == [[0, 1], [2, 3], [4]]
            it.reset()


LARGE = (3, 100, 100)


def test_who_keeps_all_examples_keeps_what_they_were():
    with MultiprocessIterator(Numbers(40, LARGE), 2, n_processes=2, shuffle=False, start_method="fork") as it:
        kept = [next(it) for _ in range(40)]
        n_slot = len(it._pool._memory._user)
        assert len(it._pool._memory._loans) < n_slot < 40
    for k, batch in enumerate(kept):  # also when the workers have gone
        for i, (img, label, _) in enumerate(batch):
            assert (img == label).all()
            assert label == (2 * k + i) % 40
            img += 1  # one's own, whatever it lies in
            assert (img == label + 1).all()


def test_who_holds_one_batch_is_given_no_copies():
    with MultiprocessIterator(Numbers(shape=LARGE), 4, n_processes=2, shuffle=False, start_method="fork") as it:
        for _ in range(20):
            batch = next(it)
            owners = {type(img.base.base.obj) for img, _, _ in batch}
            assert bytearray not in owners
            assert len({img.ctypes.data for img, _, _ in batch}) == 4


def test_small_arrays_keep_no_place_in_the_shared_memory():
    with MultiprocessIterator(Numbers(), 2, n_processes=1, shuffle=False, start_method="fork") as it:
        kept = [next(it) for _ in range(20)]
        assert not it._pool._memory._loans
    assert len(kept) == 20


def test_each_process_has_examples_to_read_whatever_the_size_of_batches():
    for batch_size, n_processes, expected in ((1, 4, 8), (2, 4, 4), (16, 4, 1), (3, 1, 1)):
        assert MultiprocessIterator(Numbers(), batch_size, n_processes=n_processes)._n_prefetch == expected


def test_arrays_that_do_not_fit_the_shared_memory_come_all_the_same():
    dataset = Numbers(6, shape=(3, 100, 100))
    with MultiprocessIterator(dataset, 3, False, False, 2, shared_mem=1000, start_method="fork") as it:
        batches = list(it)
    assert [numbers(batch) for batch in batches] == [[0, 1, 2], [3, 4, 5]]
    assert all((img == label).all() for batch in batches for img, label, _ in batch)


@pytest.mark.parametrize("method", ["forkserver", "fork"])
def test_errors_of_workers_come_with_the_photos_name_and_their_traceback(method):
    with MultiprocessIterator(Odd("error"), 4, False, False, n_processes=2, start_method=method) as it:
        assert numbers(next(it)) == [0, 1, 2, 3]
        for _ in range(2):
            with pytest.raises(ExampleError) as caught:
                next(it)
            text = str(caught.value)
            assert "example 5 (photos/5.jpg)" in text
            assert "worker_datasets.py" in text
            assert isinstance(caught.value.__cause__, ValueError)
            assert it.current_position == 4


TROUBLE = [
    ("stop", "StopIteration"),
    ("unpicklable error", "no way"),
    ("unpicklable value", "cannot be pickled"),
    ("exit", r"exit status 3.*photos/5\.jpg"),
    ("kill", r"SIGKILL.*photos/5\.jpg"),
]


@pytest.mark.parametrize(("kind", "text"), TROUBLE)
def test_whatever_happens_in_a_worker_is_an_error_and_no_hang(kind, text):
    with MultiprocessIterator(Odd(kind), 6, False, False, n_processes=1, start_method="fork") as it:
        with pytest.raises(ExampleError, match="(?s)" + text):
            list(it)
        assert alive(it) == []


def test_a_worker_that_hangs_is_found_by_the_timeout():
    # long enough for a worker to start on a busy machine
    it = MultiprocessIterator(Odd("hang"), 6, False, False, 1, start_method="fork", timeout=3)
    with pytest.raises(ExampleError, match=r"(?s)3 seconds.*photos/5\.jpg"):
        next(it)
    assert alive(it) == []


def test_a_data_set_that_cannot_travel_is_explained():
    class Local(Numbers):
        pass

    with pytest.raises(DtypeError, match='start_method="fork"'):
        next(MultiprocessIterator(Local(), 2, n_processes=1, start_method="forkserver"))
    with MultiprocessIterator(Local(), 2, shuffle=False, n_processes=1, start_method="fork") as it:
        assert numbers(next(it)) == [0, 1]
    with pytest.raises(DtypeError, match="on another machine"):
        next(MultiprocessIterator(BrokenOnArrival(), 2, n_processes=1, start_method="forkserver"))


def test_workers_end_when_nobody_holds_the_iterator():
    it = MultiprocessIterator(Numbers(), 2, n_processes=2, start_method="fork")
    next(it)
    pids = alive(it)
    del it
    assert wait_for_end(pids)


KERNELS = """
import sys
sys.path.insert(0, {folder!r})
from worker_datasets import Convolving
from cvzoo.iterators import MultiprocessIterator
if __name__ == "__main__":
    dataset = Convolving(4)
    expected = dataset[0][0]  # this process's own threads have run
    for method in ("fork", "forkserver"):
        with MultiprocessIterator(dataset, 4, False, False, 2, start_method=method, timeout=30) as it:
            assert next(it) == [(expected, index) for index in range(4)], method
    print("done")
"""


def test_a_forked_worker_may_use_kernels_after_its_parent_did(tmp_path):
    (tmp_path / "program.py").write_text(KERNELS.format(folder=os.path.dirname(__file__)))
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    many = {"OMP_NUM_THREADS": "3", "CVZOO_NUM_THREADS": "3", "PYTHONPATH": root}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", str(tmp_path / "program.py")],
        capture_output=True,
        text=True,
        env={**os.environ, **many},
        timeout=90,
    )
    assert (run.stdout, run.returncode) == ("done\n", 0), run.stderr


def test_opencv_in_workers_does_not_hang():
    cv2.GaussianBlur(np.zeros((999, 999, 3), np.uint8), (9, 9), 3)
    with MultiprocessIterator(Numbers(), 4, n_processes=2, start_method="fork", timeout=60) as it:
        assert len(next(it)) == 4


BAD = [
    ({"n_processes": 0}, "n_processes"),
    ({"n_prefetch": -1}, "n_prefetch"),
    ({"start_method": "teleport"}, "forkserver"),
]


@pytest.mark.parametrize(("arguments", "text"), BAD)
def test_bad_arguments_are_explained(arguments, text):
    with pytest.raises(ValueRangeError, match=text):
        MultiprocessIterator(Numbers(), 2, **arguments)


PROGRAM = """
import signal, sys, time
sys.path.insert(0, {folder!r})
from worker_datasets import Numbers, Odd
from cvzoo.iterators import MultiprocessIterator
if {guard}:
    # who runs these tests in the background may have had Ctrl-C ignored, which programs inherit
    signal.signal(signal.SIGINT, signal.default_int_handler)
    it = MultiprocessIterator({dataset}, 4, shuffle=False, n_processes=2, start_method={method!r})
    try:
        next(it)
        print(*[process.pid for process in it._pool._processes], flush=True)
        while True:
            next(it)
            time.sleep({pause})
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.fixture
def program(tmp_path):
    """Starts programs in sessions of their own, of which nothing is left in the end."""
    started = []

    def start(method, dataset="Numbers()", guard='__name__ == "__main__"', pause=0.01):
        path = tmp_path / "program.py"
        folder = os.path.dirname(__file__)
        path.write_text(PROGRAM.format(folder=folder, method=method, dataset=dataset, guard=guard, pause=pause))
        root = os.path.dirname(os.path.dirname(folder))
        running = subprocess.Popen(
            [sys.executable, str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=root,
            env={**os.environ, "PYTHONPATH": root},
            start_new_session=True,
        )
        started.append(running)
        return running

    yield start
    for running in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.communicate()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("pause", [0.01, 0])
def test_ctrl_c_ends_the_program_and_its_workers_quietly(program, method, pause):
    # without a pause the program is hit wherever it is busy with what workers gave
    running = program(method, dataset="Numbers(shape=(3, 300, 300))", pause=pause)
    pids = [int(word) for word in running.stdout.readline().split()]
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does it: to all processes
    out, err = running.communicate(timeout=60)
    assert (out, err, running.returncode) == ("interrupted\n", "", 0)
    assert wait_for_end(pids)


@pytest.mark.slow
def test_ctrl_c_in_the_midst_of_an_example_is_no_other_error(monkeypatch):
    def interrupted(kind, payload, room, *, lent=False):
        raise KeyboardInterrupt  # whose traceback holds a view of the shared memory

    dataset = Numbers()
    with MultiprocessIterator(dataset, 2, shuffle=False, n_processes=2, start_method="fork") as it:
        assert numbers(next(it)) == [0, 1]
        pids, block = alive(it), it._pool._memory.block
        with monkeypatch.context() as patch:
            patch.setattr(worker_pool, "unpack", interrupted)
            with pytest.raises(KeyboardInterrupt) as caught:
                list(it)
        assert wait_for_end(pids)
        assert block._descriptor == -1
        place = weakref.ref(block._memory)
        del block, caught
        gc.collect()
        assert place() is None
        assert "cvzoo-iterator" not in pathlib.Path("/proc/self/maps").read_text()
        got = [numbers(next(it)) for _ in range(2)]
        assert got[0][0] % 2 == 0
        assert got[1][0] == got[0][0] + 2


def test_a_second_ctrl_c_while_workers_end_leaves_none_of_them(monkeypatch):
    def interrupted(processes, patience):
        raise KeyboardInterrupt

    it = MultiprocessIterator(Odd("hang"), 3, shuffle=False, n_processes=2, start_method="fork")
    next(it)
    pids, block = alive(it), it._pool._memory.block
    monkeypatch.setattr(worker_pool, "_join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        it.finalize()
    assert wait_for_end(pids)
    assert block._descriptor == -1
    monkeypatch.undo()
    it.finalize()


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_workers_end_with_a_program_that_is_killed(program, method):
    running = program(method)
    pids = [int(word) for word in running.stdout.readline().split()]
    running.kill()
    running.communicate(timeout=60)
    assert wait_for_end(pids)


@pytest.mark.parametrize("method", METHODS)
def test_a_program_that_fails_ends_with_its_workers(program, method):
    running = program(method, dataset="Odd('error')")
    pids = [int(word) for word in running.stdout.readline().split()]
    _, err = running.communicate(timeout=60)
    assert "photos/5.jpg" in err
    assert running.returncode == 1
    assert wait_for_end(pids)


def test_a_forkserver_that_is_killed_while_workers_start_is_named(monkeypatch):
    server = multiprocessing.forkserver._forkserver
    connect = server.connect_to_new_process

    def killed(fds):
        server.ensure_running()
        os.kill(server._forkserver_pid, signal.SIGSTOP)  # so that it has not answered when it is killed
        made = connect(fds)
        os.kill(server._forkserver_pid, signal.SIGKILL)
        os.waitid(os.P_PID, server._forkserver_pid, os.WEXITED | os.WNOWAIT)  # else it may still count as running
        return made

    with MultiprocessIterator(Numbers(), 2, n_processes=2, start_method="forkserver") as it:
        with monkeypatch.context() as patch:
            patch.setattr(multiprocessing.forkserver, "connect_to_new_process", killed)
            with pytest.raises(ExampleError, match=r"cannot be started.*forkserver"):
                next(it)
        assert len(next(it)) == 2  # by another one


def test_an_unguarded_main_part_is_explained(program):
    running = program("spawn", guard="True")
    _, err = running.communicate(timeout=60)
    assert "__main__" in err
    assert running.returncode != 0


def test_all_start_methods_are_tested():
    assert set(METHODS) == set(multiprocessing.get_all_start_methods())
