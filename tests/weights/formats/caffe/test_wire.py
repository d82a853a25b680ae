import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.weights.formats.caffe.wire import BYTES, FIXED32, FIXED64, VARINT, WireReader


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def fields(data):
    wire = WireReader(memoryview(data), "file")
    return [(number, kind, value, data[begin:after]) for number, kind, value, begin, after in wire.fields(0, len(data))]


@given(st.integers(0, 2**64 - 1))
def test_every_number_of_64_bits_is_read(value):
    data = varint(value)
    assert WireReader(memoryview(data), "file").varint(0, len(data)) == (value, len(data))


def test_fields_of_every_kind_are_found():
    data = b"\x08\x96\x01" + b"\x12\x03abc" + b"\x1d\x00\x00\x80\x3f" + b"\x21" + bytes(8) + b"\xa2\x06\x00"
    got = [(number, kind) for number, kind, _, _ in fields(data)]
    assert got == [(1, VARINT), (2, BYTES), (3, FIXED32), (4, FIXED64), (100, BYTES)]
    assert fields(data)[0][2] == 150
    assert fields(data)[1][3] == b"abc"
    assert fields(data)[4][3] == b""


@pytest.mark.parametrize("data", [b"\x08", b"\x12\x03ab", b"\x1d\0\0\0", b"\x21\0", b"\x0b", b"\x0c", b"\x0e", b"\x00"])
def test_a_damaged_field_names_file_and_place(data):
    with pytest.raises(FileFormatError, match="file: damaged or cut off near byte"):
        fields(data)
