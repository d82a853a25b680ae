"""README's examples and programs of users are free of errors under mypy and pyright, examples/ and train_scripts/ under
mypy; under pyright the latter are, with the package, for scripts/check."""

import json
import os
import subprocess
import sys
import textwrap

import pytest
from documentation import ROOT, blocks_of

SCRIPTS = [*sorted(ROOT.glob("examples/*.py")), *sorted(ROOT.glob("train_scripts/**/*.py"))]
# a user's program: what `assert_type` and the marked error expect fails if the package's types become `Any` or unknown
USER = """
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import geometry, iterators, optimizers, training, transforms
from cvzoo.datasets import VOCBboxDataset
from cvzoo.evaluations import DetectionVOCEvaluator, eval_detection_voc
from cvzoo.serializers import load_model, save_model
from cvzoo.training import extensions
from cvzoo.typing import BBox, Label, Score

Array = npt.NDArray[Any]


class Net(cvzoo.Chain):
    def __init__(self, n_class: int) -> None:
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(3, 16, 3, pad=1)
            self.fc = L.Linear(None, n_class)

    def forward(self, x: cvzoo.Variable | Array) -> cvzoo.Variable:
        h = F.max_pooling_2d(F.relu(self.conv(x)), 2)
        assert_type(self.conv(x), cvzoo.Variable)  # from the layer's own forward
        return F.linear(h, self.fc.W) * 2 - 1 / (h.shape[0] + F.exp(-h)).mean()


def confident(paths: list[str], thresh: float = 0.5) -> list[tuple[BBox, Label, Score]]:
    model = L.SSD300(pretrained_model="voc0712").to_device("gpu:0")
    assert_type(model, L.SSD)
    model.score_thresh = thresh
    bboxes, labels, scores = result = model.predict(paths)
    assert_type(bboxes, list[Array])
    assert_type(result.scores[0], Array)
    print(bboxes[0].shape, (scores[0] > 0.9).sum(), result.label_names, geometry.bbox_iou(bboxes[0], bboxes[1]))
    return list(zip(bboxes, labels, scores))


def other_tasks(img: Array) -> None:
    masks, labels, scores = L.MaskRCNNFPNResNet50(pretrained_model="coco").predict([img])
    assert_type(masks, list[geometry.RLEs])
    points, labels, scores = L.KeypointRCNNFPNResNet50(pretrained_model="coco").predict([img])
    assert_type(points, list[Array])
    for class_map in L.DeepLabV3ResNet50(pretrained_model="coco_voc").predict([img]):
        assert_type(class_map, Array)
    for prob in L.ResNet50(pretrained_model="imagenet").predict([img]):
        print(prob.argmax())


def train_by_hand(imgs: Array, labels: Array) -> float:
    net = Net(2)
    optimizer = optimizers.Adam(alpha=1e-3).setup(net)
    assert_type(optimizer, optimizers.Adam)
    loss = F.softmax_cross_entropy(net.forward(imgs), labels)
    for _ in range(10):
        loss = F.softmax_cross_entropy(net.forward(imgs), labels)
        assert_type(loss, cvzoo.Variable)
        net.cleargrads()
        loss.backward()
        optimizer.update()
    return float(loss.array)


def augmented(img: Array, bbox: Array) -> tuple[Array, Array]:
    size = img.shape[1:]
    img, param = transforms.random_flip(img, x_random=True, return_param=True)
    assert_type(param, dict[str, bool])
    bbox = transforms.flip_bbox(bbox, size, x_flip=param["x_flip"])
    bbox, kept = transforms.crop_bbox(bbox, slice(0, 200), slice(0, 200), return_param=True)
    assert_type(kept["index"], Array)
    assert_type(transforms.resize_bbox(bbox, size, (300, 300)), Array)
    return transforms.resize(img, (300, 300)), bbox


def results(paths: list[str]) -> None:
    result = L.YOLOv3(pretrained_model="voc0712").predict(paths).filter(score=0.5, classes=["dog"])
    assert_type(result.bboxes, list[Array])
    assert_type(result.labels[0], Array)
    assert_type(result.draw(0), Array)
    assert_type(result.to_records(), list[dict[str, Any]])
    result.save(0, "found.png")


def judged(dataset: list[Any], model: L.SSD, bboxes: list[BBox], labels: list[Label], scores: list[Score]) -> float:
    iterator = iterators.SerialIterator(dataset, 4, repeat=False, shuffle=False)
    found = DetectionVOCEvaluator(iterator, model)()
    assert_type(found, dict[str, float])
    ap = eval_detection_voc(bboxes, labels, scores, bboxes, labels, use_07_metric=True)
    assert_type(ap, dict[str, Any])
    assert_type(geometry.bbox_iou(bboxes[0], bboxes[1]), Array)
    assert_type(geometry.non_maximum_suppression(bboxes[0], 0.5, scores[0]), Array)
    return found["main/map"]


def operators(x: cvzoo.Variable) -> None:
    y = (x + 1) * x / 2 - x**2 + x @ x.T
    assert_type(y, cvzoo.Variable)
    assert_type(y.array, Array)
    print(x.grad.sum())
    assert_type(-y[0], cvzoo.Variable)
    Net(3)(x, "too many")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    y.no_such_method()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]


def train(root: str) -> None:
    model = L.Classifier(Net(2))
    optimizer = optimizers.MomentumSGD(lr=0.01).setup(model)
    optimizer.add_hook(optimizers.WeightDecay(1e-4))
    data = [(np.zeros((3, 8, 8), np.float32), np.int32(0))]
    updater = training.StandardUpdater(iterators.SerialIterator(data, 1), optimizer)
    trainer = training.Trainer(updater, (2, "epoch"), out="result")
    trainer.extend(extensions.LogReport(), trigger=(1, "epoch"))
    detector = load_model("mine.safetensors")
    iterator = iterators.SerialIterator(VOCBboxDataset(root), 4, repeat=False, shuffle=False)
    trainer.extend(DetectionVOCEvaluator(iterator, detector), trigger=(1, "epoch"))
    trainer.run()
    save_model("net.safetensors", L.SSD300(n_fg_class=3))
"""

BACKENDS = """
from cvzoo.backends import AbstractBackend
from cvzoo.backends.cudnn import backend as cudnn_backend
from cvzoo.backends.cupy import backend as cupy_backend
from cvzoo.backends.numpy import backend as numpy_backend
from cvzoo.backends.onednn import backend as onednn_backend

backends: tuple[AbstractBackend, ...] = (numpy_backend, onednn_backend, cupy_backend, cudnn_backend)
"""


# what a program of a user need not do: types are for the package
PLAIN = """
[[tool.mypy.overrides]]
module = {}
disallow_incomplete_defs = false
disallow_subclassing_any = false
disallow_untyped_decorators = false
disallow_untyped_defs = false
extra_checks = false
"""


def programs(folder):
    """The files to check: README's blocks as one file, the user's program, the comparison of backends with their
    interface, and scripts of the repository."""
    blocks = [block.text for block in blocks_of("README.md") if block.language == "python"]
    (folder / "readme_blocks.py").write_text("\n".join(blocks))
    (folder / "user_program.py").write_text(textwrap.dedent(USER))
    (folder / "backends_program.py").write_text(BACKENDS)
    return [folder / "readme_blocks.py", folder / "user_program.py", folder / "backends_program.py", *SCRIPTS]


def test_mypy_finds_no_error_in_programs(tmp_path):
    pytest.importorskip("mypy", reason="mypy is in the extra [dev]")
    files = programs(tmp_path)
    modules = sorted({name for path in files for name in (path.stem, f"{path.parent.name}.*")})
    # the package's modules with their own settings: what scripts/check found of them is read from its cache
    mypy = (ROOT / "pyproject.toml").read_text().partition("[tool.mypy]\n")[2].partition("\n[tool.pyright]")[0]
    (tmp_path / "pyproject.toml").write_text(f"[tool.mypy]\n{mypy}\n{PLAIN.format(modules)}")
    command = [sys.executable, "-m", "mypy", "--config-file", tmp_path / "pyproject.toml", *files]
    path = os.pathsep.join(
        map(str, (ROOT, ROOT / "train_scripts" / "detection"))
    )  # scripts import what is next to them
    environment = {**os.environ, "MYPYPATH": path, "MYPY_CACHE_DIR": str(ROOT / ".mypy_cache")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_pyright_finds_no_error_in_programs(tmp_path):
    pytest.importorskip("pyright", reason="pyright is in the extra [dev]")
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT)]}))
    # scripts of the repository are read with the package, by scripts/check
    files = [path.name for path in programs(tmp_path) if path.parent == tmp_path]
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, *files]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    if not done.stdout.startswith("{"):
        pytest.skip(f"pyright does not start here: {(done.stdout + done.stderr)[:200]}")
    found = [each for each in json.loads(done.stdout)["generalDiagnostics"] if each["severity"] == "error"]
    assert not found, "\n".join(f"{e['file']}:{e['range']['start']['line'] + 1}: {e['message']}" for e in found)
