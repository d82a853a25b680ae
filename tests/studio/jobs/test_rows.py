"""Rows of files that are being written."""

import os

import pytest

from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.studio.jobs.rows import all_rows, last_rows, parts_of, read_rows


def test_rows_are_read_from_an_offset(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"a": 1}\n{"a": 2}\n')
    rows, offset = read_rows(path)
    assert rows == [{"a": 1}, {"a": 2}]
    with open(path, "a") as file:
        file.write('{"a": 3}\n{"a"')
    rows, offset = read_rows(path, offset)
    assert rows == [{"a": 3}]  # the incomplete one is read when it is whole
    with open(path, "a") as file:
        file.write(": 4}\n")
    assert read_rows(path, offset)[0] == [{"a": 4}]


def test_a_file_that_was_cut_off_is_told(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"a": 1}\n{"a": 2}\n')
    offset = read_rows(path)[1]
    path.write_text('{"a": 1}\n')
    with pytest.raises(EOFError):
        read_rows(path, offset)
    path.unlink()
    with pytest.raises(EOFError):
        read_rows(path, offset)
    assert read_rows(path) == ([], 0)


def test_what_is_no_row_is_left_out(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"a": NaN}\n[1]\nnull\n\xff\xfe\n{"b": 1e999}\n' + b"[" * 100_000 + b"\n")
    rows, _ = all_rows(path)
    assert rows[0] == {"a": None}
    assert len(rows) == 2


def test_the_last_rows_are_whole(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text("".join(f'{{"a": {i}}}\n' for i in range(1000)))
    found = last_rows(path, 200)
    assert [row["a"] for row in found] == list(range(1000 - len(found), 1000))
    assert 10 < len(found) < 30


def test_of_a_long_file_the_end_is_read(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text("".join(f'{{"a": {i}}}\n' for i in range(10)))
    rows, offset = all_rows(path, n_byte=20)
    assert rows == [{"a": 8}, {"a": 9}]
    assert offset == path.stat().st_size


def test_nobody_waits_for_the_writer_of_a_fifo(tmp_path):
    path = tmp_path / "metrics.jsonl"
    os.mkfifo(path)
    assert all_rows(path) == ([], 0)
    assert last_rows(path) == []
    assert read_json_object(path) == {}


@pytest.mark.parametrize("line", ["", "[1]", '{"a": 1}, {"a": 1}', '{"a": 1', "null", '{"b": 2}'])
def test_a_line_that_is_no_row_does_not_change_the_others(tmp_path, line):
    path = tmp_path / "metrics.jsonl"
    path.write_text(f'{{"a": 1}}\n{line}\n{{"a": 2}}\n')
    rows, _ = all_rows(path)
    assert rows == [{"a": 1}, *([{"b": 2}] if line == '{"b": 2}' else []), {"a": 2}]


def test_rows_come_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("cvzoo.studio.jobs.rows._PART", 20)
    path = tmp_path / "metrics.jsonl"
    path.write_text("".join(f'{{"a": {i}}}\n' for i in range(10)) + '{"a"')
    parts = list(parts_of(path, 0))
    assert [row["a"] for rows, _ in parts for row in rows] == list(range(10))
    assert len(parts) > 2
    assert parts[-1][1] == path.stat().st_size - 4
    assert [row["a"] for rows, _ in parts_of(path, parts[0][1]) for row in rows] == list(range(len(parts[0][0]), 10))
