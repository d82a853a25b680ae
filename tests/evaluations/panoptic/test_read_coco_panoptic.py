import json

import pytest

from cvzoo.errors import FileFormatError, ValueRangeError
from cvzoo.evaluations import read_coco_panoptic

ROW = {"image_id": 3, "file_name": "a.png", "segments_info": [{"id": 5, "category_id": 1}]}


def test_annotations_are_found_by_image_id(tmp_path):
    (tmp_path / "gt.json").write_text(json.dumps({"annotations": [ROW], "info": {}}))
    found = read_coco_panoptic(tmp_path / "gt.json")
    assert found.annotations[3].path == tmp_path / "gt" / "a.png"
    assert found.annotations[3].segments == [{"id": 5, "category_id": 1, "iscrowd": 0}]
    assert read_coco_panoptic(tmp_path / "gt.json", tmp_path).annotations[3].path == tmp_path / "a.png"


@pytest.mark.parametrize(
    ("rows", "error", "words"),
    [
        ([ROW, ROW], ValueRangeError, "twice"),
        ([{**ROW, "file_name": "../a.png"}], ValueRangeError, "folder"),
        ([{**ROW, "file_name": ".."}], ValueRangeError, "folder"),
        ([{**ROW, "file_name": "c:\\a.png"}], ValueRangeError, "folder"),
        ([{**ROW, "segments_info": 5}], FileFormatError, "panoptic"),
        ("x", FileFormatError, "panoptic"),
    ],
)
def test_files_that_make_no_sense_are_refused(tmp_path, rows, error, words):
    (tmp_path / "gt.json").write_text(json.dumps({"annotations": rows}))
    with pytest.raises(error, match=words):
        read_coco_panoptic(tmp_path / "gt.json")


@pytest.mark.parametrize("text", [b"", b"[" * 100_000, b"\xff\xfe{}"])
def test_what_is_not_json_is_refused(tmp_path, text):
    (tmp_path / "gt.json").write_bytes(text)
    with pytest.raises(FileFormatError):
        read_coco_panoptic(tmp_path / "gt.json")
