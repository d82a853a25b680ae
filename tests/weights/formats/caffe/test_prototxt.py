import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.weights.formats.caffe.prototxt import read_prototxt

TEXT = """\
name: "a \\"net\\" \\x41\\102" ' of two parts'  # a comment
input: "data"  input_dim: 1 input_dim: 3; input_dim: 0x10, input_dim: 020
layer {
  name: "conv" type: 'Convolution'
  bottom: "data"
  top: "conv"
  include < phase: TEST not_stage: "fast" >
  convolution_param: {
    num_output: 8 bias_term: false kernel_size: [3, 5] pad: 1
    weight_filler { type: "constant" value: -1.5e-1f }
    engine: CUDNN
  }
  strange_param { depth: 3 depth: 4 mode: FAST inner { on: true } limit: -inf }
}
layer { name: "sum" type: "Eltwise" eltwise_param { operation: 0 coeff: 1 coeff: -1 } }
"""


def test_the_text_format_is_read():
    net = read_prototxt(TEXT)
    assert net["name"] == 'a "net" AB of two parts'
    assert net["input"] == ["data"]
    assert net["input_dim"] == [1, 3, 16, 16]
    conv, total = net["layer"]
    assert conv == {
        "line": 3,
        "name": "conv",
        "type": "Convolution",
        "bottom": ["data"],
        "top": ["conv"],
        "include": [{"phase": "TEST", "not_stage": ["fast"]}],
        "convolution_param": {
            "num_output": 8,
            "bias_term": False,
            "kernel_size": [3, 5],
            "pad": [1],
            "weight_filler": {"type": "constant", "value": -0.15},
            "engine": "CUDNN",
        },
        "strange_param": {"depth": [3, 4], "mode": "FAST", "inner": {"on": True}, "limit": -math.inf},
    }
    assert total["eltwise_param"] == {"operation": "PROD", "coeff": [1.0, -1.0]}
    assert total["line"] == 15


def test_old_layers_have_their_types_mapped():
    (layer,) = read_prototxt("layers { name: 'x' type: SOFTMAX_LOSS blobs_lr: 1 }")["layers"]
    assert layer["type"] == "SoftmaxWithLoss"


def test_a_message_given_twice_is_one_message():
    (layer,) = read_prototxt("layer { relu_param { engine: CAFFE } relu_param { negative_slope: .1 } }")["layer"]
    assert layer["relu_param"] == {"engine": "CAFFE", "negative_slope": 0.1}


def test_values_that_come_again_are_gathered():
    values = read_prototxt("a: 1 b: [1, 2] c: [3] d: 'x' 'y\\'' \"z\\\\\" a: 2 b: 3 c: 4 a: [5, 6]\n" + "e: 1 " * 50)
    assert values == {"a": [1, 2, 5, 6], "b": [1, 2, 3], "c": [3, 4], "d": "xy'z\\", "e": [1] * 50}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("layer {\n name: 'x'\n", "line 3"),
        ("layer {\n name 'x' }", "line 2"),
        ("layer {\n name: x }", "line 2: name is a string, not x"),
        ("layer {\n\n convolution_param { num_output: 1.5 } }", "line 3: num_output is a uint32, not 1.5"),
        ("layer {\n convolution_param { num_output: -1 } }", "line 2: num_output"),
        ("layer {\n pooling_param { pool: MEDIAN } }", "line 2: pool is a PoolMethod, not MEDIAN"),
        ("layer {\n relu_param: 3 }", "line 2: relu_param is a ReLUParameter"),
        ("layer {\n name { } }", "line 2: name is not a message"),
        ("layer {\n pooling_param { kernel_size: [1, 2] } }", "line 2: kernel_size takes one value"),
        ("layer {\n relu_param { negative_slope: true2 } }", "line 2: negative_slope"),
        ("layer {\n dropout_param { dropout_ratio: 'x' } }", "line 2: dropout_ratio"),
        ('layer {\n name: "x\n" }', "line 2"),
        ("layer {\n @ }", "line 2: cannot read '@"),
        ("layer {\n [ext.name]: 3 }", "line 2"),
        ("layer {\n } }", "line 2"),
        ("layer {\n > ", "line 2"),
        ("layer: [\n{}, {}", "line 2"),
        ("name: \n", "name"),
        ("layer {\n" + "a {" * 40 + "\n}", "line 2: messages are nested"),
    ],
)
def test_an_error_names_the_line(text, words):
    with pytest.raises(FileFormatError, match=words):
        read_prototxt(text)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="layernm:{}<>[]'\"\\#\n 0x1.e-f,;", max_size=40))
def test_any_text_is_read_or_refused_with_our_error(text):
    try:
        assert isinstance(read_prototxt(text + "\n"), dict)
    except FileFormatError as error:
        assert "line" in str(error)  # noqa: PT017


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(TEXT)))
def test_a_text_cut_anywhere_is_read_or_refused(n):
    try:
        read_prototxt(TEXT[:n] + "\n")
    except FileFormatError as error:
        assert "line" in str(error)  # noqa: PT017


def test_a_path_is_read_and_named(write):
    assert read_prototxt(write(TEXT.encode(), "net.prototxt")) == read_prototxt(TEXT)
    with pytest.raises(FileFormatError, match=r"net\.prototxt, line 1"):
        read_prototxt(write(b"?", "net.prototxt"))
