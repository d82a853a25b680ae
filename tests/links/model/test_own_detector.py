"""A user's own detector: with a value of `decoding` it finds, runs on a GPU and is exported; with `decode` it finds."""

import numpy as np
import pytest

import cvzoo.links as L
from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.export.onnx.write import export_onnx
from cvzoo.links.model.decoding.abstract import Found
from cvzoo.links.model.decoding.grid_cells import GridCells, YoloHead
from cvzoo.links.model.detector import AbstractOneStageDetector
from cvzoo.links.model.preparation.stretch import Stretch

PHOTO = np.full((3, 64, 96), 127, np.float32)


class Cells(AbstractOneStageDetector):
    """A layer that says the same of every cell of 16 x 16 pixels."""

    label_names = ("thing",)
    n_fg_class = 1
    preparation = Stretch((32, 48))

    def __init__(self):
        with self.init_scope():
            self.out = L.Convolution2D(3, 6, 16, 16, initialW=0)
        self.out.b.array[4:] = 2
        self.use_preset("visualize")

    def forward(self, x):
        return self.out(x)


class WithDecoding(Cells):
    """Its boxes are YOLO's."""

    @property
    def decoding(self):
        return GridCells(heads=(YoloHead(((16.0, 16.0),), 1),))


class WithDecode(Cells):
    """Its boxes are always the same."""

    def decode(self, outputs, size):
        return Found(np.float32([[1, 2, 30, 40]]), np.int32([0]), np.float32([0.9]))


def test_a_detector_with_a_decoding_finds_boxes():
    (bbox,), (label,), (score,) = WithDecoding().predict([PHOTO])
    assert len(bbox) == 6
    np.testing.assert_allclose(bbox[:, 2:] - bbox[:, :2], 32, rtol=1e-5)
    np.testing.assert_allclose(score, (1 / (1 + np.exp(-2))) ** 2, rtol=1e-5)
    assert set(label.tolist()) == {0}


def test_a_detector_with_a_decoding_finds_the_same_on_a_gpu(fake_gpu):
    with fake_gpu():
        model = WithDecoding()
        want = model.predict([PHOTO])
        model.to_device("gpu:0")
        got = model.predict([PHOTO])
        np.testing.assert_allclose(np.sort(got.bboxes[0], axis=0), np.sort(want.bboxes[0], axis=0), atol=1e-3)


def test_a_detector_with_a_decode_of_its_own_gives_what_that_says(fake_gpu):
    model = WithDecode()
    np.testing.assert_array_equal(model.predict([PHOTO]).bboxes[0], [[1, 2, 30, 40]])
    with fake_gpu():
        model.to_device("gpu:0")
        np.testing.assert_array_equal(model.predict([PHOTO]).bboxes[0], [[1, 2, 30, 40]])


def test_boxes_of_a_decoding_are_exported_and_those_of_a_decode_are_not(tmp_path):
    exported = export_onnx(tmp_path / "a.onnx", WithDecoding(), boxes=True)
    assert exported.outputs[0][0] == "boxes"
    with pytest.raises(UnsupportedError, match="WithDecode"):
        export_onnx(tmp_path / "b.onnx", WithDecode(), boxes=True)


def test_a_detector_that_says_neither_is_told_so():
    with pytest.raises(NotImplementedError, match="neither `decoding` nor `decode`"):
        Cells().predict([PHOTO])
