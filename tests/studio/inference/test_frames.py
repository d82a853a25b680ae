"""Messages over pipes."""

import io
import signal
import subprocess
import sys
import threading

import pytest

from cvzoo.studio.inference.frames import killed_after, read_frame, write_frame


def test_a_message_comes_back():
    file = io.BytesIO()
    write_frame(file, {"a": [1, "é"]}, b"\0\1")
    write_frame(file, {})
    file.seek(0)
    assert read_frame(file) == ({"a": [1, "é"]}, b"\0\1")
    assert read_frame(file) == ({}, b"")


@pytest.mark.parametrize(
    "data", [b"", b"\1", b"\2\0\0\0\0\0\0\0{", b"\2\0\0\0\0\0\0\0[]", b"\2\0\0\0\0\0\0\0{x", b"\xff" * 20]
)
def test_anything_else_is_the_end(data):
    with pytest.raises(EOFError):
        read_frame(io.BytesIO(data))


def sleeping():
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])


def test_the_shortest_of_several_times_ends_its_process_alone():
    slow, fast, done, later = (sleeping() for _ in range(4))
    try:
        with killed_after(slow, 600) as slow_expired, killed_after(fast, 0.05) as fast_expired:
            with killed_after(done, 0.2) as done_expired:
                pass
            assert fast.wait(60) == -signal.SIGKILL
            assert fast_expired.is_set()
            with killed_after(later, 0.4):  # after the time of the one that is watched no more
                assert later.wait(60) == -signal.SIGKILL
        assert not slow_expired.is_set()
        assert not done_expired.is_set()
        assert slow.poll() is None
        assert done.poll() is None
    finally:
        for each in (slow, fast, done, later):
            each.kill()
            each.wait()


def test_a_thousand_questions_take_one_thread(monkeypatch):
    started = []
    real = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda thread: started.append(thread) or real(thread))
    process = sleeping()
    try:
        for _ in range(1000):
            with killed_after(process, 600):
                pass
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
    assert len(started) <= 1
