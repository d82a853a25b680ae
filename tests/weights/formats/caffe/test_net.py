import numpy as np
import pytest

from cvzoo.errors.exceptions import FileFormatError, WeightsError, WeightsMismatchError
from cvzoo.weights.formats.caffe.net import CaffeLayer, read_caffe
from cvzoo.weights.formats.darknet import DarknetWeightsFile, read_darknet_cfg

W, B = np.arange(24, dtype="f4").reshape(2, 3, 2, 2), np.ones(2, "f4")
TEXT = """
name: "n"
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param { num_output: 2 kernel_size: 2 } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "conv" top: "loss" include { phase: TRAIN } loss_weight: 1 }
"""


@pytest.fixture
def model(proto, write):
    def model(*layers):
        data = b""
        for name, kind, blobs in layers:
            body = proto.bytes(1, name) + proto.bytes(2, kind)
            data += proto.bytes(100, body + b"".join(proto.bytes(7, proto.blob(b)) for b in blobs))
        return write(data, "n.caffemodel")

    return model


def test_the_structure_comes_from_the_text_and_the_blobs_from_the_binary(model):
    net = read_caffe(model(("old head", "InnerProduct", [B]), ("conv", "Convolution", [W, B])), TEXT)
    assert [layer.name for layer in net.layers] == ["data", "conv", "loss"]
    assert net.name == "n"
    assert net.inputs == {"data": (1, 3, 8, 8)}
    assert net.unused == ("old head",)
    conv = net.layers[1]
    np.testing.assert_array_equal(conv.blobs[0], W)
    assert conv.params == {"convolution_param": {"num_output": 2, "kernel_size": [2]}}
    assert (conv.bottoms, conv.tops, conv.line) == (("data",), ("conv",), 4)
    assert str(conv) == "Convolution layer 'conv' at line 4"
    assert net.layers[2].loss_weights == (1.0,)


def test_each_file_is_enough_alone(model):
    assert [len(layer.blobs) for layer in read_caffe(prototxt=TEXT).layers] == [0, 0, 0]
    (layer,) = read_caffe(model(("conv", "Convolution", [W]))).layers
    assert (layer.name, layer.type, layer.blobs[0].shape) == ("conv", "Convolution", W.shape)
    with pytest.raises(WeightsError, match="read_caffe needs"):
        read_caffe()


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        ([("konv", "Convolution", [W])], "Convolution layer 'conv' at line 4 finds no blobs"),
        ([("conv", "InnerProduct", [W])], "'conv' at line 4 is a InnerProduct"),
        ([("conv", "Convolution", [W.reshape(3, 2, 2, 2)])], "num_output and its weights disagree"),
    ],
)
def test_files_that_disagree_are_an_error_that_names_the_layer(model, layers, words):
    with pytest.raises(WeightsMismatchError, match=words):
        read_caffe(model(*layers), TEXT)


def test_missing_blobs_are_allowed_when_not_strict(model):
    net = read_caffe(model(("other", "Convolution", [W])), TEXT, strict=False)
    assert net.layers[1].blobs == ()


def test_a_scale_of_two_bottoms_needs_no_blobs(model):
    text = "layer { name: 's' type: 'Scale' bottom: 'a' bottom: 'b' top: 'c' }\n"
    assert read_caffe(model(("x", "Convolution", [W])), text).layers[0].blobs == ()
    with pytest.raises(WeightsMismatchError, match="Scale layer 's'"):
        read_caffe(model(("x", "Convolution", [W])), text.replace("bottom: 'b'", ""))


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("input: 'a' input_dim: 1 input_dim: 2 input_dim: 3 input_dim: 4\n", {"a": (1, 2, 3, 4)}),
        ("input: 'a' input: 'b' input_shape { dim: 1 dim: 2 } input_shape { dim: 3 }\n", {"a": (1, 2), "b": (3,)}),
        ("input: 'a'\n", {"a": None}),
        ("layer { type: 'Input' top: 'a' top: 'b' input_param { shape { dim: 7 } } }\n", {"a": (7,), "b": (7,)}),
        ("layer { type: 'Input' top: 'a' }\n", {"a": None}),
    ],
)
def test_inputs_are_found_however_they_are_written(text, inputs):
    assert read_caffe(prototxt=text + "layer { name: 'x' type: 'ReLU' }").inputs == inputs


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: 'x'\n", "no layers"),
        ("layer { name: 'x' }\n", "no type"),
        ("layer { type: 'ReLU' } layers { type: RELU }\n", "both"),
        ("layers { layer { name: 'x' } }\n", "first format"),
        ("input: 'a' input_dim: 1 layer { type: 'ReLU' }\n", "four sizes"),
        ("input_shape { dim: 1 } layer { type: 'ReLU' }\n", "one for each input"),
        ("layer { type: 'Input' top: 'a' input_param { shape { } shape { } } }\n", "2 shapes for 1 tops"),
    ],
)
def test_a_network_that_makes_no_sense_is_an_error(text, words):
    with pytest.raises(FileFormatError, match=words):
        read_caffe(prototxt=text)


@pytest.mark.parametrize(
    ("include", "exclude", "phase", "train", "test"),
    [
        ((), (), None, True, True),
        (({"phase": "TRAIN"},), (), None, True, False),
        ((), ({"phase": "TRAIN"},), None, False, True),
        (({"stage": ["a"]},), (), None, False, True),
        (({"not_stage": ["a"]},), (), None, True, False),
        (({"min_level": 1},), (), None, False, False),
        (({"phase": "TRAIN"}, {"phase": "TEST"}), (), None, True, True),
        ((), (), "TEST", False, True),
    ],
)
def test_the_phase_rules_are_caffes(include, exclude, phase, train, test):
    layer = CaffeLayer("x", "ReLU", include=include, exclude=exclude, phase=phase)
    assert layer.runs_in("TRAIN") is train
    assert layer.runs_in("TEST", stages=["a"]) is test


def test_a_real_caffemodel_holds_the_floats_of_the_same_net_in_darknets_format(shared):
    folder = shared / "weights" / "mobilenetv2_yolov3_nano_voc"
    stem = folder / "MobileNetV2-YOLOv3-Nano-voc"
    net = read_caffe(f"{stem}.caffemodel", f"{stem}.prototxt")
    assert net.unused == ()
    blobs = {}
    for layer in net.layers:
        if layer.blobs:
            blobs.setdefault(int(layer.name.removeprefix("layer").split("-")[0]), []).append((layer.type, layer.blobs))
    taken = 0
    with DarknetWeightsFile(f"{stem}.weights") as file:
        convs = [s for s in read_darknet_cfg(f"{stem}.cfg") if s.name == "convolutional"]
        for section, (_, layers) in zip(convs, sorted(blobs.items())):
            kinds = dict(layers)
            conv = kinds["Convolution"]
            bias = file.take(section.get_int("filters"), str(section))
            if section.get_bool("batch_normalize", False):
                gamma, mean, var = file.take((3, bias.size), str(section))
                np.testing.assert_array_equal(kinds["Scale"][0], gamma)
                np.testing.assert_array_equal(kinds["Scale"][1], bias)
                factor = 1 / kinds["BatchNorm"][2].item()
                np.testing.assert_array_equal(kinds["BatchNorm"][0] * factor, mean)
                np.testing.assert_array_equal(kinds["BatchNorm"][1] * factor, var)
            else:
                np.testing.assert_array_equal(conv[1].reshape(-1), bias)
            np.testing.assert_array_equal(conv[0], file.take(conv[0].shape, str(section)))
            taken += 1
        file.expect_end()
    assert taken == len(convs)


@pytest.mark.parametrize(
    "stem", ["mobilenetv2_yolov3_nano_voc/MobileNetV2-YOLOv3-Nano-voc", "ultralight_face_rfb320/RFB-320"]
)
def test_real_binary_and_text_files_give_the_same_parameters(shared, stem):
    path = shared / "weights" / stem
    binary = {layer.name: layer for layer in read_caffe(f"{path}.caffemodel").layers}
    for layer in read_caffe(f"{path}.caffemodel", f"{path}.prototxt").layers:
        assert binary[layer.name].params == layer.params
        assert binary[layer.name].type == layer.type


def test_a_real_prototxt_without_a_caffemodel_is_read(shared):
    net = read_caffe(prototxt=shared / "weights" / "squeezenet_v1.0_imagenet" / "SqueezeNet_deploy.prototxt")
    assert net.inputs == {"data": (1, 3, 227, 227)}
    assert len(net.layers) == 65
