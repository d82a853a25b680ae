import numpy as np
import pytest

from cvzoo.errors.exceptions import FileFormatError, WeightsError
from cvzoo.weights.formats.caffe import wire
from cvzoo.weights.formats.caffe.caffemodel import read_caffemodel

W = np.arange(24, dtype="f4").reshape(2, 3, 2, 2)


@pytest.fixture
def layer(proto):
    def layer(name, kind, body=b"", blobs=(), how="packed"):
        data = proto.bytes(1, name) + proto.bytes(2, kind) + body
        return proto.bytes(100, data + b"".join(proto.bytes(7, proto.blob(b, how)) for b in blobs))

    return layer


@pytest.mark.parametrize("how", ["packed", "unpacked", "double", "unpacked double", "legacy"])
def test_blobs_of_every_spelling_are_read(proto, layer, write, how):
    net = read_caffemodel(write(layer("conv", "Convolution", blobs=[W, np.ones(2)], how=how)))
    a, b = net["layer"][0]["blobs"]
    assert a.dtype == b.dtype == np.float32
    np.testing.assert_array_equal(a, W)
    assert b.shape == ((1, 1, 1, 2) if how == "legacy" else (2,))
    a[...] = 0  # its own memory


def test_a_long_unpacked_blob_is_read(proto, layer, write):
    x = np.arange(10_000, dtype="f4")
    net = read_caffemodel(write(layer("fc", "InnerProduct", blobs=[x], how="unpacked")))
    np.testing.assert_array_equal(net["layer"][0]["blobs"][0], x)


def test_parameters_are_plain_values(proto, layer, write):
    conv = proto.number(1, 20) + proto.number(2, 0) + proto.number(4, 3) + proto.bytes(3, bytes([1, 2]))
    conv += proto.number(16, -1) + proto.number(15, 2) + proto.bytes(7, proto.bytes(1, "xavier") + proto.float(2, 0.5))
    rules = proto.bytes(8, proto.number(1, 1) + proto.bytes(4, "deploy"))
    body = proto.bytes(3, "in") + proto.bytes(4, "out") + proto.bytes(106, conv) + rules + proto.number(10, 0)
    data = proto.bytes(1, "net") + proto.bytes(999, b"unknown") + layer("c", "Convolution", body)
    net = read_caffemodel(write(data))
    assert net == {
        "name": "net",
        "layer": [
            {
                "name": "c",
                "type": "Convolution",
                "bottom": ["in"],
                "top": ["out"],
                "phase": "TRAIN",
                "include": [{"phase": "TEST", "stage": ["deploy"]}],
                "convolution_param": {
                    "num_output": 20,
                    "bias_term": False,
                    "kernel_size": [3],
                    "pad": [1, 2],
                    "axis": -1,
                    "engine": "CUDNN",
                    "weight_filler": {"type": "xavier", "value": 0.5},
                },
            }
        ],
    }


def test_old_layers_are_read(proto, write):
    data = proto.bytes(4, "conv1") + proto.number(5, 4) + proto.bytes(10, proto.number(1, 2))
    data += proto.bytes(6, proto.blob(W, "legacy")) + proto.float(7, 1.0)
    (layer,) = read_caffemodel(write(proto.bytes(2, data)))["layers"]
    assert layer["type"] == "Convolution"
    assert layer["convolution_param"] == {"num_output": 2}
    np.testing.assert_array_equal(layer["blobs"][0], W)


def test_the_parameter_of_upsample_is_found_under_any_number(proto, layer, write):
    for number in (149, 150, 207):
        body = proto.bytes(number, proto.number(1, 2))
        (got,) = read_caffemodel(write(layer("up", "Upsample", body)))["layer"]
        assert got["upsample_param"] == {"scale": 2}


@pytest.mark.parametrize("how", ["packed", "unpacked", "legacy"])
def test_a_blob_whose_shape_and_data_disagree_names_its_layer(proto, layer, write, how):
    good = layer("conv7", "Convolution", blobs=[W], how=how)
    bad = good.replace(proto.varint(3), proto.varint(5), 1) if how == "legacy" else good
    shape = proto.bytes(7, proto.bytes(1, bytes([2, 3, 2, 2])))
    bad = bad.replace(shape, proto.bytes(7, proto.bytes(1, bytes([9, 9, 9, 9]))))
    assert bad != good
    with pytest.raises(FileFormatError, match="conv7"):
        read_caffemodel(write(bad))


def test_absurd_shapes_do_not_allocate(proto, layer, write):
    for sizes, data in (((1 << 60,) * 4, bytes(8)), ((0, (1 << 63) - 1), b""), ((0, (1 << 64) - 1), b"")):
        dims = b"".join(map(proto.varint, sizes))
        blob = proto.bytes(7, proto.bytes(1, dims)) + proto.bytes(5, data)
        with pytest.raises(FileFormatError, match="conv7"):
            read_caffemodel(write(layer("conv7", "Convolution", proto.bytes(7, blob))))


def test_a_blob_of_broken_numbers_names_its_layer(proto, layer, write):
    with pytest.raises(FileFormatError, match="conv7"):
        read_caffemodel(write(layer("conv7", "Convolution", proto.bytes(7, proto.bytes(5, bytes(7))))))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello world",
        b"\x0a\x05abc",  # reaches past the end
        b"\x0b",  # a group
        b"\x00\x01",  # field 0
        b"\x0a" + b"\xff" * 10,  # a length of more than 10 bytes
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"\x0a\x01a",  # a name, but no layers
        b"\xa2\x06\x02\x08\x01",  # a layer whose name is a number
    ],
)
def test_what_is_no_network_is_refused(write, data):
    with pytest.raises(FileFormatError):
        read_caffemodel(write(data))


def test_the_number_of_fields_is_bounded(proto, write, monkeypatch):
    monkeypatch.setattr(wire, "MAX_FIELDS", 1000)
    tags = b"".join(proto.float(5, 0) + b"\x08\x01" for _ in range(600))  # numbers with their own tags, by turns
    packed = proto.bytes(100, proto.bytes(11, b"\x01" * 2000)), proto.bytes(100, proto.bytes(5, bytes(8000)))
    for data in (proto.bytes(100, b"\x50\x00" * 2000), proto.bytes(100, proto.bytes(7, tags)), *packed):
        with pytest.raises(FileFormatError, match="fields"):
            read_caffemodel(write(data))


def test_an_absent_file_is_an_error(tmp_path):
    with pytest.raises(WeightsError, match="no such file"):
        read_caffemodel(tmp_path / "none.caffemodel")
