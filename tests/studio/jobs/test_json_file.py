"""JSON as other programs write it, by the fastest reader that may read it."""

import json
import math

import pytest

from cvzoo.studio.jobs import json_file
from cvzoo.studio.jobs.json_file import decoder_of, load_json, parse_json, read_json_object


@pytest.mark.parametrize(
    "text",
    ["0.00012345678901234567", "-12.5e-07", "1e-300", "123456789012345678", '"0.1", 1.2345678901234567, 0', "[]"],
)
def test_usual_numbers_are_read_fast(text):
    assert decoder_of(text.encode()) is json_file._FAST


@pytest.mark.parametrize(
    "text", ["1234567890123456789", "0.5, 12345678901234567890", "1e400", "1E+999", "123456789012345678901.5"]
)
def test_numbers_that_do_not_fit_are_read_with_care(text):
    assert decoder_of(text.encode()) is json_file._CAREFUL


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": NaN, "b": -Infinity}', {"a": None, "b": None}),
        ('{"a": 1e400}', {"a": None}),
        ('{"a": 12345678901234567890}', {"a": 1.2345678901234567e19}),
        ('"\\ud800"', "\ud800"),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("[-0.0, 1E5, 0.00012345678901234567, true, null]", [-0.0, 1e5, 0.00012345678901234567, True, None]),
    ],
)
def test_each_reader_says_the_same(text, value):
    found = parse_json(text.encode())
    assert found == value
    assert json.dumps(found) == json.dumps(value)  # the types, too


@pytest.mark.parametrize("data", [b"", b"{", b"[1,]", b'"\xff"', b"1 2", b'"a\nb"', b"\xef\xbb\xbf1", b"nan"])
def test_malformed_text_is_an_error(data):
    with pytest.raises(ValueError, match=r".+"):
        parse_json(data)


def test_what_is_nested_too_deeply_is_an_error():
    with pytest.raises(RecursionError):
        parse_json(b"[" * 100_000 + b"]" * 100_000)


def test_a_file_of_the_largest_size_is_read_and_a_larger_one_is_not(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"a": 1}')
    assert read_json_object(path, max_bytes=8) == {"a": 1}
    assert read_json_object(path, max_bytes=7) == {}
    assert math.isfinite(read_json_object(path)["a"])


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, -0.0, 1e2, 0.1, 5e-324, 1.7976931348623157e308, 0.30000000000000004], "a": null}',
        "[18446744073709551616, -9223372036854775809, 123456789012345678901234567890]",
        "[NaN, -Infinity, 1e400]",
        '["\\ud800", "\\u00e9", "\u00e9"]',
        b'["\xc3\xa9"]',
    ],
)
def test_what_is_loaded_is_what_python_loads(text):
    assert repr(load_json(text)) == repr(json.loads(text))


@pytest.mark.parametrize("text", ["", "[1,]", "{'a': 1}", b'["\xff"]', "[" * 100_000])
def test_what_python_does_not_load_is_not_loaded(text):
    with pytest.raises((ValueError, RecursionError)) as expected:
        json.loads(text)
    with pytest.raises(expected.type):
        load_json(text)
