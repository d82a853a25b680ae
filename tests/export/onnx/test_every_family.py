"""Every family's file finds in a real photo what the model finds, read by a program that knows nothing of cvzoo."""

import json
import pathlib

import numpy as np
import pytest
from neighbour import module_at
from PIL import Image

from cvzoo.export.onnx.write import export_onnx
from cvzoo.images.read_image import read_image
from cvzoo.links.model.architectures import architectures
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.segmenter import AbstractImageSegmenter, AbstractSegmenter
from cvzoo.links.model.thresholds import AbstractThresholds

_TESTS = pathlib.Path(__file__).parents[2]
_ZOO = _TESTS / "links" / "model"
SUITES = {
    "classifiers": (module_at(_ZOO / "test_classifier_conformance.py"), "CLASSIFIERS"),
    "detectors": (module_at(_ZOO / "test_detector_conformance.py"), "MAKERS"),
    "segmenters": (module_at(_ZOO / "test_segmenter_conformance.py"), "SEGMENTERS"),
    "instances": (module_at(_ZOO / "test_instance_networks.py"), "MODELS"),
}
MEMBERS = [(suite, name) for suite, (module, table) in SUITES.items() for name in vars(module)[table]]
IDS = [name for _, name in MEMBERS]


def made(suite, name):
    return SUITES[suite][0]._made(name).copy("copy")


@pytest.fixture(scope="module")
def reader(onnxruntime):
    """The example that runs a file with ONNX Runtime, NumPy and Pillow alone."""
    return module_at(_TESTS.parent / "examples" / "run_onnx.py")


@pytest.fixture
def photo(shared):
    return shared / "data" / "photos" / "dog.jpg"


@pytest.mark.slow
def test_every_architecture_of_the_zoo_has_a_member_here():
    covered = {type(SUITES[suite][0]._made(name)) for suite, name in MEMBERS}
    assert {each.name for each in architectures() if each.model_class not in covered} == set()


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "name"), MEMBERS, ids=IDS)
def test_the_reader_finds_what_the_model_finds(suite, name, reader, photo, tmp_path):
    model = made(suite, name)
    boxes = isinstance(model, AbstractThresholds)
    if boxes:
        model.score_thresh, model.limit = 0.002, 20
    file = tmp_path / "model.onnx"
    export_onnx(file, model, boxes=boxes)
    img = reader.read(photo)
    if isinstance(model, AbstractSegmenter):  # which see photos in full
        img = np.ascontiguousarray(img[::2, ::2])
    out = reader.run(str(file), img)
    ours = model.predict([img.transpose(2, 0, 1)])
    if isinstance(model, AbstractClassifier):
        # the random EfficientNet amplifies rounding: NumPy's float32 is up to 1.4e-5 from float64, ONNX Runtime's 2e-6
        np.testing.assert_allclose(out["probs"], ours[0], atol=2e-5)
    elif isinstance(model, AbstractImageSegmenter):
        assert (out["label"] == ours[0]).mean() > 0.99
    elif boxes:
        check_instances(out, ours, img.shape[:2])


def check_instances(out, ours, size, *, at_least=1):
    """As many, in the same order, each in its place; random weights make boxes a hundred times the photo's size."""
    assert at_least <= len(ours.scores[0]) == len(out["scores"])
    np.testing.assert_allclose(out["scores"], ours.scores[0], atol=1e-4)
    np.testing.assert_array_equal(out["labels"], ours.labels[0])
    found, expected = (np.clip(each, 0, np.tile(size, 2)) for each in (out["boxes"], ours.bboxes[0]))
    np.testing.assert_allclose(found, expected, atol=0.05)
    if "masks" in out and len(out["masks"]):
        off = out["masks"] != ours.masks[0].to_masks()
        assert off.sum() <= 1e-4 * off.size
    if "points" in out:
        np.testing.assert_allclose(out["points"], ours.points[0], atol=0.05)
        np.testing.assert_allclose(out["point_scores"], ours.point_scores[0], atol=1e-4)


AWKWARD = [(1, 1), (2, 90), (10, 10), (97, 61), (200, 30)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suite", "name"),
    [
        ("detectors", "RetinaNet"),
        ("detectors", "YOLOv2"),
        ("detectors", "FasterRCNNVGG16"),
        ("detectors", "LightHeadRCNN"),
        ("instances", "MaskRCNNFPN"),
        ("instances", "FCIS"),
        ("instances", "KeypointRCNNFPN"),
    ],
)
def test_one_file_takes_photos_of_awkward_sizes(suite, name, reader, photo, tmp_path):
    model = made(suite, name)
    model.score_thresh, model.limit = 0.01, 20
    export_onnx(tmp_path / "model.onnx", model, boxes=True)
    for height, width in AWKWARD:
        img = np.asarray(Image.fromarray(reader.read(photo)).resize((width, height)))
        ours = model.predict([img.transpose(2, 0, 1)])
        check_instances(reader.run(str(tmp_path / "model.onnx"), img), ours, (height, width), at_least=0)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("grey.png", lambda img: img.convert("L")),
        ("bits.png", lambda img: img.convert("1")),
        ("palette.png", lambda img: img.convert("P")),
        ("print.jpg", lambda img: img.convert("CMYK")),
        ("window.png", lambda img: Image.merge("RGBA", [*img.split(), img.convert("L")])),
        ("scan.png", lambda img: Image.fromarray(np.asarray(img.convert("L")).astype(np.uint16) * 257)),
    ],
)
def test_the_reader_reads_every_kind_of_photo_as_cvzoo_does(name, make, reader, photo, tmp_path):
    make(Image.open(photo)).save(tmp_path / name)
    ours = read_image(tmp_path / name).transpose(1, 2, 0)
    np.testing.assert_allclose(reader.read(tmp_path / name), ours, atol=1)


REAL = module_at(pathlib.Path(__file__).with_name("test_real_weights.py"))


@pytest.mark.parametrize(
    ("make", "name"),
    [(REAL._yolo_fastest, "dog"), (REAL._yolo_fastest, "person"), (REAL._yolo_nano, "horses")],
    ids=["dog", "person", "horses"],
)
def test_published_weights_find_the_same_objects(make, name, shared, reader, tmp_path):
    model, photo = make(shared / "weights"), shared / "data" / "photos" / f"{name}.jpg"
    export_onnx(tmp_path / "model.onnx", model, boxes=True)
    img = reader.read(photo)
    check_instances(reader.run(str(tmp_path / "model.onnx"), img), model.predict([photo]), img.shape[:2])


@pytest.mark.slow
def test_the_model_in_the_package_finds_the_same_text(reader, tmp_path, capsys):
    model, photo = REAL._text(None), _TESTS.parent / "examples" / "receipt.png"
    export_onnx(tmp_path / "model.onnx", model, boxes=True)
    img = reader.read(photo)
    check_instances(reader.run(str(tmp_path / "model.onnx"), img), model.predict([photo]), img.shape[:2])
    reader.main(str(tmp_path / "model.onnx"), photo)
    assert f"  {model.label_names[0]}  " in capsys.readouterr().out


def test_published_weights_name_the_same_class(shared, reader, photo, tmp_path, capsys):
    model = REAL._resnet20(shared / "weights")
    export_onnx(tmp_path / "model.onnx", model)
    reader.main(str(tmp_path / "model.onnx"), photo)
    best = int(model.predict([photo])[0].argmax())
    name = str(best) if model.label_names is None else model.label_names[best]
    assert capsys.readouterr().out.splitlines()[0].endswith(f"  {name}")


@pytest.mark.parametrize(("suite", "name"), MEMBERS, ids=IDS)
def test_the_reader_prepares_a_photo_as_the_model_does(suite, name, reader, photo):
    model = made(suite, name)
    img = reader.read(photo)
    x, _ = reader.prepare(img, json.loads(json.dumps(model.preparation.to_program())))
    ours = model.prepare(img.transpose(2, 0, 1).astype(np.float32))
    assert x.shape == ours.shape
    assert abs(x - ours).max() <= 2e-5 * abs(ours).max()
