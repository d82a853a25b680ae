"""What a network gets for saying how it sees images: host, GPU, ONNX, header and words."""

import copy
import dataclasses
import json

import numpy as np
import pytest

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.export.onnx.agreement import photo_place
from cvzoo.export.onnx.write import export_onnx
from cvzoo.links.model.image_batches import declared_preparation, preprocessing_header
from cvzoo.serializers.model_file import load_model, save_model
from cvzoo.weights.model_header import read_model_header

PHOTOS = [
    np.random.default_rng(k).integers(0, 256, (3, *size)).astype(np.uint8) for k, size in enumerate(((40, 60),) * 2)
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class CornersConfig(L.AbstractConfig):
    """What a `Corners` is built of: nothing that could be otherwise."""


class Corners(L.AbstractOneStageDetector):
    """A user's detector: one box a cell of 16 pixels, that says how it sees an image and nothing more about it."""

    preparation = L.Letterbox((64, 96))
    score_thresh = 0.0

    config_class = CornersConfig

    def __init__(self, config=CornersConfig(), label_names=("corner",)):
        self.config, self.label_names = config, label_names
        with self.init_scope():
            self.score = L.Convolution2D(3, 1, 16, 16)

    def forward(self, x):
        return F.sigmoid(self.score(x))

    def decode(self, outputs, size):
        score = outputs[0].ravel()
        y, x = np.divmod(np.arange(len(score)), 6)
        corner = np.stack([y, x], axis=1) * 16.0
        top, left, height, width = self.preparation.part(size)
        bbox = (
            (np.concatenate([corner, corner + 16], axis=1) - [top, left] * 2) * np.tile(size, 2) / ([height, width] * 2)
        )
        keep = score > self.score_thresh
        return bbox[keep].astype(np.float32), np.zeros(keep.sum(), np.int32), score[keep]


class Own(Corners):
    """One that writes `prepare` itself."""

    def prepare(self, img):
        return np.full((3, 64, 96), img.mean(), np.float32)


@pytest.fixture
def model():
    set_seed(1)
    return Corners()


def test_the_host_prepares_images(model):
    x = model.prepare(PHOTOS[0].astype(np.float32))
    assert x.shape == (3, 64, 96)
    assert 0 <= x.min() < x.max() <= 1
    found = model.predict(PHOTOS)
    assert len(found.bboxes[0])
    assert (found.bboxes[0] < np.tile((40, 60), 2) + 8).all()


@pytest.mark.slow
def test_a_gpu_prepares_images_by_its_kernel(model, fake_gpu):
    want = model.predict(PHOTOS)
    with fake_gpu() as machine:
        there = copy.deepcopy(model)
        there.to_device("gpu:0")
        machine.recorder.clear()
        got = there.predict(PHOTOS)
        assert [e.name for e in machine.recorder if e.name.startswith("prepare")] == ["prepare_u8_f32"] * 2
    for one, two in zip(got.scores, want.scores):
        np.testing.assert_allclose(np.sort(one), np.sort(two), atol=1e-5)


@pytest.mark.slow
def test_a_prepare_of_ones_own_is_asked_on_a_gpu_too(fake_gpu):
    set_seed(1)
    model = Own()
    want = model.predict(PHOTOS)
    with fake_gpu() as machine:
        model.to_device("gpu:0")
        machine.recorder.clear()
        got = model.predict(PHOTOS)
        assert not [e.name for e in machine.recorder if e.name.startswith("prepare")]
    for one, two in zip(got.scores, want.scores):
        np.testing.assert_allclose(np.sort(one), np.sort(two), atol=1e-5)


def test_an_onnx_file_says_how_images_are_prepared(model, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs ONNX Runtime: pip install onnxruntime")
    export_onnx(tmp_path / "corners.onnx", model)
    session = onnxruntime.InferenceSession(str(tmp_path / "corners.onnx"), providers=["CPUExecutionProvider"])
    told = json.loads(session.get_modelmeta().custom_metadata_map["prepare"])
    assert (told["fit"], told["size"], told["fill"], told["std"]) == ("letterbox", [64, 96], 127.5, [255.0] * 3)
    assert photo_place(model, (40, 60), (64, 96)).tolist() == [0, 0, 64, 96]
    assert photo_place(model, (40, 40), (64, 96)).tolist() == [0, 16, 64, 80]


def test_a_model_file_and_people_are_told(model, tmp_path):
    save_model(tmp_path / "corners.safetensors", model)
    header = read_model_header(tmp_path / "corners.safetensors")
    assert header.preprocessing == preprocessing_header(model)
    assert header.preprocessing["letterbox"] == [64, 96]
    again = load_model(tmp_path / "corners.safetensors", architecture=Corners)
    again.score_thresh = model.score_thresh
    np.testing.assert_array_equal(again.predict(PHOTOS).scores[0], model.predict(PHOTOS).scores[0])
    assert "letterbox" in model.preparation.describe()


def test_who_writes_prepare_declares_nothing():
    model = Own()
    assert declared_preparation(model) is None
    assert preprocessing_header(model) == {}
    assert photo_place(model, (40, 40), (64, 96)).tolist() == [0, 0, 64, 96]


def test_who_says_nothing_is_told_what_to_say(model):
    class Silent(Corners):
        preparation = None

    with pytest.raises(UnsupportedError, match="does not declare its preprocessing"):
        Silent().prepare(PHOTOS[0])
