"""RetinaNet finds what torchvision's finds, from the same numbers.

torchvision.json: label, score, y_min, x_min, y_max, x_max of the best boxes of torchvision 0.29.2, whose weights and
photos were made as seeded_weights.py makes them ("small": ResNet-18, 5 classes, short side 96, long side 160, heads'
last convolutions times 0.01). Boxes without an area, which torchvision gives as well, are left out.
"""

import dataclasses
import json
import pathlib

import numpy as np
import pytest
from by_our_names import by_our_names
from neighbour import module_at

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.links.model.pretrained.names import COCO_ROWS, publisher_of
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.links.model.resnet.weights import NAMES as RESNET_NAMES
from cvzoo.links.model.retinanet.retinanet import RetinaNet, retinanet_resnet50_fpn, retinanet_resnet50_fpn_v2
from cvzoo.links.model.retinanet.weights import NAMES, RESNET50_FPN

seeds = module_at(pathlib.Path(__file__).parents[1] / "seeded_weights.py")

FOUND = json.loads(pathlib.Path(__file__).with_name("torchvision.json").read_text())
V1, V2 = "retinanet_resnet50_fpn", "retinanet_resnet50_fpn_v2"
GOLDEN = {V1: "retinanet_resnet50_fpn(COCO_V1 config: FrozenBN eps=0)", V2: V2}


def reference(shared, name):
    return json.loads((shared / "reference" / name).read_text())


def small_arrays(n_fg_class=5):
    arrays = {name: seeds.seeded(name, shape) for name, shape in seeds.torchvision_names(n_fg_class)}
    for leaf in ("weight", "bias"):
        arrays[f"head.classification_head.cls_logits.{leaf}"] *= np.float32(0.01)
        arrays[f"head.regression_head.bbox_reg.{leaf}"] *= np.float32(0.01)
    return arrays


@pytest.fixture(scope="module")
def small():
    settings = dataclasses.replace(RESNET50_FPN, n_layer=18, norm="batch", bn_eps=1e-5, min_size=96, max_size=160)
    model = RetinaNet(5, settings=settings)
    model.load_arrays(by_our_names(small_arrays(), NAMES, 5))
    model.use_preset("evaluate")
    return model


_made = {}


def large(shared, name):
    """torchvision's network of that name with seeded weights."""
    if name not in _made:
        _made.clear()
        keys = reference(shared, "torchvision_statedict_manifest.json")[name]["keys"]
        arrays = {key: seeds.seeded(key, shape) for key, shape, _ in keys}
        model = {V1: retinanet_resnet50_fpn, V2: retinanet_resnet50_fpn_v2}[name](91)
        assert model.load_arrays(by_our_names(arrays, NAMES, 91)).is_clean
        model.use_preset("evaluate")
        _made[name] = model
    return _made[name]


def assert_found(model, key, *, least):
    """At least so many of the stored boxes are found, within 0.01 pixel and 1e-4 of the score."""
    height, width = map(int, key.split(":")[1].split("x"))
    (bbox,), (label,), (score,) = model.predict([255 * seeds.seeded_photo(key, height, width)])
    worst = []
    for want_label, want_score, *want in FOUND[key]:
        near = np.abs(bbox - np.array(want)).max(axis=1) + 1e9 * (label != want_label)
        if near.min() < 0.01 and abs(score[near.argmin()] - want_score) < 1e-4:
            worst.append(near.min())
    assert len(worst) >= least, f"{len(worst)} of {len(FOUND[key])}"


@pytest.mark.parametrize("size", ["97x97", "100x161", "60x33"])
def test_a_small_one_finds_what_torchvision_finds(small, size):
    assert_found(small, f"small:{size}", least=40)


@pytest.mark.slow
@pytest.mark.parametrize("name", [V1, V2])
@pytest.mark.parametrize("size", ["97x97", "801x1334"])
def test_the_published_ones_find_what_torchvision_finds_in_awkward_sizes(shared, name, size):
    assert_found(large(shared, name), f"{name}:{size}", least=20)


@pytest.mark.slow
@pytest.mark.parametrize("name", [V1, V2])
def test_the_published_ones_equal_the_golden_numbers(shared, name):
    golden = reference(shared, "torchvision_golden.json")["detection"][GOLDEN[name]]
    model = large(shared, name)
    img = 255 * seeds.seeded_photo(*golden["input"])
    x = model.prepare(img)[None]
    assert list(x.shape) == golden["batch"]["shape"]
    with using_config("train", False), no_backprop_mode():
        maps = model.fpn(model.extractor(x)[1:])
        loc, conf = model.forward(x)
    outputs = dict(zip(("0", "1", "2", "p6", "p7"), maps)), golden["feats"]
    heads = {"cls_logits": conf, "bbox_regression": loc}, golden["head"]
    for ours, theirs in (outputs, heads, ({"batch": model.prepare(img)[None]}, {"batch": golden["batch"]})):
        for key, want in theirs.items():
            array = np.asarray(ours[key].array if key != "batch" else ours[key])
            assert list(array.shape) == want["shape"]
            got = [array.mean(dtype=np.float64), array.std(dtype=np.float64, ddof=1), array.min(), array.max()]
            np.testing.assert_allclose(got, [want[k] for k in ("mean", "std", "min", "max")], atol=2e-4, err_msg=key)
    (bbox,), (label,), (score,) = model.predict([img])
    assert len(bbox) == golden["n_det"]
    np.testing.assert_array_equal(label[:5], golden["top5_labels"])
    np.testing.assert_allclose(bbox[:5][:, [1, 0, 3, 2]], golden["top5_boxes"], atol=0.01)
    np.testing.assert_allclose(score[:5], golden["top5_scores"], atol=1e-4)


@pytest.mark.parametrize("n_layer", [18, pytest.param(50, marks=pytest.mark.slow)])
def test_resnets_equal_the_golden_numbers(shared, n_layer):
    golden = reference(shared, "torchvision_golden.json")["classification_no_preprocess"][f"resnet{n_layer}"]
    keys = reference(shared, "torchvision_statedict_manifest.json")[f"resnet{n_layer}"]["keys"]
    model = ResNet(n_layer)
    arrays = {key: seeds.seeded(key, shape) for key, shape, _ in keys}
    assert model.load_arrays(RESNET_NAMES["torchvision"](arrays)).is_clean
    with using_config("train", False), no_backprop_mode():
        y = model(seeds.seeded_photo(*golden["input"])[None]).array
    np.testing.assert_allclose(y[0, :8], golden["first8"], atol=1e-4)
    assert y.argmax() == golden["argmax"]
    assert [y.min(), y.max()] == pytest.approx([golden["out"]["min"], golden["out"]["max"]], abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("n_layer", [18, 34, 50, 101, 152])
def test_all_resnets_have_torchvisions_names_and_shapes(shared, n_layer):
    keys = reference(shared, "torchvision_statedict_manifest.json")[f"resnet{n_layer}"]["keys"]
    arrays = RESNET_NAMES["torchvision"]({key: np.broadcast_to(np.float32(0), shape) for key, shape, _ in keys})
    wanted = {name: np.shape(array) for name, array in ResNet(n_layer).state_arrays().items()}
    assert {name: array.shape for name, array in arrays.items()} == wanted


def test_files_of_before_torchvision_0_13_are_known_too():
    new = small_arrays()
    old = {}
    for name, array in new.items():
        parts = name.split(".")
        if ".conv." in name and name.startswith("head."):
            parts[3:5] = [str(2 * int(parts[3]))]
        elif ".inner_blocks." in name or ".layer_blocks." in name:
            del parts[4]
        old[".".join(parts)] = array
    assert publisher_of(old, NAMES) == "torchvision, old heads"
    assert old.keys() != new.keys()
    one, other = (by_our_names(arrays, NAMES, 5) for arrays in (old, new))
    assert one.keys() == other.keys()
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_cocos_rows_are_those_that_were_trained():
    assert len(COCO_ROWS) == 80
    assert list(COCO_ROWS[:12]) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13]
    assert COCO_ROWS[-1] == 90
    scores = np.arange(9 * 91, dtype=np.float32)
    arrays = small_arrays(91)
    arrays["head.classification_head.cls_logits.bias"] = scores
    taken = by_our_names(arrays, NAMES, None)["conf_head/out/b"]
    np.testing.assert_array_equal(taken.reshape(9, 80), 91 * np.arange(9)[:, None] + COCO_ROWS)
    whole = by_our_names(arrays, NAMES, 91)["conf_head/out/b"]
    np.testing.assert_array_equal(whole, scores)


@pytest.mark.parametrize(("count", "norm", "eps"), [(0, "frozen", 0.0), (7, "batch", 1e-5)])
def test_normalizations_that_counted_batches_are_ordinary_ones(count, norm, eps, tmp_path):
    arrays = small_arrays()
    arrays = {k: np.array(count, np.int64) if k.endswith("tracked") else v for k, v in arrays.items()}
    np.savez(tmp_path / "trained.npz", **arrays)
    for make in (RetinaNet, retinanet_resnet50_fpn):
        model = make(pretrained_model=tmp_path / "trained.npz")
        assert (model.settings.norm, model.settings.bn_eps) == (norm, eps)
        assert model.extractor.conv1.bn.eps == eps


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lacking", "says"),
    [
        ("backbone.body.layer2.0.conv1.weight", "extractor/res3/0/conv1/conv/W"),
        ("backbone.fpn.inner_blocks.1.0.bias", "fpn/inner/1/b"),
        ("head.classification_head.cls_logits.bias", "conf_head/out/b"),
        ("head.regression_head.bbox_reg.weight", "loc_head/out/W"),
        ("head.regression_head.bbox_reg.bias", "loc_head/out/b"),
    ],
)
@pytest.mark.parametrize("n_fg_class", [None, 3])
def test_a_file_that_lacks_an_array_is_refused_by_name(lacking, says, n_fg_class, tmp_path):
    np.savez(tmp_path / "less.npz", **{name: array for name, array in small_arrays().items() if name != lacking})
    with pytest.raises(WeightsMismatchError, match=says):
        RetinaNet(n_fg_class, tmp_path / "less.npz")


@pytest.mark.slow
def test_a_file_is_fitted_to_other_classes_and_anchors(tmp_path):
    np.savez(tmp_path / "small.npz", **small_arrays())
    with pytest.warns(UserWarning, match="initialized anew: conf_head/out/W, conf_head/out/b$"):
        RetinaNet(3, tmp_path / "small.npz")
    settings = dataclasses.replace(RESNET50_FPN, n_layer=18, anchor_ratios=(1.0,))
    with pytest.warns(UserWarning, match="4 initialized anew: conf_head/out/W"):
        RetinaNet(5, tmp_path / "small.npz", settings=settings)
