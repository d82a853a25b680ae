"""A tiny network in files, so that the command line can be tried without anything from outside."""

import numpy as np
import pytest
from PIL import Image

from cvzoo.cli.main import main

CFG = """
[net]
width=32
height=32
channels=3

[convolutional]
batch_normalize=1
filters=4
size=3
stride=8
pad=1
activation=leaky

[convolutional]
filters=14
size=1
stride=1
pad=0
activation=linear

[yolo]
mask=0,1
anchors=8,8, 16,16
classes=2
num=2
"""
N_FLOATS = 4 * 4 + 4 * 3 * 9 + 14 + 14 * 4


@pytest.fixture
def net(tmp_path):
    """The options of `cvzoo predict` for a network of random weights that finds two classes."""
    folder = tmp_path / "net"
    folder.mkdir()
    (folder / "tiny.cfg").write_text(CFG)
    values = np.random.default_rng(0).normal(0, 1, N_FLOATS).astype("<f4")
    values[12:16] = 1  # variances
    biases = values[124:138].reshape(2, 7)  # anchor by anchor: y, x, h, w, object, two classes
    biases[:, 4:] = 6  # so that something is found in any image
    header = np.array([0, 2, 0], "<i4").tobytes() + np.array([0], "<u8").tobytes()
    (folder / "tiny.weights").write_bytes(header + values.tobytes())
    (folder / "tiny.names").write_text("cat\ndog\n")
    return [
        *("--cfg", str(folder / "tiny.cfg")),
        *("--weights", str(folder / "tiny.weights")),
        *("--names", str(folder / "tiny.names")),
    ]


@pytest.fixture
def photos(tmp_path):
    """A folder with photos: two good ones, one of them with blanks and letters beyond ASCII in its name."""
    folder = tmp_path / "photos"
    folder.mkdir()
    random = np.random.default_rng(1)
    for name, size in (("a.jpg", (40, 60)), ("zwei Bäume.png", (33, 20))):
        pixels = random.integers(0, 256, (*size, 3), "uint8")
        Image.fromarray(pixels).save(folder / name)
    return folder


@pytest.fixture
def run(capsys):
    """Call the command; gives (exit status, standard output, standard error)."""

    def call(*words):
        try:
            status = main([str(word) for word in words])
        except SystemExit as stop:  # argparse
            status = stop.code
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call
