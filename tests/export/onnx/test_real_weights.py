"""Networks with published weights say the same of real photos in ONNX Runtime."""

import numpy as np
import pytest

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.export.onnx.agreement import compare_with_onnxruntime
from cvzoo.export.onnx.write import export_onnx
from cvzoo.images.read_image import read_image
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.espnet.espnet import ESPNet
from cvzoo.links.model.retinanet.text import retinanet_text


def _resnet20(weights):
    return CIFARResNet(20, pretrained_model=weights / "resnet20_cifar10" / "resnet20-12fca82f.th")


def _espnet(weights):
    return ESPNet(pretrained_model=weights / "espnet_camvid" / "espnet_p_2_q_8_camvid.pth")


def _yolo_fastest(weights):
    stem = weights / "yolo_fastest_coco" / "yolo-fastest-1.1"
    return DarknetDetector(f"{stem}.cfg", f"{stem}.weights")


def _yolo_nano(weights):
    (cfg,) = (weights / "mobilenetv2_yolov3_nano_voc").glob("*.cfg")
    return DarknetDetector(cfg, cfg.with_suffix(".weights"))


def _text(weights):
    return retinanet_text()


@pytest.mark.slow
@pytest.mark.parametrize("make", [_resnet20, _espnet, _yolo_fastest, _yolo_nano, _text], ids=lambda make: make.__name__)
def test_outputs_agree(make, shared, photos, onnxruntime, tmp_path):
    model = make(shared / "weights")
    x = np.stack([model.prepare(photos[0])] * 2)
    export_onnx(tmp_path / "model.onnx", model, size=x.shape[2:])
    found = compare_with_onnxruntime(tmp_path / "model.onnx", model, x)
    assert found.difference <= 2e-5 * found.scale


def test_espnet_names_the_same_pixels(shared, open_session, tmp_path):
    model = _espnet(shared / "weights")
    frame = read_image(shared / "data" / "camvid_sample" / "image.png")
    x = model.prepare(frame)[None]
    export_onnx(tmp_path / "model.onnx", model, size=x.shape[2:])
    (scores,) = open_session(tmp_path / "model.onnx").run(None, {"x": x})
    with using_config("train", False), no_backprop_mode():
        ours = model.forward(x).array
    assert (scores.argmax(1) == ours.argmax(1)).mean() > 0.9999
