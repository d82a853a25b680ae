"""ONNX's messages, read back field by field."""

import io

import numpy as np
import pytest

from cvzoo.errors.exceptions import DtypeError
from cvzoo.export.onnx.model_proto import OPSET, Node, Port, element_type, model_message, tensor_message
from cvzoo.weights.formats.caffe.wire import VARINT, WireReader


def _read(data):
    """number -> values in order: numbers, or the bytes of anything else."""
    reader, found = WireReader(memoryview(data), "test"), {}
    for number, kind, value, begin, after in reader.fields(0, len(data)):
        found.setdefault(number, []).append(value if kind == VARINT else bytes(data[begin:after]))
    return found


def _written(message):
    file = io.BytesIO()
    message.write_to(file)
    return file.getvalue()


@pytest.fixture
def model():
    W = np.arange(6, dtype=np.float32).reshape(2, 3)
    nodes = [Node("Gemm", ("x", "W"), ("y",), {"transB": 1, "alpha": 0.5, "pads": (1, 2), "mode": "linear"})]
    inputs, outputs = [Port("x", "float32", ("batch", 3))], [Port("y", "float32", ("batch", 2))]
    message = model_message(
        "tiny", nodes, inputs, outputs, {"W": W}, producer_version="9", metadata={"label_names": '["ape"]'}
    )
    return _read(_written(message))


def test_it_says_who_made_it_and_which_opset_it_wants(model):
    assert model[1] == [8]
    assert (model[2], model[3]) == ([b"cvzoo"], [b"9"])
    assert _read(model[8][0]) == {1: [b""], 2: [OPSET]}
    assert _read(model[14][0]) == {1: [b"label_names"], 2: [b'["ape"]']}


def test_a_node_names_what_it_reads_and_makes(model):
    node = _read(_read(model[7][0])[1][0])
    assert node[1] == [b"x", b"W"]
    assert node[2] == [b"y"]
    assert node[4] == [b"Gemm"]
    attributes = {each[1][0]: each for each in map(_read, node[5])}
    assert attributes[b"transB"][3] == [1]
    assert attributes[b"alpha"][2] == [np.float32(0.5).tobytes()]
    assert attributes[b"pads"][8] == [1, 2]
    assert attributes[b"mode"][4] == [b"linear"]
    assert [attributes[name][20] for name in (b"transB", b"alpha", b"pads", b"mode")] == [[2], [1], [7], [3]]


def test_a_port_has_numbers_and_names_for_sizes(model):
    port = _read(_read(model[7][0])[11][0])
    tensor = _read(_read(port[2][0])[1][0])
    assert tensor[1] == [1]
    assert [_read(each) for each in _read(tensor[2][0])[1]] == [{2: [b"batch"]}, {1: [3]}]


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", ">f4"])
def test_a_tensor_keeps_its_numbers_however_it_lies(dtype):
    array = np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1).astype(dtype)
    tensor = _read(_written(tensor_message("W", array)))
    assert tensor[8] == [b"W"]
    assert tensor[2] == [element_type(array.dtype)]
    back = np.frombuffer(tensor[9][0], array.dtype.newbyteorder("<")).reshape(4, 2, 3)
    assert np.array_equal(back, array)


def test_a_number_alone_is_a_tensor_without_axes():
    tensor = _read(_written(tensor_message("a", np.array(2.5, np.float32))))
    assert tensor[1] == [b""]
    assert tensor[9] == [np.float32(2.5).tobytes()]


def test_other_dtypes_are_refused():
    with pytest.raises(DtypeError, match="complex"):
        tensor_message("W", np.zeros(2, np.complex64))
