"""YOLOv2, YOLOv2-tiny and YOLOv3 consume files of the published sizes, and compute what darknet's cfg says."""

import struct

import numpy as np
import pytest
from neighbour import neighbour

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import FileFormatError, ValueRangeError, WeightsMismatchError
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.darknet.network import DarknetNetwork
from cvzoo.links.model.yolo.weights import DARKNET53_IMAGENET, YOLO_V2_TINY_WEIGHTS, YOLO_V2_WEIGHTS, YOLO_V3_WEIGHTS
from cvzoo.links.model.yolo.yolo_v2 import YOLOv2, YOLOv2Tiny
from cvzoo.links.model.yolo.yolo_v3 import YOLOv3
from cvzoo.weights.cache import cached_path
from cvzoo.weights.formats.npz import write_npz

cfgs = neighbour(__file__, "darknet_cfgs")

# bytes of the published files, and the size of their header
CASES = {
    "yolov2-voc": (YOLOv2, 20, {}, cfgs.yolo_v2(20, 64), 202_704_264, 20),
    "yolov2": (YOLOv2, 80, {}, cfgs.yolo_v2(80, 64), 203_934_260, 16),
    "yolov2-tiny-voc": (YOLOv2Tiny, 20, {}, cfgs.yolo_v2_tiny(20, size=64), 63_471_560, 20),
    "yolov2-tiny": (YOLOv2Tiny, 80, {"mid_channels": 512}, cfgs.yolo_v2_tiny(80, 512, 64), 44_948_600, 20),
    "yolov3-voc": (YOLOv3, 20, {}, cfgs.yolo_v3(20, 64), 246_714_648, 20),
    "yolov3": (YOLOv3, 80, {}, cfgs.yolo_v3(80, 64), 248_007_048, 20),
}


def write_weights(path, n_byte, header):
    """A file of exactly the size: floats in (0.5, 1.5) / 100, so that variances are positive and sums stay small."""
    rng = np.random.default_rng(0)
    floats = rng.random((n_byte - header) // 4, np.float32)
    floats += np.float32(0.5)
    floats *= np.float32(0.01)
    seen = struct.pack("<Q", 1) if header == 20 else struct.pack("<i", 1)
    with open(path, "wb") as file:
        file.write(struct.pack("<3i", 0, 2 if header == 20 else 1, 0) + seen)
        floats.tofile(file)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_file_of_the_published_size_is_consumed_and_gives_what_the_cfg_gives(tmp_path, name):
    model_class, n_class, arguments, cfg, n_byte, header = CASES[name]
    path = tmp_path / f"{name}.weights"
    write_weights(path, n_byte, header)
    assert path.stat().st_size == n_byte
    model = model_class(n_class, path, **arguments)
    model.insize = 64
    other = DarknetDetector(cfg, path, resize="letterbox")
    x = np.random.default_rng(1).random((1, 3, 64, 64), np.float32)
    with using_config("train", False):
        ours, theirs = model.forward(x), other.forward(x)
        with no_backprop_mode():  # convolution and normalization are one kernel: rounded once
            folded = model.forward(x)
    ours, folded = ((y if isinstance(y, tuple) else (y,)) for y in (ours, folded))
    assert len(ours) == len(theirs) == len(folded)
    for one, two, three in zip(ours, theirs, folded):
        assert np.isfinite(one.array).all()
        assert np.ptp(two.array) > 0
        np.testing.assert_array_equal(one.array, two.array)
        np.testing.assert_allclose(three.array, two.array, rtol=1e-5)
    if n_class == 20:  # the anchors of the cfg are those that the class has
        img = np.random.default_rng(2).integers(0, 256, (3, 40, 64)).astype(np.float32)
        for detector in (model, other):
            detector.score_thresh, detector.limit = 0.001, 20
        found, expected = model.predict([img]), other.predict([img])
        assert len(found.bboxes[0])
        for one, two in zip(found, expected):
            # such random weights give numbers of 1e7, whose last digits differ between one kernel and two
            np.testing.assert_allclose(one[0], two[0], rtol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cfg", "n_byte", "shapes"),
    [
        (cfgs.yolo_v3_tiny(80, 64), 35_434_956, [(1, 255, 2, 2), (1, 255, 4, 4)]),
        (cfgs.darknet19(64), 83_427_124, [(1, 1000, 1, 1)]),
        (cfgs.darknet53(64), 166_582_580, [(1, 1000, 1, 1)]),
    ],
    ids=["yolov3-tiny", "darknet19", "darknet53"],
)
def test_a_cfg_consumes_a_file_of_the_published_size(tmp_path, cfg, n_byte, shapes):
    path = tmp_path / "a.weights"
    write_weights(path, n_byte, 20)
    network = DarknetNetwork(cfg, path)
    with using_config("train", False), no_backprop_mode():
        outputs = network(np.random.default_rng(1).random((1, 3, 64, 64), np.float32))
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    assert [y.shape for y in outputs] == shapes
    if not network.heads:
        assert outputs[0].array.sum() == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(("extra", "message"), [(-4, r"ends inside of /out, weights"), (4, "1 floats"), (1, "bytes")])
def test_a_file_of_another_size_is_refused(tmp_path, extra, message):
    path = tmp_path / "tiny.weights"
    write_weights(path, 63_471_560, 20)
    with open(path, "r+b") as file:
        file.truncate(63_471_560 + extra)
    with pytest.raises(FileFormatError, match=message):
        YOLOv2Tiny(20, path)


def test_an_npz_of_the_same_names_is_loaded_too(tmp_path):
    one = YOLOv2Tiny(2)
    path = tmp_path / "tiny.npz"
    write_npz(path, one.state_arrays())
    two = YOLOv2Tiny(2, path)
    for name, array in two.state_arrays().items():
        np.testing.assert_array_equal(array, one.state_arrays()[name], err_msg=name)
    with pytest.raises(WeightsMismatchError):
        YOLOv2Tiny(2, path, mid_channels=512)


def test_classes_and_names_default_to_pascal_voc():
    assert YOLOv2Tiny().n_fg_class == 20
    assert YOLOv2Tiny().label_names == voc_bbox_label_names
    assert YOLOv2Tiny(3).label_names is None
    assert YOLOv2Tiny(label_names=("a", "b")).n_fg_class == 2
    assert len(coco_bbox_label_names) == 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_fg_class": 3, "label_names": ("a", "b")}, "one per class"),
        ({"n_fg_class": 0}, "positive"),
        ({"n_fg_class": True}, "positive"),
        ({"pretrained_model": "coco2"}, "voc0712"),
        ({"pretrained_model": "/nowhere/tiny.weights"}, "nowhere"),
    ],
)
def test_arguments_that_do_not_agree_are_refused(arguments, message):
    with pytest.raises(ValueRangeError, match=message):
        YOLOv2Tiny(**arguments)


def test_yolo_v3_without_anchors_for_each_head_is_refused():
    with pytest.raises(ValueRangeError, match="three heads"):
        YOLOv3(2, anchors=(((1, 2),),) * 2, base_channels=2)


def test_records_say_how_many_classes_and_how_large():
    for records in (YOLO_V2_WEIGHTS, YOLO_V2_TINY_WEIGHTS, YOLO_V3_WEIGHTS):
        for key, record in records.items():
            assert key in record.name
            assert len(record.label_names) in (20, 80)
            assert record.url.endswith((".weights", ".npz"))


def test_presets_are_those_of_the_paper():
    model = YOLOv2Tiny(2)
    assert (model.nms_thresh, model.score_thresh) == (0.45, 0.5)
    model.use_preset("evaluate")
    assert (model.nms_thresh, model.score_thresh) == (0.45, 0.005)


@pytest.mark.slow
def test_darknet_53_alone_starts_a_training(tmp_path, monkeypatch):
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    monkeypatch.setenv("CVZOO_OFFLINE", "1")
    path = cached_path(DARKNET53_IMAGENET)
    path.parent.mkdir(parents=True)
    write_weights(path, DARKNET53_IMAGENET.size, 20)
    model = YOLOv3(3, "imagenet")
    values = model.extractor.stage32.blocks[3].conv2.conv.W.array
    assert values.min() >= 0.005
    assert values.max() <= 0.015
    assert model.branch32.conv1.conv.W.array.min() < 0
