"""Label maps that show themselves."""

import numpy as np
import pytest
from PIL import Image

from cvzoo.errors.exceptions import ImageError, ShapeError, ValueRangeError
from cvzoo.images.read_label import read_label
from cvzoo.links.model.label_maps import LabelMaps
from cvzoo.visualizations.colors import label_color


def _maps(**settings):
    label = np.zeros((4, 6), np.int32)
    label[:, 3:] = 2
    label[0, 0] = -1
    return LabelMaps([label, label[:2]], **settings)


def test_it_is_a_list():
    labels = _maps()
    assert isinstance(labels, list)
    assert len(labels) == 2
    first, second = labels
    assert first.shape, second.shape == ((4, 6), (2, 6))
    assert LabelMaps() == []


def test_records_name_the_classes_largest_first():
    records = _maps(label_names=("sky", "car", "tree")).to_records(0)
    assert [each["name"] for each in records] == ["tree", "sky", None]
    assert [each["n_pixel"] for each in records] == [12, 11, 1]
    assert sum(each["share"] for each in records) == pytest.approx(1)
    assert [each["photo"] for each in _maps().to_records()] == [0, 0, 0, 1, 1, 1]


def test_a_picture_is_tinted_in_the_classes_colours():
    img = np.full((3, 4, 6), 100, np.float32)
    labels = _maps(sources=[img, None])
    np.testing.assert_array_equal(labels.draw(0, opacity=1)[:, 1, 5], label_color(2))
    np.testing.assert_array_equal(labels.draw(0)[:, 0, 0], 100)  # nobody knows what is there
    with pytest.raises(ImageError, match="cannot be read again"):
        labels.draw(1)
    assert labels.draw(1, img=img[:, :2]).shape == (3, 2, 6)
    with pytest.raises(ValueRangeError, match="no such image"):
        labels.draw(2)


def test_a_saved_map_reads_back_and_has_colours(tmp_path):
    labels = _maps()
    labels.save_map(0, tmp_path / "map.png")
    again = read_label(tmp_path / "map.png")
    np.testing.assert_array_equal(np.where(again == 255, -1, again), labels[0])
    with Image.open(tmp_path / "map.png") as pil:
        assert pil.convert("RGB").getpixel((5, 1)) == label_color(2)
    assert [path.name for path in tmp_path.iterdir()] == ["map.png"]
    with pytest.raises(ValueRangeError, match="254"):
        LabelMaps([np.full((2, 2), 255, np.int32)]).save_map(0, tmp_path / "map.png")
    np.testing.assert_array_equal(read_label(tmp_path / "map.png"), again)  # the old file stays


def test_a_notebook_gets_the_picture_and_a_legend_without_what_names_smuggle_in():
    img = np.zeros((3, 4, 6), np.uint8)
    text = _maps(sources=[img, img[:, :2]], label_names=("<b>", "car", "tree"))._repr_html_()
    assert "&lt;b&gt;" in text
    assert "<b>" not in text
    assert text.count("<img") == 2
    assert _maps(sources=[img])._repr_png_()[:4] == b"\x89PNG"
    assert _maps()._repr_html_() is None
    assert LabelMaps()._repr_png_() is None


def test_a_large_photo_becomes_a_small_picture():
    label = np.zeros((1500, 20), np.int32)
    png = LabelMaps([label], sources=[np.zeros((3, 1500, 20), np.uint8)])._repr_png_()
    assert int.from_bytes(png[20:24], "big") == 640


def test_a_repr_is_short():
    labels = LabelMaps([np.arange(100, dtype=np.int32).reshape(10, 10)] * 30)
    lines = repr(labels).splitlines()
    assert len(lines) == 22
    assert "and 94 more" in lines[1]
    assert "10 more" in lines[-1]


def test_what_is_no_map_is_refused():
    with pytest.raises(ShapeError, match="label map"):
        LabelMaps([np.zeros((3, 4, 5), np.int32)])


def test_maps_are_filtered_and_drawn_in_colors_of_the_caller(tmp_path):
    maps = LabelMaps([np.int32([[0, 1], [2, -1]])], label_names=("sky", "road", "tree"), sources=[np.zeros((3, 2, 2))])
    some = maps.filter(classes=["road", 2])
    assert some[0].tolist() == [[-1, 1], [2, -1]]
    assert some.label_names == maps.label_names
    drawn = maps.draw(0, opacity=1, colors={"road": "red"})
    assert drawn[:, 0, 1].tolist() == [255, 0, 0]
    with Image.open(maps.save(0, tmp_path / "a.png", opacity=1, colors=["red", "lime", "blue"])) as saved:
        assert saved.getpixel((0, 1)) == (0, 0, 255)
    with pytest.raises(ValueRangeError, match="did you mean road"):
        maps.filter(classes=["raod"])
