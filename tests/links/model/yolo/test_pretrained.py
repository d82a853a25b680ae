"""A file's classes, or others: what the YOLO networks take from it."""

import importlib.util
import pathlib
import warnings

import numpy as np
import pytest

from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import FileFormatError, ValueRangeError, WeightsMismatchError
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.model.yolo.weights import YOLO_V2_TINY_WEIGHTS
from cvzoo.links.model.yolo.yolo_v2 import COCO_ANCHORS, TINY_VOC_ANCHORS, VOC_ANCHORS, YOLOv2, YOLOv2Tiny
from cvzoo.links.model.yolo.yolo_v3 import YOLOv3
from cvzoo.serializers.model_file import save_model
from cvzoo.serializers.npz import save_npz
from cvzoo.weights.cache import cached_path


def _neighbour(name):
    path = pathlib.Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


write_darknet = _neighbour("darknet_file").write_darknet
chainercv_file = _neighbour("test_names").chainercv_file


def _v2(n_fg_class=None, pretrained_model=None, **given):
    return YOLOv2(n_fg_class, pretrained_model, insize=64, base_channels=2, **given)


def _tiny(n_fg_class=None, pretrained_model=None, **given):
    return YOLOv2Tiny(n_fg_class, pretrained_model, insize=64, base_channels=2, mid_channels=16, **given)


def _v3(n_fg_class=None, pretrained_model=None, **given):
    return YOLOv3(n_fg_class, pretrained_model, insize=64, base_channels=2, blocks=(1, 1, 1, 1, 1), **given)


MAKERS = {"YOLOv2": _v2, "YOLOv2Tiny": _tiny, "YOLOv3": _v3}
HEADS = {
    "YOLOv2": {"out/W", "out/b"},
    "YOLOv2Tiny": {"out/W", "out/b"},
    "YOLOv3": {f"branch{stride}/out/{leaf}" for stride in (8, 16, 32) for leaf in "Wb"},
}


WRITERS = {
    "darknet.weights": lambda path, name, model: write_darknet(path, model),
    "own.npz": lambda path, name, model: save_npz(path, model),
    "chainercv.npz": lambda path, name, model: np.savez(path, **chainercv_file(name, model)),
    "own.safetensors": lambda path, name, model: save_model(path, model),
}


@pytest.fixture(params=MAKERS)
def name(request):
    return request.param


@pytest.fixture(params=WRITERS)
def kind(request):
    return request.param


def _written(tmp_path, name, kind, n_fg_class, **given):
    set_seed(3)
    model = MAKERS[name](n_fg_class, **given)
    path = tmp_path / kind
    WRITERS[kind](path, name, model)
    return path, model


def _same(one, other, *, but=()):
    ours, theirs = one.state_arrays(), other.state_arrays()
    assert ours.keys() == theirs.keys()
    for key, array in ours.items():
        if key not in but and not key.endswith("/N"):
            np.testing.assert_array_equal(array, theirs[key], err_msg=key)


@pytest.mark.parametrize(("n", "names"), [(4, None), (20, voc_bbox_label_names), (80, coco_bbox_label_names)])
def test_without_a_number_the_file_decides(tmp_path, name, kind, n, names):
    path, old = _written(tmp_path, name, kind, n)
    new = MAKERS[name](None, path)
    assert new.n_fg_class == n
    assert new.label_names == (old.label_names if kind == "own.safetensors" else names)
    assert new.load_report.is_clean
    _same(new, old)
    assert all(head.n_class == n for head in new.heads)


def test_other_classes_start_anew_in_the_heads_alone(tmp_path, name, kind):
    path, old = _written(tmp_path, name, kind, 4)
    set_seed(5)
    with pytest.warns(UserWarning, match="initialized anew"):
        new = MAKERS[name](None, path, label_names=("ape", "bee", "cat"))
    assert (new.n_fg_class, new.label_names) == (3, ("ape", "bee", "cat"))
    assert set(new.load_report.mismatching) == HEADS[name]
    assert not new.load_report.missing
    assert not new.load_report.unexpected
    _same(new, old, but=HEADS[name])
    for key in HEADS[name]:
        if key.endswith("/W"):
            assert np.std(new.state_arrays()[key]) > 0, "a head of zeros learns the same for every class"


def test_the_same_number_with_other_names_takes_everything(tmp_path, name, kind):
    path, old = _written(tmp_path, name, kind, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new = MAKERS[name](4, path, label_names=("ape", "bee", "cat", "dog"))
    assert new.label_names == ("ape", "bee", "cat", "dog")
    _same(new, old)


def test_a_named_file_is_fitted_to_other_classes(tmp_path, monkeypatch):
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    monkeypatch.setenv("CVZOO_OFFLINE", "1")
    path = cached_path(YOLO_V2_TINY_WEIGHTS["voc0712"])
    path.parent.mkdir(parents=True)
    old = _tiny(20)
    write_darknet(path, old)
    _same(_tiny(None, "voc0712"), old)
    with pytest.warns(UserWarning, match="initialized anew"):
        new = _tiny(80, "voc0712")
    assert (new.n_fg_class, new.label_names) == (80, None)
    _same(new, old, but=HEADS["YOLOv2Tiny"])


@pytest.mark.parametrize(("name", "voc_anchors"), [("YOLOv2", VOC_ANCHORS), ("YOLOv2Tiny", TINY_VOC_ANCHORS)])
@pytest.mark.parametrize("n", [80, 20, 4])
def test_darknets_files_of_80_classes_have_the_boxes_of_coco(tmp_path, name, voc_anchors, n):
    path, _ = _written(tmp_path, name, "darknet.weights", n)
    assert MAKERS[name](None, path).heads[0].anchors == (COCO_ANCHORS if n == 80 else voc_anchors)
    own = ((1.0, 2.0),) * 5
    assert MAKERS[name](None, path, anchors=own).heads[0].anchors == own


def test_a_file_that_says_its_anchors_is_built_with_them(tmp_path, name):
    anchors = ((1.0, 2.0), (3.0, 4.0))
    path, old = _written(tmp_path, name, "own.safetensors", 4, anchors=(anchors,) * 3 if name == "YOLOv3" else anchors)
    new = MAKERS[name](None, path)
    assert new.heads == old.heads
    _same(new, old)


@pytest.mark.parametrize("kind", ["darknet.weights", "own.npz"])
def test_other_anchors_are_counted(tmp_path, name, kind):
    anchors = ((1.0, 2.0), (3.0, 4.0))
    anchors = (anchors,) * 3 if name == "YOLOv3" else anchors
    path, old = _written(tmp_path, name, kind, 4, anchors=anchors)
    new = MAKERS[name](None, path, anchors=anchors)
    assert new.n_fg_class == 4
    _same(new, old)


@pytest.mark.parametrize("n", [None, 3, 4])
@pytest.mark.parametrize(
    ("extra", "message"), [(-4, "ends inside|left over"), (4, "left over|ends inside"), (1, "bytes")]
)
def test_a_file_of_no_network_is_refused(tmp_path, name, extra, message, n):
    path, _ = _written(tmp_path, name, "darknet.weights", 4)
    path.write_bytes((path.read_bytes() + bytes(4))[: path.stat().st_size + extra])
    with pytest.raises(FileFormatError, match=message):
        MAKERS[name](n, path)


def test_the_weights_of_another_network_are_refused(tmp_path, name, kind):
    other = {"YOLOv2": "YOLOv2Tiny", "YOLOv2Tiny": "YOLOv3", "YOLOv3": "YOLOv2"}[name]
    path, _ = _written(tmp_path, other, kind, 4)
    with pytest.raises((FileFormatError, WeightsMismatchError)):
        MAKERS[name](None, path)


def test_names_that_are_not_as_many_are_refused(tmp_path, name, kind):
    path, _ = _written(tmp_path, name, kind, 4)
    with pytest.raises(ValueRangeError, match="one per class"):
        MAKERS[name](4, path, label_names=("ape",))
