"""COCO's JSON with what is not JSON in single records, which are decoded one at a time."""

import math

import pytest

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.layouts.data_spec import parse_data_spec
from cvzoo.datasets.layouts.read import read_annotated_set

FILE = b"""{"images": [{"id": 1, "file_name": "a%s.jpg", "height": 4, "width": 4}],
"categories": [{"id": 1, "name": "c"}],
"annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, %s, 2], "note": "%s"}]}"""


@pytest.fixture
def read(tmp_path):
    def read(*parts):
        (tmp_path / "images").mkdir(exist_ok=True)
        (tmp_path / "one.json").write_bytes(FILE % parts)
        return read_annotated_set(parse_data_spec(f"coco:{tmp_path / 'one.json'},photos={tmp_path / 'images'}"))

    return read


@pytest.mark.parametrize("parts", [(b"", b"1", b"caf\xe9"), (b"\xe9", b"1", b"")], ids=["annotation", "image"])
def test_a_byte_that_is_not_utf_8_is_a_finding(read, parts):
    annotated = read(*parts)
    assert Fault.TEXT_ENCODING in [each.kind for each in annotated.findings]
    assert len(annotated.images[0].objects) == 1


@pytest.mark.parametrize("number", [b"1e999", b"NaN", b"Infinity"])
def test_a_number_that_is_not_finite_is_read(read, number):
    (only,) = read(b"", number, b"").images[0].objects
    assert not math.isfinite(only.written[2])


def test_records_may_be_of_any_kind_and_apart(tmp_path):
    (tmp_path / "images").mkdir()
    (tmp_path / "one.json").write_text(
        '{ "annotations" : [ [1, [2]] ,\n\t{"id": 1, "image_id": 1, "bbox": [0, 0, 2, 2]}, "a", ",", 7,null ] ,'
        '"images":[{"id": 1, "file_name": "a.jpg"} , {"id": 2, "file_name": "b.jpg"}], "categories": []}'
    )
    annotated = read_annotated_set(parse_data_spec(f"coco:{tmp_path / 'one.json'},photos={tmp_path / 'images'}"))
    assert [len(image.objects) for image in annotated.images] == [1, 0]
    malformed = [each.message for each in annotated.findings if each.kind is Fault.FIELD_MALFORMED]
    assert [words.rpartition(" is ")[2] for words in malformed] == ["[1, [2]]", '"a"', '","', "7", "null"]
