"""A training with worker processes that the system tells to end: it saves, and nothing of it is left."""

import os
import pathlib
import pty
import select
import signal
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).with_name("signalled_run.py")
ROOT = pathlib.Path(__file__).parents[3]


@pytest.fixture
def start(tmp_path):
    """A function (what standard output and error are) -> the process, in a session that ends with the test."""
    started = []

    def start(**streams):
        environment = dict(os.environ, PYTHONPATH=str(ROOT), CVZOO_NUM_THREADS="1", OMP_NUM_THREADS="1")
        words = [sys.executable, str(SCRIPT), str(tmp_path / "run")]
        started.append(subprocess.Popen(words, env=environment, text=True, start_new_session=True, **streams))
        return started[-1]

    yield start
    for running in started:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()


def assert_ended(pids):
    """Returns when the processes have ended; how long that may take is not what is tested."""
    for pid in pids:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        assert select.select([descriptor], [], [], 120)[0], f"worker {pid} is still there"
        os.close(descriptor)


def test_sigterm_to_all_processes_saves_and_ends_them(start, tmp_path):
    running = start(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    pids = [int(word) for word in running.stdout.readline().split()[1:]]
    os.killpg(running.pid, signal.SIGTERM)  # as a queueing system does it
    _, err = running.communicate(timeout=120)
    assert running.returncode == 143, err
    assert "SIGTERM: stops after this iteration" in err
    assert "saved in" in err
    assert "Traceback" not in err
    assert len(list((tmp_path / "run").glob("snapshot_iter_*.npz"))) == 1
    assert len(pids) == 2
    assert_ended(pids)


def test_a_terminal_that_is_closed_saves_and_ends_them(start, tmp_path):
    terminal, theirs = pty.openpty()
    running = start(
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)),  # the session's terminal from now on
    )
    os.close(theirs)
    said = b""
    while b"iteration 2" not in said:
        said += os.read(terminal, 4096)
    pids = [int(word) for word in said.split(b"workers")[1].split()[:2]]
    os.close(terminal)
    assert running.wait(timeout=120) == 129
    assert len(list((tmp_path / "run").glob("snapshot_iter_*.npz"))) == 1
    assert_ended(pids)
