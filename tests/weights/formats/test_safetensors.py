import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cvzoo.errors.exceptions import DtypeError, FileFormatError
from cvzoo.weights.formats.safetensors import read_safetensors, read_safetensors_metadata, write_safetensors


def build(header, body=b""):
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(raw).to_bytes(8, "little") + raw + body


def entry(dtype="F32", shape=(2,), place=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(place)}


@settings(max_examples=25, deadline=None)
@given(
    arrays=st.dictionaries(
        st.text(max_size=8).filter(lambda name: name != "__metadata__"),
        hnp.arrays(
            st.sampled_from(["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u1", "?", ">f4"]).map(np.dtype),
            hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
        ),
        max_size=4,
    )
)
def test_what_is_written_comes_back(tmp_path_factory, arrays):
    path = tmp_path_factory.mktemp("s") / "a.safetensors"
    write_safetensors(path, arrays)
    got = read_safetensors(path)
    assert set(got) == set(arrays)
    for name, array in arrays.items():
        assert got[name].dtype == array.dtype.newbyteorder("=")
        assert got[name].shape == array.shape
        assert got[name].tobytes() == array.astype(array.dtype.newbyteorder("=")).tobytes()
        assert got[name].flags.writeable


def test_metadata_and_alignment(tmp_path):
    path = tmp_path / "a"
    write_safetensors(path, {"x": np.zeros(1, "f4")}, metadata={"licence": "MIT", "von": "süß"})
    assert read_safetensors_metadata(path) == {"licence": "MIT", "von": "süß"}
    assert int.from_bytes(path.read_bytes()[:8], "little") % 8 == 0
    assert list(read_safetensors(path)) == ["x"]
    write_safetensors(path, {"x": np.zeros(1, "f4")})
    assert read_safetensors_metadata(path) == {}


def test_the_bytes_are_those_of_the_format(write):
    header = {"b": entry(place=(4, 12)), "a": entry("U8", (4,), (0, 4)), "__metadata__": {"k": "v"}}
    got = read_safetensors(write(build(header, bytes([1, 2, 3, 4]) + np.array([5, 6], "<f4").tobytes())))
    np.testing.assert_array_equal(got["a"], [1, 2, 3, 4])
    np.testing.assert_array_equal(got["b"], [5, 6])
    assert list(got) == ["a", "b"]  # as they lie


def test_bfloat16_is_widened(write):
    got = read_safetensors(write(build({"x": entry("BF16", (2,), (0, 4))}, bytes([0x80, 0x3F, 0x00, 0xC0]))))["x"]
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, [1.0, -2.0])


def test_bools_are_bools_whatever_the_byte(write):
    got = read_safetensors(write(build({"x": entry("BOOL", (3,), (0, 3))}, b"\x00\x01\xff")))["x"]
    np.testing.assert_array_equal(got, [False, True, True])
    assert got.view("u1").max() == 1


@pytest.mark.parametrize(
    ("header", "body", "words"),
    [
        ({"x": entry(place=(0, 12))}, 12, "expected: 8 bytes"),  # place and shape disagree
        ({"x": entry(place=(0, 8))}, 4, "past the end"),
        ({"x": entry(place=(8, 0))}, 8, "past the end"),
        ({"x": entry(place=(4, 12))}, 12, "gap or an overlap"),
        ({"x": entry(), "y": entry(place=(4, 12))}, 12, "gap or an overlap"),
        ({"x": entry(), "y": entry()}, 8, "gap or an overlap"),
        ({"x": entry()}, 9, "belong to no array"),
        ({"x": entry("F8_E4M3", (8,))}, 8, "F8_E4M3"),
        ({"x": entry(shape=(-2,))}, 8, "damaged"),
        ({"x": entry(shape=(True, 2))}, 8, "damaged"),
        ({"x": entry(shape=(2.0,))}, 8, "damaged"),
        ({"x": entry(shape=(1 << 40, 1 << 40))}, 8, "impossible shape"),
        ({"x": entry(shape=(0, 2**48 - 1, 2**48 - 1), place=(0, 0))}, 0, "impossible shape"),
        ({"x": entry(place=(0, 8, 9))}, 8, "damaged"),
        ({"x": [1]}, 8, "damaged"),
        ({"x": {**entry(), "more": 1}}, 8, "damaged"),
        ([1, 2], 0, "not an object"),
        (b'{"x":', 0, "damaged"),
        (b'{"x":1,"x":2}', 0, "occurs twice"),
        (b"\xff\xfe", 0, "damaged"),
        (b"[" * 100_000, 0, "damaged"),
    ],
)
def test_a_header_that_lies_is_refused(write, header, body, words):
    with pytest.raises(FileFormatError, match=words):
        read_safetensors(write(build(header, bytes(body))))


def test_a_header_larger_than_the_file_is_not_allocated(write):
    for n in (1 << 62, 1 << 40, 100):
        with pytest.raises(FileFormatError, match="cut off"):
            read_safetensors(write(n.to_bytes(8, "little") + b"{}"))


def test_metadata_must_be_texts(write):
    with pytest.raises(FileFormatError, match="metadata"):
        read_safetensors_metadata(write(build({"__metadata__": {"a": 1}})))


@pytest.mark.parametrize("array", [np.zeros(2, "c8"), np.array(["a"]), np.zeros(2, "u4")])
def test_dtypes_that_the_format_lacks_are_named(tmp_path, array):
    with pytest.raises(DtypeError, match="layer: cannot be stored"):
        write_safetensors(tmp_path / "a", {"layer": array})
    assert list(tmp_path.iterdir()) == []
