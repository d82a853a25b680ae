"""Messages over pipes."""

import io

import pytest

from cvzoo.studio.inference.frames import read_frame, write_frame


def test_a_message_comes_back():
    file = io.BytesIO()
    write_frame(file, {"a": [1, "é"]}, b"\0\1")
    write_frame(file, {})
    file.seek(0)
    assert read_frame(file) == ({"a": [1, "é"]}, b"\0\1")
    assert read_frame(file) == ({}, b"")


@pytest.mark.parametrize(
    "data", [b"", b"\1", b"\2\0\0\0\0\0\0\0{", b"\2\0\0\0\0\0\0\0[]", b"\2\0\0\0\0\0\0\0{x", b"\xff" * 20]
)
def test_anything_else_is_the_end(data):
    with pytest.raises(EOFError):
        read_frame(io.BytesIO(data))
