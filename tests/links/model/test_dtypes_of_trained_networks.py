"""Public networks that were trained in float32 find the same on real photos in every dtype."""

import pathlib

import numpy as np
import pytest

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.functions.array.dtypes import widened
from cvzoo.images.read_image import read_image
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.links.model.darknet.detector import DarknetDetector

pytest.importorskip("ml_dtypes")
BOUNDS = {"tf32": 0.0, "mixed_bf16": 1e-2, "mixed_fp16": 3e-3}  # of the largest number, root mean square


def _scores(model, x):
    with using_config("train", False), no_backprop_mode():
        ys = model.forward(x)
        return [widened(y).array for y in (ys if isinstance(ys, tuple) else (ys,))]


def _off(got, wanted):
    return max(float(np.sqrt(np.mean(np.square(a - b))) / np.abs(b).max()) for a, b in zip(got, wanted))


@pytest.fixture(scope="module")
def resnet(shared):
    with np.load(shared / "data" / "cifar10_train_4000.npz") as file:
        images, labels = file["images"][:500].transpose(0, 3, 1, 2).astype(np.float32), file["labels"][:500]
    path = shared / "weights" / "resnet20_cifar10" / "resnet20-12fca82f.th"
    return CIFARResNet(20, pretrained_model=path), images, labels


@pytest.fixture(scope="module")
def yolo(shared):
    folder = shared / "weights" / "yolo_fastest_coco"
    names = ("yolo-fastest-1.1.cfg", "yolo-fastest-1.1.weights")
    model = DarknetDetector(*(folder / name for name in names), label_names=folder / "coco.names")
    return model, [pathlib.Path(shared / "data" / "photos" / f"{name}.jpg") for name in ("dog", "horses", "person")]


@pytest.mark.slow
@pytest.mark.parametrize("mode", BOUNDS)
def test_resnet_20_gives_the_same_scores_and_is_right_as_often(resnet, mode):
    model, images, labels = resnet
    x = np.stack([model.prepare(img) for img in images[:50]])
    wanted = _scores(model, x)
    right = (np.asarray(model.predict(images)).argmax(axis=1) == labels).sum()
    with using_config("dtype", mode):
        assert _off(_scores(model, x), wanted) <= BOUNDS[mode]
        probs = np.asarray(model.predict(images))
    assert probs.dtype == np.float32
    assert (probs.argmax(axis=1) == labels).sum() >= right - 2


@pytest.mark.parametrize("mode", BOUNDS)
def test_yolo_finds_the_same_objects(yolo, mode):
    model, paths = yolo
    wanted = model.predict(paths)
    xs = [model.prepare(read_image(path))[None] for path in paths]
    heads = [_scores(model, x) for x in xs]
    with using_config("dtype", mode):
        # 0.6 to 1.01 % in bfloat16, under 0.09 % in float16
        assert all(_off(_scores(model, x), each) <= 1.2 * BOUNDS[mode] for x, each in zip(xs, heads))
        found = model.predict(paths)
    for one, other in zip(zip(*wanted), zip(*found)):
        sure = [each[one[2] > 0.6] for each in one]
        assert len(sure[0])
        for bbox, label, score in zip(*sure):
            off = np.abs(other[0] - bbox).max(axis=1) / (bbox[2:] - bbox[:2]).max()
            best = off.argmin()
            assert off[best] <= 0.03
            assert other[1][best] == label
            assert other[2][best] == pytest.approx(score, abs=0.05)
