"""Processes that decode images: killed, hanging, and ended by an image."""

import contextlib
import os
import random
import signal
import sys
import threading

import numpy as np
import pytest
from PIL import Image

from cvzoo.studio.photos.imaging import Imaging, read_facts
from cvzoo.studio.photos.store import ImageStore

HANGING = (sys.executable, "-c", "import time; time.sleep(600)")
# ends at each image, and notes that it was started
DYING = (sys.executable, "-c", "import sys; open(sys.argv[1], 'a').write('x'); sys.stdin.buffer.read(8)")


def make_store(root, n):
    """A store of n images, and their keys."""
    rng = np.random.default_rng(0)
    root.mkdir()
    store, keys = ImageStore(root), []
    for i in range(n):
        path = root.parent / f"{i}.png"
        Image.fromarray(rng.integers(0, 255, (30, 20 + i, 3), np.uint8)).save(path)
        keys.append(store.add(path))
    return store, keys


def test_a_process_that_was_killed_while_idle_costs_no_image(tmp_path):
    store, keys = make_store(tmp_path / "store", 3)
    with Imaging(store) as imaging:
        assert imaging.size(keys[0], "0.png") == (30, 20)
        pid = imaging._process.pid
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # its pipe is closed, so that the question cannot be sent
        assert [imaging.size(key, "1.png") for key in keys[1:]] == [(30, 21), (30, 22)]


def test_an_image_that_ends_three_processes_is_unreadable(tmp_path):
    store, (key,) = make_store(tmp_path / "store", 1)
    with Imaging(store, command=(*DYING, str(tmp_path / "starts"))) as imaging:
        assert imaging.size(key, "a.png") == (0, 0)
    assert (tmp_path / "starts").read_text() == "xxx"
    assert read_facts(store, key)["trouble"] == ["photo-unreadable", "decoding it ended the process"]


def test_an_image_that_takes_too_long_is_tried_once(tmp_path):
    store, (key,) = make_store(tmp_path / "store", 1)
    with Imaging(store, timeout=0.1, command=HANGING) as imaging:
        assert imaging.size(key, "a.png") == (0, 0)
    assert read_facts(store, key)["trouble"] == ["photo-unreadable", "decoding it took more than 0.1 s"]


@pytest.mark.slow
def test_forty_kills_at_random_moments_change_nothing(tmp_path):
    sound, keys = make_store(tmp_path / "undisturbed", 100)
    with Imaging(sound) as imaging:
        sizes = [imaging.size(key, "a.png") for key in keys]
    store, _ = make_store(tmp_path / "store", 100)
    moments, killed, n_known, ended = random.Random(0), [], [0], threading.Event()

    def kill():
        seen = []  # sizes known at each kill, which may strike the next image: a third one would be blamed on it
        while len(killed) < 40 and not ended.wait(moments.uniform(0, 0.5)):
            process = imaging._process
            if process is not None and process.pid not in killed[-1:] and seen[-1:] != [n_known[0]]:
                seen.append(n_known[0])
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
                    killed.append(process.pid)

    with Imaging(store) as imaging:
        thread = threading.Thread(target=kill, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                for each in store.root.rglob("*.j*"):  # thumbnails and properties are made anew
                    each.unlink()
                for key, size in zip(keys, sizes):
                    assert imaging.size(key, "a.png") == size
                    n_known[0] += 1
        finally:
            ended.set()
            thread.join()
    assert len(killed) == 40
    for key in keys:
        assert read_facts(store, key) == read_facts(sound, key)
        assert store.thumbnail(key).read_bytes() == sound.thumbnail(key).read_bytes()
