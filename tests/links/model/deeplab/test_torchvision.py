"""FCN, DeepLabV3 and LRASPP against torchvision: names, shapes, maps of seeded networks, labels of a photo."""

import json
import pathlib

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.images.read_image import read_image
from cvzoo.links.model.deeplab.deeplab_v3 import (
    DeepLabV3,
    DeepLabV3MobileNetV3Large,
    DeepLabV3ResNet50,
    DeepLabV3ResNet101,
)
from cvzoo.links.model.fcn.fcn import FCNResNet50, FCNResNet101
from cvzoo.links.model.lraspp.lraspp import LRASPPMobileNetV3Large
from cvzoo.weights.formats.npz import write_npz

# torchvision's name -> ours; the sizes of the files are those of one forward each
MODELS = {
    "fcn_resnet50": FCNResNet50,
    "deeplabv3_resnet50": DeepLabV3ResNet50,
    "deeplabv3_mobilenet_v3_large": DeepLabV3MobileNetV3Large,
    "lraspp_mobilenet_v3_large": LRASPPMobileNetV3Large,
}
STORED = json.loads(pathlib.Path(__file__).with_name("torchvision_photos.json").read_text())


def _loaded(name, make, seeds, shared, folder, **settings):
    path = folder / "seeded.npz"
    write_npz(path, seeds.seeded_network(shared, name))
    return make(pretrained_model=path, **settings)


def _assert_map_equal(y, want):
    """y (1, 21, H, W): the golden numbers within 1e-4 of their spread."""
    spread = want["std"]
    assert list(y.shape) == want["shape"]
    np.testing.assert_allclose(y[0, :8, 30, 40], want["px"], atol=1e-4 * spread)
    got = [y.mean(dtype=np.float64), y.std(dtype=np.float64, ddof=1), y.min(), y.max()]
    np.testing.assert_allclose(got, [want[k] for k in ("mean", "std", "min", "max")], atol=1e-4 * spread)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_seeded_network_gives_torchvision_s_maps(name, seeds, shared, tmp_path):
    model = _loaded(name, MODELS[name], seeds, shared, tmp_path)
    assert model.load_report.is_clean
    assert model.label_names[15] == "person"
    want = seeds.golden(shared, "segmentation_no_preprocess", name)
    x = seeds.seeded_photo(*want["input"])[None]
    with using_config("train", False), no_backprop_mode():
        _assert_map_equal(model(x).array, want["out"])
        if "aux" in want:
            aux = F.resize_images(model.training_scores(x)[1], x.shape[2:], align_corners=False)
            _assert_map_equal(aux.array, want["aux"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large"])
def test_a_photo_gets_torchvision_s_labels(name, seeds, shared, tmp_path):
    want = STORED[name]
    model = _loaded(name, MODELS[name], seeds, shared, tmp_path, short=130)
    img = read_image(shared / "data" / "photos" / "dog.jpg")[:, 60:261, 100:401]
    x = model.prepare(img)[None]
    assert list(x.shape[2:]) == want["size"]
    with using_config("train", False), no_backprop_mode():
        (one,) = model.class_maps(x, [img.shape[1:]])
    scores = np.array(want["scores"])
    np.testing.assert_allclose(one.values[:, 100, 150], scores, atol=1e-3 * np.abs(scores).max())
    labels = np.array([[int(n) for n in row.split()] for row in want["labels"]])
    got = model.predict([img])[0]
    np.testing.assert_array_equal(got, one.label())
    assert (got[::10, ::10] != labels).sum() <= 2  # pixels where two classes are equal but for rounding


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "make"), [("fcn_resnet101", FCNResNet101), ("deeplabv3_resnet101", DeepLabV3ResNet101)]
)
def test_the_deep_ones_have_the_published_names_and_shapes(name, make, seeds, shared, tmp_path):
    names = seeds.manifest(shared, name)
    path = tmp_path / "empty.npz"
    write_npz(path, {key: np.zeros(shape, np.float32) for key, shape in names.items()}, compress=True)
    model = make(pretrained_model=path)
    assert model.load_report.is_clean
    n_param = json.loads((shared / "reference" / "torchvision_statedict_manifest.json").read_text())[name]["num_params"]
    assert sum(each.array.size for each in model.params()) == n_param


def test_a_tensor_too_many_or_too_few_is_refused(seeds, tmp_path, shared):
    arrays = seeds.seeded_network(shared, "lraspp_mobilenet_v3_large")
    path = tmp_path / "odd.npz"
    for changed in ({**arrays, "classifier.extra.weight": np.zeros(3)}, dict(list(arrays.items())[1:])):
        write_npz(path, changed)
        with pytest.raises(WeightsMismatchError):
            LRASPPMobileNetV3Large(pretrained_model=path)
    write_npz(path, arrays)
    with pytest.raises(WeightsMismatchError, match="head/out/b"):
        DeepLabV3("mobilenet_v3_large", pretrained_model=path)
