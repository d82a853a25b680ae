"""The names of the photos of an annotation file."""

import pytest

from cvzoo.errors.exceptions import CvzooError
from cvzoo.evaluations.coco.image_names import read_image_names


@pytest.mark.parametrize("more", ["", ', "annotations": [{"area": NaN}]'])
def test_photos_are_named_by_id(more, tmp_path):
    text = '{"images": [{"id": 7, "file_name": "a.jpg"}, {"id": 2}]' + more + "}"
    (tmp_path / "gt.json").write_text(text)
    assert read_image_names(text.encode()) == read_image_names(tmp_path / "gt.json") == {7: "a.jpg", 2: ""}


@pytest.mark.parametrize(
    "images", ["NaN", "[5]", "[NaN]", '[{"id": [1]}]', '[{"id": NaN}]', "{}", '[{"file_name": "a"}]']
)
@pytest.mark.parametrize("more", ["", ', "x": NaN'])
def test_what_lists_no_photos_is_refused(images, more):
    with pytest.raises(CvzooError):
        read_image_names(f'{{"images": {images}{more}}}'.encode())
