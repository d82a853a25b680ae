"""MXNet's `.params`, written here byte by byte from their layout."""

import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.errors.exceptions import FileError, FileFormatError, UnsupportedError, WeightsError, WeightsMismatchError
from cvzoo.weights.formats.mxnet_params import read_mxnet_params
from cvzoo.weights.sniff import read_arrays, sniff

CODES = {"f4": 0, "f8": 1, "f2": 2, "u1": 3, "i4": 4, "i1": 5, "i8": 6, "b1": 7, "i2": 8}
V1, V2, V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA


def array(x, version=V2, *, kind=0, code=None, rank=None):
    x = np.asarray(x)
    rank = x.ndim if rank is None else rank
    if version in (V2, V3):
        head = struct.pack("<Iii", version, kind, rank)
    else:
        head = struct.pack("<Ii", V1, rank) if version == V1 else struct.pack("<I", rank)
    sizes = struct.pack(f"<{x.ndim}{'q' if version else 'I'}", *x.shape)
    code = CODES[x.dtype.str[1:]] if code is None else code
    return head + sizes + struct.pack("<iii", 1, 0, code) + x.astype(x.dtype.newbyteorder("<")).tobytes()


def names_of(names):
    return struct.pack("<Q", len(names)) + b"".join(struct.pack("<Q", len(n)) + n for n in names)


def params(parts, names, *, magic=0x112):
    return struct.pack("<QQQ", magic, 0, len(parts)) + b"".join(parts) + names_of(names)


X = np.arange(6, dtype="f4").reshape(2, 3)


@pytest.mark.parametrize("version", [0, V1, V2, V3])
def test_every_version_of_arrays_is_read(write, version):
    y = np.array([1, -2, 3], "i8")
    path = write(params([array(X, version), array(y, version)], [b"conv0_weight", b"n"]), "x.params")
    got = read_mxnet_params(path)
    assert list(got) == ["conv0_weight", "n"]
    np.testing.assert_array_equal(got["conv0_weight"], X)
    np.testing.assert_array_equal(got["n"], y)
    assert got["n"].dtype == np.int64
    assert got["conv0_weight"].flags.writeable


@pytest.mark.parametrize("dtype", sorted(CODES))
def test_every_dtype_is_read(write, dtype):
    x = np.array([[0, 1], [1, 0]], dtype)
    got = read_mxnet_params(write(params([array(x)], [b"x"])))["x"]
    assert got.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(got, x)


def test_bfloat16_becomes_float32(write):
    x = np.array([1.5, -2.0], "f4")
    bits = (x.view("u4") >> 16).astype("u2")
    got = read_mxnet_params(write(params([array(bits, code=12)], [b"x"])))["x"]
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, x)


def test_the_prefixes_of_checkpoints_are_dropped_or_kept(write):
    path = write(params([array(X), array(X)], [b"arg:fc1_weight", b"aux:bn0_moving_mean"]))
    assert list(read_mxnet_params(path)) == ["fc1_weight", "bn0_moving_mean"]
    assert list(read_mxnet_params(path, drop_prefix=False)) == ["arg:fc1_weight", "aux:bn0_moving_mean"]


def test_names_that_differ_in_the_prefix_alone_are_not_mixed_up(write):
    path = write(params([array(X), array(X)], [b"arg:x", b"aux:x"]))
    with pytest.raises(WeightsMismatchError, match="two arrays are called 'x'"):
        read_mxnet_params(path)
    assert len(read_mxnet_params(path, drop_prefix=False)) == 2


def test_an_array_without_a_shape_is_left_out(write):
    nothing = struct.pack("<Iii", V2, 0, 0)
    unknown = struct.pack("<Iii", V3, 0, -1)
    scalar = array(np.float32(3), V3)
    got = read_mxnet_params(write(params([nothing, unknown, scalar], [b"a", b"b", b"c"])))
    assert list(got) == ["c"]
    assert got["c"].shape == ()
    assert got["c"] == 3


def test_gluons_zip_is_read_as_its_only_params(tmp_path):
    path = tmp_path / "resnet.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("resnet-0123abcd.params", params([array(X)], [b"features.0.weight"]))
    assert sniff(path) == "mxnet"
    np.testing.assert_array_equal(read_arrays(path)["features.0.weight"], X)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("second.params", b"")
    with pytest.raises(FileFormatError, match=r"one \.params"):
        read_mxnet_params(path)


def test_sniff_knows_a_params_file_by_its_bytes(write):
    path = write(params([array(X)], [b"arg:x"]), "x.bin")
    assert sniff(path) == "mxnet"
    np.testing.assert_array_equal(read_arrays(path)["x"], X)


HUGE = struct.pack("<Iii", V2, 0, 2) + struct.pack("<qq", 1 << 40, 1 << 40) + struct.pack("<iii", 1, 0, 0)


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (b"", FileFormatError, "ends inside of the header"),
        (params([], [], magic=0x113), FileFormatError, "no MXNet"),
        (struct.pack("<QQQ", 0x112, 0, 1 << 60), FileFormatError, "the header declares"),
        (params([], []) + b"x", FileFormatError, "1 bytes too many"),
        (params([array(X)], []), UnsupportedError, "has no name"),
        (params([array(X)], [b"a", b"b"]), FileFormatError, "1 array and 2 names"),
        (params([array(X)], [b"\xff"]), FileFormatError, "not UTF-8"),
        (params([array(X)], [b"a" * 5000]), FileFormatError, "too long"),
        (params([array(X, kind=1)], [b"a"]), UnsupportedError, "sparse"),
        (params([array(X, code=99)], [b"a"]), FileFormatError, "unknown dtype"),
        (params([array(X, rank=1000)], [b"a"]), FileFormatError, "rank 1000"),
        (params([array(X, V3, rank=-2)], [b"a"]), FileFormatError, "rank -2"),
        (params([HUGE], [b"a"]), FileFormatError, "impossible shape"),
        (struct.pack("<QQQ", 0x112, 0, 100_001) + bytes(400_008), FileFormatError, "at most 100000"),
        (struct.pack("<QQQ", 0x112, 0, 0) + struct.pack("<Q", 100_001) + bytes(800_008), FileFormatError, "names"),
        (struct.pack("<QQQ", 0x112, 0, 0) + struct.pack("<Q", 1 << 60), FileFormatError, "names"),
    ],
)
def test_hostile_files_are_refused(write, data, error, words):
    with pytest.raises(error, match=words):
        read_mxnet_params(write(data))


def test_sizes_are_not_believed_before_the_bytes_are_there(write):
    shape = struct.pack("<Iii", V2, 0, 1) + struct.pack("<q", 1 << 46) + struct.pack("<iii", 1, 0, 0)
    with pytest.raises(FileFormatError, match="ends inside of array 0 of shape"):
        read_mxnet_params(write(params([shape], [b"a"])))


def test_an_absent_file_is_an_error(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        read_mxnet_params(tmp_path / "none.params")


GOOD = params([array(X), array(X, V1), array(X, 0), array(np.float32(1), V3)], [b"arg:a", b"b", b"c", b"d"])


def test_every_truncation_is_refused(write):
    for n in range(len(GOOD)):
        with pytest.raises(FileFormatError):
            read_mxnet_params(write(GOOD[:n]))


@settings(max_examples=200)
@given(place=st.integers(0, len(GOOD) - 1), value=st.integers(0, 255))
def test_damage_gives_a_weights_error_or_a_result(tmp_path_factory, place, value):
    path = tmp_path_factory.getbasetemp() / "damaged.params"
    path.write_bytes(GOOD[:place] + bytes([value]) + GOOD[place + 1 :])
    try:
        read_mxnet_params(path)
    except (WeightsError, UnsupportedError):
        pass
