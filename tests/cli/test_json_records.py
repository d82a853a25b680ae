"""Results as JSON."""

import json
import math
import resource
import signal

import numpy as np
import pytest

from cvzoo.cli.json_records import as_json, json_lines, photo_record, write_json
from cvzoo.links.model.detections import Detections


@pytest.fixture
def record():
    bbox = np.array([[1, 2, 3.5, 4]], np.float32)
    found = Detections(
        [np.zeros((0, 4), np.float32), bbox],
        [np.zeros(0, np.int32), np.array([1], np.int32)],
        [np.zeros(0, np.float32), np.array([0.5], np.float32)],
        label_names=("cat", "Kühe"),
    )
    return photo_record("x/ö.jpg", (10, 20), found, 1, "ö.jpg")


def test_all_fields_are_spelled(record):
    box = {"y_min": 1.0, "x_min": 2.0, "y_max": 3.5, "x_max": 4.0}
    assert record == {
        "photo": "x/ö.jpg",
        "height": 10,
        "width": 20,
        "picture": "ö.jpg",
        "objects": [{"label": 1, "name": "Kühe", "score": 0.5, **box}],
    }


def test_letters_stay_letters(record):
    assert "Kühe".encode() in as_json(record)
    assert json.loads(as_json(record)) == record


def test_a_name_that_is_no_utf8_is_still_json():
    text = as_json({"photo": "\udcff.jpg"})
    assert text.isascii()
    assert json.loads(text) == {"photo": "\udcff.jpg"}


def test_a_file_of_its_own_replaces_the_old_one_whole(record, tmp_path):
    path = tmp_path / "ö.json"
    path.write_text("old")
    write_json(record, path)
    assert json.loads(path.read_text(encoding="utf-8")) == record
    assert [each.name for each in tmp_path.iterdir()] == ["ö.json"]


def test_a_line_is_there_as_soon_as_it_was_written(record, tmp_path):
    path = tmp_path / "all.jsonl"
    with json_lines(path) as write_line:
        for n in range(1, 4):
            write_line(record)
            assert [json.loads(line) for line in path.read_bytes().splitlines()] == [record] * n
            assert path.read_bytes().endswith(b"\n")


def test_no_file_takes_any_record(record):
    with json_lines(None) as write_line:
        write_line(record)


def test_a_full_disk_takes_its_part_line_back(record, tmp_path):
    path = tmp_path / "all.jsonl"
    line = len(as_json(record)) + 1
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 * line + line // 2, before[1]))
        with json_lines(path) as write_line:
            write_line(record)
            write_line(record)
            with pytest.raises(OSError, match=r"full|File too large"):
                write_line(record)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert [json.loads(each) for each in path.read_bytes().splitlines()] == [record, record]


def test_nan_and_infinity_which_json_lacks_are_null():
    record = {"a": [1.5, math.nan], "b": {"c": -math.inf}, "d": (np.float64("nan"), "nan"), "e\udcff": 1}
    assert json.loads(as_json(record)) == {"a": [1.5, None], "b": {"c": None}, "d": [None, "nan"], "e\udcff": 1}


def test_a_file_without_lines_stays_only_if_asked(tmp_path):
    for keep_empty in (True, False):
        path = tmp_path / "all.jsonl"
        with json_lines(path, keep_empty=keep_empty):
            assert path.exists()
        assert path.exists() == keep_empty
    with json_lines(tmp_path / "all.jsonl", keep_empty=False) as write_line:
        write_line({"photo": "a.jpg"})
    assert (tmp_path / "all.jsonl").read_text() == '{"photo": "a.jpg"}\n'
    with pytest.raises(OSError, match="full"), json_lines(tmp_path / "all.jsonl", keep_empty=False):
        raise OSError("full")
    assert not (tmp_path / "all.jsonl").exists()
