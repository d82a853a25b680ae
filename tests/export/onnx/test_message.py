"""Messages put together of pieces."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.export.onnx.message import Message
from cvzoo.weights.formats.caffe.wire import BYTES, FIXED32, VARINT, WireReader


def _bytes(message):
    file = io.BytesIO()
    message.write_to(file)
    return file.getvalue()


def _fields(data):
    reader = WireReader(memoryview(data), "test")
    return [(n, kind, value, data[a:b]) for n, kind, value, a, b in reader.fields(0, len(data))]


def test_fields_are_read_back():
    data = _bytes(Message().integer(1, 300).text(2, "büro").real(3, 0.5))
    assert [(n, kind) for n, kind, *_ in _fields(data)] == [(1, VARINT), (2, BYTES), (3, FIXED32)]
    assert _fields(data)[0][2] == 300
    assert _fields(data)[1][3].decode() == "büro"


def test_a_message_holds_messages():
    inner = Message().integer(1, 7)
    outer = Message().message(5, Message().message(6, inner)).integer(1, 2)
    data = _bytes(outer)
    assert len(data) == outer.size
    (_, _, _, middle), last = _fields(data)
    assert last[:3] == (1, VARINT, 2)
    assert _fields(_fields(middle)[0][3])[0][:3] == (1, VARINT, 7)


@given(st.lists(st.integers(0, 2**63 - 1)))
def test_packed_numbers_are_read_back(values):
    data = _bytes(Message().integers(8, values))
    ((number, _, _, payload),) = _fields(data)
    reader, position, found = WireReader(memoryview(payload), "test"), 0, []
    while position < len(payload):
        value, position = reader.varint(position, len(payload))
        found.append(value)
    assert (number, found) == (8, values)


def test_arrays_are_not_copied():
    large = bytearray(1000)
    message = Message().raw(9, memoryview(large))
    large[0] = 255
    assert _bytes(message)[-1000] == 255


@pytest.mark.parametrize("value", ["no text", None])
def test_a_number_must_be_one(value):
    with pytest.raises(TypeError):
        Message().integer(1, value)
