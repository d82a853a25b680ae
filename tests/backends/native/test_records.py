"""Columns of records by our own kernel, against JSON decoders."""

import json
import math

import msgspec
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cvzoo.backends.native.library import why_no_native
from cvzoo.backends.native.records import columns_natively, runs_of_texts, vertices_of_texts
from cvzoo.geometry.rle_string import decode_rle_strings, encode_rle_strings

pytestmark = pytest.mark.skipif(why_no_native() is not None, reason=str(why_no_native()))

FIELDS = {
    "id": "integer",
    "score": "number",
    "area": "number or none",
    "iscrowd": "flag or none",
    "bbox": "box or zeros",
    "mask": "runs",
    "outline": "span",
}


class Runs(msgspec.Struct):
    size: tuple[int, int]
    counts: str


class Record(msgspec.Struct):
    id: int
    score: float
    mask: Runs
    outline: msgspec.Raw
    area: float | None = None
    iscrowd: int | bool | None = None
    bbox: tuple[float, float, float, float] = (0, 0, 0, 0)


def read(text, fields=FIELDS):
    return columns_natively(np.frombuffer(text, np.uint8), fields)


def assert_records(text, columns):
    """The columns are what msgspec decodes."""
    for n, record in enumerate(msgspec.json.decode(text, type=list[Record])):
        assert columns["id"][n] == record.id
        numbers = [record.score, record.area, record.iscrowd, *record.bbox]
        numbers = np.array([math.nan if number is None else number for number in numbers], np.float64)
        got = np.array([columns["score"][n], columns["area"][n], columns["iscrowd"][n], *columns["bbox"][n]])
        assert got.tobytes() == numbers.tobytes()
        height, width, begin, end, _ = columns["mask"][n].tolist()
        assert (height, width) == record.mask.size
        assert json.loads(b'"' + text[begin:end] + b'"') == record.mask.counts
        begin, end = columns["outline"][n].tolist()
        assert text[begin:end] == bytes(record.outline)
    assert len(columns["id"]) == n + 1


def sound(n=3):
    return [
        {
            "id": 7 * k,
            "score": 0.123456789012345678 / (k + 1),
            "mask": {"size": [480, 640], "counts": "_Vi64h>\\5M2O"},
            "outline": [[1, 2.5, 3, 4, 5, 6]],
            "caption": "a dog, {[",
            "more": {"a": [1, {"b": None}], "c": []},
            **({"area": 70.25 * k, "iscrowd": k % 2, "bbox": [1, -2.5, 3e2, 4]} if k else {"iscrowd": True}),
        }
        for k in range(n)
    ]


def test_records_have_msgspecs_columns_in_every_layout():
    for settings in ({}, {"indent": 2}, {"separators": (",", ":")}, {"sort_keys": True}):
        text = json.dumps(sound(), **settings).encode()
        assert_records(text, read(text))
        assert_records(text + b" \n", read(text + b" \n"))


def test_more_records_than_a_call_reads_are_joined():
    text = json.dumps(sound(1 << 15)).encode()
    columns = read(text)
    assert columns["id"].tolist() == [7 * k for k in range(1 << 15)]
    assert read(b" [ ] ")["bbox"].shape == (0, 4)


@given(
    position=st.integers(0, 10_000),
    what=st.binary(min_size=0, max_size=3)
    | st.sampled_from([b"null", b"NaN", b"\\", b'"', b"]", b"}", b",", b"-", b"0", b"."]),
    n_out=st.integers(0, 4),
)
def test_text_with_a_fault_is_refused_or_has_msgspecs_columns(position, what, n_out):
    text = json.dumps(sound(2)).encode()
    position %= len(text)
    text = text[:position] + what + text[position + n_out :]
    columns = read(text)
    if columns is not None:
        assert_records(text, columns)


def test_no_part_of_a_text_is_read_as_the_whole():
    text = json.dumps(sound(1)).encode()
    for end in range(len(text)):
        assert read(text[:end] or b" ") is None


@pytest.mark.parametrize(
    "text",
    [
        b'[{"id": 1, "id": 2}]', b'[{"id": 1.0}]', b'[{"id": 9223372036854775808}]', b'[{"id": null}]', b"[{}]", b"[1]",
        b'[{"id": 01}]', b'[{"id": 1,}]', b'[{"id": 1},]', b'[{"id": 1}] x', b'[{"id": 1}]\0', b'[{"id": 1} {"id": 2}]',
        b'[{"\\u0069d": 1, "id": 2}]', b'{"id": 1}', b'[{"id": 1, "a": ' + b"[" * 99 + b"]" * 99 + b"}]",
    ],
)  # fmt: skip
def test_what_is_not_plain_is_refused(text):
    assert read(text, {"id": "integer"}) is None


def assert_number(text):
    columns = read(b'[{"a": ' + text.encode() + b"}]", {"a": "number"})
    if columns is not None:
        assert columns["a"].tobytes() == np.float64(msgspec.json.decode(text, type=float)).tobytes(), text
    return columns is not None


@given(st.floats(1e-18, 1e15) | st.floats(-1000, 1000, width=32) | st.integers(-(10**18), 10**18))
def test_usual_numbers_are_read_as_python_reads_them(number):
    assert assert_number(repr(number)) or 0 < abs(number) < 1e-18


@given(
    digits=st.integers(0, 10**19),
    point=st.integers(0, 20),
    sign=st.sampled_from(["", "-"]),
    power=st.integers(-40, 40) | st.none(),
)
@example(digits=9007199254740993, point=0, sign="", power=-1)
@example(digits=10**19 - 1, point=0, sign="", power=-38)
@example(digits=0, point=0, sign="-", power=None)
def test_decimals_are_rounded_once(digits, point, sign, power):
    digits = str(digits).zfill(point + 1)
    text = digits[: len(digits) - point] + ("." + digits[-point:] if point else "")
    assert_number(sign + text + ("" if power is None else f"e{power}"))


def test_numbers_halfway_between_two_are_rounded_to_even():
    rng = np.random.default_rng(0)
    for k in range(2000):
        low = rng.integers(2**52, 2**53)
        assert_number(f"{int(low)}.5")
        text = str((2 * int(low) + 1) * 5**3)  # halfway, after three binary places
        assert_number(f"{text[:-3]}.{text[-3:]}"[:20])
        assert_number(repr(float(rng.uniform(0, 1) * 10.0 ** -(k % 19))))


@given(st.lists(st.lists(st.integers(-(2**31), 2**31 - 1) | st.integers(0, 700), max_size=40), max_size=6))
def test_strings_of_a_text_have_the_counts_that_were_encoded(lists):
    counts = np.array([count for each in lists for count in each], np.int64).astype(np.int32)
    strings = encode_rle_strings(counts, np.cumsum([0, *map(len, lists)]))
    text = json.dumps([{"mask": {"size": [1, 2], "counts": string}} for string in strings]).encode()
    runs = read(text, {"mask": "runs"})["mask"]
    for got, want in zip(runs_of_texts(np.frombuffer(text, np.uint8), runs), decode_rle_strings(strings)):
        np.testing.assert_array_equal(got, want)


@given(st.text(st.characters(min_codepoint=48, max_codepoint=111), max_size=80))
def test_malformed_strings_of_a_text_are_refused(string):
    text = json.dumps([{"mask": {"counts": string, "size": [1, 2]}}]).encode()
    got = runs_of_texts(np.frombuffer(text, np.uint8), read(text, {"mask": "runs"})["mask"])
    try:
        want = decode_rle_strings([string])[0].tolist()
    except ValueError:
        want = None
    assert (None if got is None else got[0].tolist()) == want


def test_runs_of_a_text_that_changed_meanwhile_stay_within_their_room():
    text = json.dumps([{"mask": {"size": [1, 2], "counts": "0000PPPP1"}}]).encode()
    runs = read(text, {"mask": "runs"})["mask"]
    assert runs_of_texts(np.frombuffer(text.replace(b"P", b"0"), np.uint8), runs) is None
    assert runs_of_texts(np.frombuffer(text.replace(b'1"}}', b'\\"}}'), np.uint8), runs) is None


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "[[]]",
        "[[1,2,3,4]]",
        "[[1,2,3,4,5]]",
        "[[1,2,3,4,5,6],]",
        "[[1,2,3,4,5,2e8]]",
        "[[1,2,3,4,5,null]]",
        "[1]",
    ],
)
def test_lists_that_are_no_polygons_are_refused(text):
    characters = np.frombuffer(text.encode(), np.uint8)
    assert vertices_of_texts(characters, np.array([[0, len(text)]]), limit=1e8) is None


def test_vertices_are_on_the_fine_grid():
    rings = [[[1, 2.5, -3.1, 4.06, 5, 6]], [[0, 0, 0, 0, 0, 0], [1.1, 2, 3, 4.5, 5, 6, 7, 8]]]
    texts = [json.dumps(each, separators=(",", ":")) for each in rings]
    spans = np.array([[0, len(texts[0])], [len(texts[0]), len("".join(texts))]])
    x, y, length, owner = vertices_of_texts(np.frombuffer("".join(texts).encode(), np.uint8), spans, limit=1e8)
    flat = np.array([value for each in rings for ring in each for value in ring])
    np.testing.assert_array_equal(np.stack([x, y], 1).ravel(), np.trunc(5 * flat + 0.5))
    assert (length.tolist(), owner.tolist()) == ([3, 3, 4], [0, 1, 1])
