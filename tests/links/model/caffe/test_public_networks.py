"""Public networks, against what an independent runtime gave for them."""

import numpy as np
import pytest

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.links.model.caffe.caffe_function import CaffeFunction
from cvzoo.serializers import load_weights


@pytest.fixture(scope="module")
def weights(shared):
    return shared / "weights"


def test_the_nano_yolo_gives_the_heads_that_it_should(weights):
    func = _nano_yolo(weights)
    expected = np.load(weights / "expected" / "mobilenetv2_yolov3_nano_voc_dog.npz")
    with no_backprop_mode():
        heads = func(inputs={"data": _unit_photo(expected["input_u8"])}, train=False)
    for head, name in zip(heads, ("head0", "head1"), strict=True):
        want = expected[name]
        assert np.abs(head.array[0] - want).max() < 1e-4 * np.abs(want).max()


def test_the_caffemodel_gives_what_the_darknet_file_of_the_same_network_gives(weights):
    network = pytest.importorskip("cvzoo.links.model.darknet.network")
    folder = weights / "mobilenetv2_yolov3_nano_voc"
    stem = "MobileNetV2-YOLOv3-Nano-voc"
    darknet = network.DarknetNetwork(folder / f"{stem}.cfg", folder / f"{stem}.weights")
    x = _unit_photo(np.load(weights / "expected" / "mobilenetv2_yolov3_nano_voc_dog.npz")["input_u8"])
    with no_backprop_mode():
        ours = _nano_yolo(weights)(inputs={"data": x}, train=False)
        with using_config("train", False):
            theirs = darknet(x)
    for a, b in zip(ours, theirs, strict=True):
        assert a.shape == b.shape
        assert np.abs(a.array - b.array).max() < 1e-4 * np.abs(b.array).max()


def test_squeezenet_gives_the_logits_that_it_should(weights):
    folder = weights / "squeezenet_v1.0_imagenet"
    func = CaffeFunction(prototxt=folder / "SqueezeNet_deploy.prototxt")
    names = {}
    for path, _ in func.namedparams():
        layer, _, kind = path[1:].rpartition("/")
        names[f"{layer.replace('/', '__')}_{kind.lower()}"] = path[1:]
    report = load_weights(folder / "squeezenet_v1.0_decoded.npz", func, rename=names)
    assert report.is_clean
    expected = np.load(weights / "expected" / "squeezenet_v1.0.npz")
    bgr = expected["dog_rgb_u8"][:, :, ::-1].astype(np.float32) - np.array([104, 117, 123], np.float32)
    with no_backprop_mode():
        (logits,) = func(inputs={"data": bgr.transpose(2, 0, 1)[None]}, outputs=["pool_final"], train=False)
    want = expected["dog_logits"]
    assert logits.shape == (1, 1000, 1, 1)
    assert np.abs(logits.array.reshape(-1) - want).max() < 1e-4 * np.abs(want).max()


@pytest.mark.parametrize("name", ["img1", "img13"])
def test_the_face_detector_gives_the_scores_and_boxes_that_it_should(weights, name):
    folder = weights / "ultralight_face_rfb320"
    func = CaffeFunction(folder / "RFB-320.caffemodel", folder / "RFB-320.prototxt")
    assert func.inputs == {"input": (1, 3, 240, 320)}
    expected = np.load(weights / "expected" / "ultralight_face_rfb320.npz")
    x = (expected[f"{name}_u8"].astype(np.float32).transpose(2, 0, 1)[None] - 127) / 128
    with no_backprop_mode():
        scores, boxes = func(inputs={"input": x}, outputs=["scores", "boxes"], train=False)
    np.testing.assert_allclose(scores.array[0], expected[f"{name}_scores"], atol=1e-5)
    np.testing.assert_allclose(boxes.array[0], expected[f"{name}_boxes"], atol=1e-4)


def test_a_caffemodel_alone_runs_as_well(weights):
    folder = weights / "ultralight_face_rfb320"
    both = CaffeFunction(folder / "RFB-320.caffemodel", folder / "RFB-320.prototxt")
    alone = CaffeFunction(folder / "RFB-320.caffemodel")
    x = np.random.default_rng(0).normal(size=(1, 3, 240, 320)).astype(np.float32)
    with no_backprop_mode():
        a, b = (f(inputs={"input": x}, outputs=["scores"], train=False)[0] for f in (both, alone))
    np.testing.assert_array_equal(a.array, b.array)


def _nano_yolo(weights):
    stem = weights / "mobilenetv2_yolov3_nano_voc" / "MobileNetV2-YOLOv3-Nano-voc"
    return CaffeFunction(f"{stem}.caffemodel", f"{stem}.prototxt")


def _unit_photo(photo):
    return np.ascontiguousarray(photo.transpose(2, 0, 1)[None], np.float32) / 255
