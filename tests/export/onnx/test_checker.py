"""ONNX's own checker takes the files, with their inferred shapes; and tells ours where they are wrong."""

import pathlib

import pytest
from neighbour import module_at

from cvzoo.export.onnx.model_proto import Node, Port, model_message
from cvzoo.export.onnx.write import export_onnx

onnx = pytest.importorskip("onnx", reason="needs ONNX: pip install onnx")
_ZOO = pathlib.Path(__file__).parents[2] / "links" / "model"
CASES = [
    ("test_classifier_conformance.py", "ResNet", False),
    ("test_classifier_conformance.py", "SwinTransformer", False),
    ("test_segmenter_conformance.py", "SegNetBasic", False),
    ("test_detector_conformance.py", "RetinaNet", True),
    ("test_detector_conformance.py", "YOLOv3", True),
    ("test_detector_conformance.py", "FasterRCNNVGG16", True),
    ("test_detector_conformance.py", "LightHeadRCNN", True),
    ("test_instance_networks.py", "MaskRCNNFPN", True),
    ("test_instance_networks.py", "KeypointRCNNFPN", True),
    ("test_instance_networks.py", "FCIS", True),
]


@pytest.mark.parametrize(("module", "name", "boxes"), CASES, ids=[name for _, name, _ in CASES])
def test_the_checker_takes_the_file(module, name, boxes, tmp_path):
    export_onnx(tmp_path / "model.onnx", module_at(_ZOO / module)._made(name), boxes=boxes)
    onnx.checker.check_model(str(tmp_path / "model.onnx"), full_check=True)
    model = onnx.load(str(tmp_path / "model.onnx"))
    assert [each.version for each in model.opset_import] == [17]


def test_the_checker_sees_what_is_wrong(tmp_path):
    ports = [Port("x", "float32", (1,))], [Port("y", "float32", (1,))]
    message = model_message(
        "bad", [Node("Relu", ("nobody",), ("y",), {})], *ports, {}, producer_version="", metadata={}
    )
    with open(tmp_path / "model.onnx", "wb") as file:
        message.write_to(file)
    with pytest.raises(onnx.checker.ValidationError):
        onnx.checker.check_model(str(tmp_path / "model.onnx"))
