"""What is left by processes that decode images and were killed."""

import os
import signal

from PIL import Image

from cvzoo.studio.photos.imaging import Imaging
from cvzoo.studio.photos.store import ImageStore


def test_a_process_that_was_killed_while_idle_does_not_end_the_import(tmp_path):
    store, keys = ImageStore(tmp_path / "store"), []
    store.root.mkdir()
    for i in range(3):
        Image.new("RGB", (20 + i, 30)).save(tmp_path / f"{i}.png")
        keys.append(store.add(tmp_path / f"{i}.png"))
    with Imaging(store) as imaging:
        assert imaging.size(keys[0], "0.png") == (30, 20)
        pid = imaging._process.pid
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # its pipe is closed, so that the question cannot be sent
        imaging.size(keys[1], "1.png")
        assert imaging.size(keys[2], "2.png") == (30, 22)
