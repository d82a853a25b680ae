"""What a file says about its model."""

import json
import pathlib

import numpy as np
import pytest
from neighbour import module_at

from cvzoo.errors.exceptions import DtypeError, ValueRangeError
from cvzoo.export.onnx.boxes.add_boxes import rules_of
from cvzoo.export.onnx.metadata import OWN_NAMES, cvzoo_version
from cvzoo.export.onnx.write import export_onnx
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.weights.record import Weights

_ZOO = pathlib.Path(__file__).parents[2] / "links" / "model"
RECORD = Weights(
    name="tiny",
    url="https://example.org/tiny.pth",
    sha256=None,
    licence="MIT",
    data="drawings",
    data_licence="not stated",
    source="somebody",
    score={"top1": 0.5},
)


@pytest.fixture
def metadata_of(open_session, tmp_path):
    """From a model and how it is exported, the texts in the file."""

    def read(model, **how):
        export_onnx(tmp_path / "model.onnx", model, **how)
        meta = open_session(tmp_path / "model.onnx").get_modelmeta()
        assert (meta.producer_name, meta.graph_name) == ("cvzoo", meta.custom_metadata_map["architecture"])
        return meta.custom_metadata_map

    return read


def test_a_file_says_what_it_is(metadata_of):
    metadata = metadata_of(CIFARResNet(8, 3, label_names=("ape", "bee", "cät")))
    assert json.loads(metadata["label_names"]) == ["ape", "bee", "cät"]
    assert json.loads(metadata["preprocessing"])["stretched_to"] == 32
    assert json.loads(metadata["prepare"])["size"] == [32, 32]
    assert (metadata["task"], metadata["architecture"]) == ("classification", "CIFARResNet")
    assert (metadata["opset"], metadata["cvzoo_version"]) == ("17", cvzoo_version())
    assert "weights" not in metadata


def test_a_file_says_who_made_its_weights_and_who_may_use_them(metadata_of):
    metadata = metadata_of(CIFARResNet(8, 3), weights=RECORD, metadata={"run": {"epochs": 3}, "by": "me"})
    said = json.loads(metadata["weights"])
    assert (said["licence"], said["source"], said["url"]) == (RECORD.licence, RECORD.source, RECORD.url)
    assert said["score"] == {"top1": 0.5}
    assert "sha256" not in said
    assert (json.loads(metadata["run"]), metadata["by"]) == ({"epochs": 3}, "me")


@pytest.mark.parametrize(
    "name", ["task", "size_step", "boxes", "masks", "weights", "point_names", "opset", "prepare", "label_names"]
)
def test_metadata_take_no_name_of_ours(name, tmp_path):
    with pytest.raises(ValueRangeError, match=name):
        export_onnx(tmp_path / "model.onnx", CIFARResNet(8, 3), metadata={name: "cooking"})


def test_all_names_that_files_have_are_known(metadata_of):
    model = module_at(_ZOO / "test_instance_networks.py")._made("MaskRCNNFPN")
    keys = module_at(_ZOO / "test_instance_networks.py")._made("KeypointRCNNFPN")
    metadata = {**metadata_of(model, boxes=True, weights=RECORD), **metadata_of(keys, boxes=True)}
    assert metadata.keys() <= OWN_NAMES


@pytest.mark.parametrize(
    "metadata",
    [{"a": object()}, {"a": float("nan")}, {1: "x"}, {"a": np.float32(1)}],
    ids=["object", "nan", "number as name", "numpy"],
)
def test_metadata_that_are_no_json_are_named(metadata, tmp_path):
    with pytest.raises(DtypeError, match="metadata"):
        export_onnx(tmp_path / "model.onnx", CIFARResNet(8, 3), metadata=metadata)
    assert not (tmp_path / "model.onnx").exists()


@pytest.mark.parametrize(
    ("module", "name", "more"),
    [
        ("test_detector_conformance.py", "SSD", {"scale": "own"}),
        ("test_detector_conformance.py", "LightHeadRCNN", {"scale": "width"}),
        ("test_instance_networks.py", "MaskRCNNFPN, pasted exactly", {"paste": "exact", "thresh": 0.5}),
        ("test_instance_networks.py", "FCIS", {"paste": "resized", "thresh": 0.4}),
        ("test_instance_networks.py", "KeypointRCNNFPN", {"scale": "own"}),
    ],
)
def test_a_file_with_boxes_says_its_rules(module, name, more, metadata_of):
    model = module_at(_ZOO / module)._made(name)
    metadata = metadata_of(model, boxes=True)
    said = json.loads(metadata["boxes"])
    assert said.items() >= rules_of(model)._asdict().items()
    assert (said | json.loads(metadata.get("masks", "{}"))).items() >= more.items()
    assert ("point_names" in metadata) == (name == "KeypointRCNNFPN")
