import io
import pickle
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cvzoo.errors.exceptions import DtypeError, FileFormatError, UnsafeFileError
from cvzoo.files import zip_archive
from cvzoo.weights.formats.npz import parse_npy, read_npz, write_npz

DTYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u1", "?", "c8", "U3", "S2"]


def npy(array, **keywords):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **keywords)
    return file.getvalue()


def archive(**entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in entries.items():
            z.writestr(f"{name}.npy", data)
    return file.getvalue()


@settings(max_examples=60, deadline=None)
@given(hnp.arrays(st.sampled_from(DTYPES).map(np.dtype), hnp.array_shapes(min_dims=0, max_dims=4, min_side=0)))
def test_every_array_survives_numpys_own_writer(array):
    for variant in (array, array.copy(order="F")):
        got = parse_npy(npy(variant), "x")
        assert got.dtype == array.dtype
        assert got.shape == array.shape
        assert got.tobytes() == array.tobytes()


@pytest.mark.parametrize("compress", [False, True])
def test_what_is_written_comes_back_and_numpy_reads_it_too(tmp_path, compress):
    path = tmp_path / "a.npz"
    arrays = {"conv/W": np.arange(6.0).reshape(2, 3).T, "n": np.array(3), "e": np.zeros((0, 2), "f4")}
    write_npz(path, arrays, compress=compress)
    with np.load(path) as theirs:
        for ours in (read_npz(path), dict(theirs)):
            assert list(ours) == list(arrays)
            for name, array in arrays.items():
                np.testing.assert_array_equal(ours[name], array)
                assert ours[name].shape == array.shape
    read_npz(path)["n"][...] = 4  # writable


def test_equal_arrays_give_equal_bytes(tmp_path):
    for name in ("a", "b"):
        write_npz(tmp_path / name, {"x": np.arange(4)})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.npz"
    write_npz(path, {"x": np.arange(4)})
    with pytest.raises(DtypeError):
        write_npz(path, {"x": np.arange(4), "y": np.array([object()])})
    assert list(read_npz(path)) == ["x"]
    assert [p.name for p in tmp_path.iterdir()] == ["a.npz"]


def test_big_endian_arrays_are_turned_round(write):
    got = read_npz(write(archive(x=npy(np.arange(3, dtype=">i4")))))["x"]
    assert got.dtype.isnative
    np.testing.assert_array_equal(got, [0, 1, 2])


def test_pickled_objects_are_refused(write):
    data = npy(np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert pickle.loads(data[data.index(b"\n") + 1 :]) is not None  # so it really holds a pickle
    with pytest.raises(UnsafeFileError, match="'x' holds pickled objects"):
        read_npz(write(archive(x=data)))


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9999999999999999999999), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }",
        "{'descr': '|S0', 'fortran_order': False, 'shape': (1000000000,), }",
        "{'descr': '|S0', 'fortran_order': False, 'shape': (1000000000000,), }",
        "{'descr': '<U0', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 1099511627776, 1099511627776, 0), }",
        "{'descr': '<f3', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<U999999999', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': __import__('os'), 'fortran_order': False, 'shape': (2,), }",
        "(" * 9000,
        "",
    ],
)
def test_a_header_that_lies_is_refused_without_believing_it(header):
    raw = header.encode()
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(raw)) + raw
    for body in (bytes(8), b""):
        with pytest.raises(FileFormatError, match="net: 'x'"):
            parse_npy(data + body, "net: 'x'")


def test_an_archive_that_unfolds_absurdly_is_refused(write):
    with pytest.raises(UnsafeFileError, match="expands"):
        read_npz(write(archive(x=npy(np.zeros(10_000_000)))))


def test_a_large_array_of_zeros_comes_back_from_our_own_packed_file(tmp_path):
    write_npz(tmp_path / "a", {"x": np.zeros(17 << 20, "f4"), "y": np.zeros(9)}, compress=True)
    assert {name: array.size for name, array in read_npz(tmp_path / "a").items()} == {"x": 17 << 20, "y": 9}


def test_many_entries_cannot_unfold_absurdly_together(write, monkeypatch):
    monkeypatch.setattr(zip_archive, "MAX_TOTAL", 1 << 20)
    entry = npy(np.zeros(40_000))
    with pytest.raises(UnsafeFileError, match="expands"):
        read_npz(write(archive(**{f"x{i}": entry for i in range(10)})))


def test_a_declared_size_is_not_believed(write):
    data = bytearray(archive(x=npy(np.arange(4.0))))
    place = data.index(b"PK\x01\x02") + 24  # the unpacked size in the directory
    data[place : place + 4] = struct.pack("<I", 0x7FFF_FFFF)
    with pytest.raises(FileFormatError):
        read_npz(write(bytes(data)))


def test_two_entries_of_one_name_are_refused(write):
    data = archive(x=npy(np.arange(4)), y=npy(np.arange(4))).replace(b"y.npy", b"x.npy")
    with pytest.raises(FileFormatError, match="two of one name"):
        read_npz(write(data))
