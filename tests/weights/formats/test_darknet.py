import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.errors.exceptions import FileFormatError, ShapeError, WeightsError
from cvzoo.weights.formats.darknet import DarknetWeightsFile, read_darknet_cfg

CFG = """\
[net]
width = 320
# a comment
; another
learning_rate=.001

[convolutional]
filters=8
filters=9
size=3
activation=leaky
[YOLO]
mask = 0,1,2
anchors = 12, 18,  37,49,
ignore_thresh=.5 # in line
"""


def weights_bytes(floats, version=(0, 2, 0), seen=7):
    wide = version[0] * 10 + version[1] >= 2 and max(version[:2]) < 1000
    head = struct.pack("<3i", *version) + struct.pack("<Q" if wide else "<i", seen)
    return head + np.asarray(floats, "<f4").tobytes()


def test_sections_keep_their_order_names_options_and_lines():
    net, conv, yolo = read_darknet_cfg(CFG)
    assert [(s.name, s.line) for s in (net, conv, yolo)] == [("net", 1), ("convolutional", 7), ("yolo", 12)]
    assert net.get_int("width") == 320
    assert net.get_float("learning_rate") == 0.001
    assert conv.get_int("filters") == 8  # darknet finds the first of two
    assert conv.get_str("activation") == "leaky"
    assert conv.get_int("stride", 1) == 1
    assert not conv.get_bool("batch_normalize", False)
    assert yolo.get_ints("mask") == (0, 1, 2)
    assert yolo.get_floats("anchors") == (12, 18, 37, 49)
    assert yolo.get_float("ignore_thresh") == 0.5


def test_a_cfg_is_read_from_a_path_and_with_windows_line_ends(write):
    path = write(CFG.replace("\n", "\r\n").encode(), "net.cfg")
    assert read_darknet_cfg(path) == read_darknet_cfg(str(path)) == read_darknet_cfg(CFG)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\n\n", ["no sections"]),
        ("[net\nwidth=3\n", ["line 1", "not closed"]),
        ("\nwidth=3\n[net]\n", ["line 2", "precedes the first"]),
        ("[net]\nwidth\n", ["line 2", "neither"]),
        ("[convolutional]\nfilters=3\n", ["line 1", "[net]"]),
    ],
)
def test_a_wrong_cfg_is_an_error_that_names_the_line(text, words):
    with pytest.raises(FileFormatError) as caught:
        read_darknet_cfg(text)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    ("getter", "value"),
    [
        ("get_int", "abc"),
        ("get_int", "1.5"),
        ("get_int", "inf"),
        ("get_int", "9" * 5000),
        ("get_float", "nan"),
        ("get_ints", "1,x"),
        ("get_floats", "1,1e999"),
        ("get_bool", "yes"),
    ],
)
def test_a_getter_names_section_line_and_option(getter, value):
    section = read_darknet_cfg(f"[net]\nx=1\n[yolo]\na=1\nb={value}\n")[1]
    with pytest.raises(FileFormatError, match=r"line 5, \[yolo\]: b="):
        type(section).__dict__[getter](section, "b")
    with pytest.raises(FileFormatError, match=r"line 3, \[yolo\]: option 'c' is missing"):
        type(section).__dict__[getter](section, "c")


def test_an_error_names_the_file_and_the_line(write):
    with pytest.raises(FileFormatError, match=r"odd\.cfg line 2: neither"):
        read_darknet_cfg(write(b"[net]\nperson\n", "odd.cfg"))
    section = read_darknet_cfg(write(b"[net]\nwidth=x\n", "odd.cfg"))[0]
    with pytest.raises(FileFormatError, match=r"odd\.cfg line 2, \[net\]"):
        section.get_int("width", 1)


def test_a_binary_or_absent_or_huge_cfg_is_refused(write, tmp_path):
    with pytest.raises(FileFormatError, match="zero bytes"):
        read_darknet_cfg(write(b"[net]\n\0\0", "net.cfg"))
    with pytest.raises(WeightsError, match="no such file"):
        read_darknet_cfg(tmp_path / "none.cfg")
    with pytest.raises(WeightsError, match="a folder, not a file"):
        read_darknet_cfg(tmp_path)
    with pytest.raises(FileFormatError, match="too large"):
        read_darknet_cfg(write(b"#" * (4 << 20) + b"#", "net.cfg"))


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="[]=#;\n netabc019.,-", max_size=60))
def test_any_text_is_read_or_refused_with_our_error(text):
    try:
        read_darknet_cfg("[net]\n" + text)
    except FileFormatError as error:
        assert "line" in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("version", "header_size", "transposed"),
    [
        ((0, 1, 0), 16, False),
        ((0, 2, 0), 20, False),
        ((0, 2, 5), 20, False),
        ((1, 0, 0), 20, False),
        ((0, 1001, 0), 16, True),
        ((1001, 0, 0), 16, True),
    ],
)
def test_the_header_is_long_from_version_0_2_on(write, version, header_size, transposed):
    with DarknetWeightsFile(write(weights_bytes([1, 2, 3], version, seen=9))) as file:
        assert (file.major, file.minor, file.revision) == version
        assert file.header_size == header_size
        assert file.seen == 9
        assert file.transposed is transposed
        np.testing.assert_array_equal(file.take(3, "a"), [1, 2, 3])
        file.expect_end()


def test_floats_are_taken_in_order_as_arrays_of_their_own(write):
    with DarknetWeightsFile(write(weights_bytes(np.arange(10)))) as file:
        b = file.take(4, "conv 0 biases")
        W = file.take((1, 2, 3), "conv 0 weights")
        assert file.take((0, 3), "nothing").shape == (0, 3)
        assert file.left == 0
        file.expect_end()
    b[0] = 5  # writable
    assert W.dtype == np.float32
    np.testing.assert_array_equal(W, np.arange(4, 10).reshape(1, 2, 3))


def test_a_file_that_ends_early_names_the_layer(write):
    with DarknetWeightsFile(write(weights_bytes(np.arange(10)) + b"ab")) as file:
        file.take(8, "conv 0")
        with pytest.raises(FileFormatError, match="ends inside of conv 1") as caught:
            file.take((3, 10**12), "conv 1")
        assert "2 of the file's 10 left" in str(caught.value)
        with pytest.raises(FileFormatError, match="2 floats and 2 bytes of 10 are left over"):
            file.expect_end()
        with pytest.raises(ShapeError):
            file.take((-1, 2), "conv 1")


def test_every_truncated_header_is_refused(write):
    whole = weights_bytes([])
    for n in range(len(whole)):
        with pytest.raises(FileFormatError, match="header"):
            DarknetWeightsFile(write(whole[:n]))


def test_a_header_of_another_format_is_refused(write, tmp_path):
    with pytest.raises(FileFormatError, match="not darknet's"):
        DarknetWeightsFile(write(b"PK\x03\x04" + b"\xff" * 40))
    with pytest.raises(WeightsError, match="a folder, not a file"):
        DarknetWeightsFile(tmp_path)


@pytest.mark.parametrize("folder", ["yolo_fastest_coco", "mobilenetv2_yolov3_nano_voc"])
def test_real_files_are_consumed_exactly(shared, folder):
    (cfg_path,) = (shared / "weights" / folder).glob("*.cfg")
    (path,) = (shared / "weights" / folder).glob("*.weights")
    sections = read_darknet_cfg(cfg_path)
    channels, c = [], sections[0].get_int("channels")
    with DarknetWeightsFile(path) as file:
        for i, section in enumerate(sections[1:]):
            if section.name == "convolutional":
                n, k = section.get_int("filters"), section.get_int("size", 1)
                name = f"layer {i}"
                file.take(n, name)
                if section.get_bool("batch_normalize", False):
                    file.take((3, n), name)
                file.take((n, c // section.get_int("groups", 1), k, k), name)
                c = n
            elif section.name == "route":
                c = sum(channels[j if j >= 0 else i + j] for j in section.get_ints("layers"))
            channels.append(c)
        file.expect_end()


def test_the_number_of_sections_is_bounded():
    assert len(read_darknet_cfg("[net]\n" + "[a]\n" * 9_999)) == 10_000
    with pytest.raises(FileFormatError, match="line 10001: more than 10000 sections"):
        read_darknet_cfg("[net]\n" + "[a]\n" * 10_000)
