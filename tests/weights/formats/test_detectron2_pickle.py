"""Pickled dicts of arrays, made by NumPy here, and by hand as Python 2 made them."""

import collections
import os
import pickle
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.errors.exceptions import FileError, FileFormatError, UnsafeFileError, WeightsError
from cvzoo.weights.formats.detectron2_pickle import read_detectron2
from cvzoo.weights.sniff import read_arrays, sniff

X = np.arange(6, dtype="f4").reshape(2, 3) - 2.5
ARRAYS = {
    "backbone.bottom_up.res2.0.conv1.weight": X,
    "fortran": np.asfortranarray(X),
    "big": X.astype(">f4"),
    "halves": X.astype("f2"),
    "flags": np.array([True, False]),
    "count": np.array(7),
    "empty": np.zeros((0, 4), "f4"),
    "bytes": np.arange(256).astype("u1"),
}


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_arrays_come_out_as_they_went_in(write, protocol):
    state = {
        "model": collections.OrderedDict(ARRAYS),
        "__author__": "Detectron2 Model Zoo",
        "matching_heuristics": True,
    }
    got = read_detectron2(write(pickle.dumps(state, protocol)))
    assert list(got) == list(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(got[name], array)
        assert got[name].dtype == array.dtype.newbyteorder("=")
        assert got[name].flags.c_contiguous
        assert got[name].flags.writeable


@pytest.mark.parametrize("old", [b"numpy._core.multiarray", b"numpy.core.multiarray"])
def test_both_names_of_numpys_core_are_known(write, old):
    data = pickle.dumps({"x": X}, 2)
    new = b"numpy._core.multiarray" if b"numpy._core.multiarray" in data else b"numpy.core.multiarray"
    np.testing.assert_array_equal(read_detectron2(write(data.replace(new, old)))["x"], X)


def python_2_pickle(arrays):
    """As Python 2 pickles {"blobs": arrays}, whose strings of bytes are plain `str`; protocol 2."""

    def text(value):
        value = value.encode("latin-1") if isinstance(value, str) else value
        return b"U" + bytes([len(value)]) + value if len(value) < 256 else b"T" + struct.pack("<i", len(value)) + value

    out = b"\x80\x02}" + text("blobs") + b"}("
    for name, array in arrays.items():
        out += text(name) + b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + text("b") + b"\x87R"
        out += b"(K\x01" + b"(" + b"".join(b"M" + struct.pack("<H", n) for n in array.shape) + b"t"
        out += b"cnumpy\ndtype\n" + text(array.dtype.str[1:]) + b"K\x00K\x01\x87R"
        out += b"(K\x03" + text("<") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        out += b"\x89" + text(array.tobytes()) + b"tb"
    return out + b"us."


def test_what_python_2_wrote_is_read_letter_by_letter(write):
    arrays = {"conv1_w": X, "bytes": np.arange(256).astype("i4")}
    path = write(python_2_pickle(arrays), "R-50.pkl")
    assert sniff(path) == "detectron2"
    got = read_arrays(path)
    assert list(got) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(got[name], array)


def test_a_dict_under_another_name_is_found_when_named(write):
    path = write(pickle.dumps({"model": {"a": X}, "teacher": {"b": X}}, 4))
    assert list(read_detectron2(path)) == ["a"]
    assert list(read_detectron2(path, key="teacher")) == ["b"]
    with pytest.raises(FileError, match="no dict under 'ema'"):
        read_detectron2(path, key="ema")


def test_what_is_no_array_is_left_out(write):
    path = write(pickle.dumps({"a": X, "epoch": 3, "note": "x", "scalar": np.float64(2.5)}, 4))
    got = read_detectron2(path)
    assert list(got) == ["a", "scalar"]
    assert got["scalar"] == 2.5


class Evil:
    def __init__(self, function, *args):
        self.args = function, args

    def __reduce__(self):
        return self.args


@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize(
    "evil",
    [Evil(os.system, "true"), Evil(eval, "1"), Evil(pickle.loads, b"."), Evil(np.load, "x"), Evil(bytearray, 5)],
)
def test_a_file_that_asks_to_run_something_is_refused(write, evil, protocol):
    with pytest.raises(UnsafeFileError, match="refers to"):
        read_detectron2(write(pickle.dumps({"model": {"a": X, "b": evil}}, protocol)))


@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize("array", [np.array([None, 1]), np.array(["a"]), np.array([(1, 2)], "i4,i4")])
def test_arrays_of_anything_but_numbers_are_refused(write, array, protocol):
    with pytest.raises(WeightsError):
        read_detectron2(write(pickle.dumps({"a": array}, protocol)))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no pickle"),
        (b"x", "no pickle"),
        (pickle.dumps([X], 2), "not a dict"),
        (pickle.dumps({"a": 1}, 2), "no arrays"),
        (pickle.dumps({"a": X}, 2) + b"x", "1 bytes too many"),
        (pickle.dumps({1: X}, 2), "name is not a short text"),
        (b"\x80\x02}U\x01acnumpy.core.multiarray\n_reconstruct\n)Rs.", "never filled"),
        (b"\x80\x02}U\x01acnumpy\nndarray\n)Rs.", "no function"),
        (pickle.dumps({"a": X}, 2).replace(b"K\x02K\x03\x86", b"K\x02K\x04\x86"), "expected: 32 bytes"),
    ],
)
def test_files_that_are_something_else_are_refused(write, data, words):
    with pytest.raises(WeightsError, match=words):
        read_detectron2(write(data))


def test_names_that_share_bytes_do_not_fill_the_memory(write, monkeypatch):
    monkeypatch.setattr("cvzoo.weights.formats.detectron2_pickle._BUDGET_OVER", 0)
    array = np.zeros(1000, "f4")
    assert len(read_detectron2(write(pickle.dumps({str(i): array for i in range(3)}, 4)))) == 3
    with pytest.raises(FileFormatError, match="can hold"):
        read_detectron2(write(pickle.dumps({str(i): array for i in range(100)}, 4)))


GOOD = pickle.dumps({"model": ARRAYS, "__author__": "x"}, 2)


def test_every_truncation_is_refused(write):
    for n in range(0, len(GOOD), 7):
        with pytest.raises(WeightsError):
            read_detectron2(write(GOOD[:n]))


@settings(max_examples=200)
@given(place=st.integers(0, len(GOOD) - 1), value=st.integers(0, 255))
def test_damage_gives_a_weights_error_or_a_result(tmp_path_factory, place, value):
    path = tmp_path_factory.getbasetemp() / "damaged.pkl"
    path.write_bytes(GOOD[:place] + bytes([value]) + GOOD[place + 1 :])
    try:
        read_detectron2(path)
    except WeightsError:
        pass
