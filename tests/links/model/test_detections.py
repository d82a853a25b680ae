"""What a detector found unpacks, lists, draws and saves itself."""

import copy
import io
import json
import pickle
import sys
import types

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from cvzoo.errors.exceptions import ImageError, MissingExtraError, ValueRangeError
from cvzoo.geometry.rle import RLEs
from cvzoo.links.model.detections import Detections, kept_source
from cvzoo.links.model.instance_segmentations import InstanceSegmentations
from cvzoo.links.model.keypoint_detections import KeypointDetections


@pytest.fixture
def photos():
    return [np.full((3, 40, 60), 90, np.float32), np.full((3, 30, 30), 200, np.float32)]


@pytest.fixture
def found(photos):
    return Detections(
        [np.array([[5, 6, 25, 36], [1, 2, 3, 4]], np.float32), np.zeros((0, 4), np.float32)],
        [np.array([1, 0], np.int32), np.zeros(0, np.int32)],
        [np.array([0.75, 0.5], np.float32), np.zeros(0, np.float32)],
        label_names=("ant", "<bee>"),
        sources=photos,
    )


def test_it_unpacks_as_three_lists(found):
    bboxes, labels, scores = found
    assert bboxes is found.bboxes
    assert labels is found.labels
    assert scores is found.scores
    assert len(found) == 3
    assert found.n_photo == 2


def test_records_have_spelled_fields_that_json_can_write(found):
    records = found.to_records()
    assert records[0] == {
        "photo": 0,
        "label": 1,
        "name": "<bee>",
        "score": 0.75,
        "y_min": 5.0,
        "x_min": 6.0,
        "y_max": 25.0,
        "x_max": 36.0,
    }
    assert json.loads(json.dumps(records)) == records
    assert found.to_records(0) == records
    assert found.to_records(1) == found.to_records(-1) == []
    assert Detections(*found).to_records()[0]["name"] is None


def test_draw_changes_pixels_of_a_copy(found, photos):
    drawn = found.draw(0)
    assert (drawn.shape, drawn.dtype) == ((3, 40, 60), np.float32)
    assert (drawn != photos[0]).any()
    assert (photos[0] == 90).all()
    np.testing.assert_array_equal(found.draw(1), photos[1])


@pytest.mark.parametrize("i", [2, -3])
def test_a_photo_that_is_not_there_is_refused(found, i):
    with pytest.raises(ValueRangeError, match="no such image"):
        found.draw(i)
    with pytest.raises(ValueRangeError):
        found.to_records(i)


def test_save_writes_a_png(found, tmp_path):
    path = found.save(0, tmp_path / "a.png")
    np.testing.assert_array_equal(np.asarray(Image.open(path)).transpose(2, 0, 1), found.draw(0))


def test_a_path_is_read_when_a_picture_is_asked_for(found, photos, tmp_path):
    path = tmp_path / "a.png"
    Image.fromarray(photos[0].astype(np.uint8).transpose(1, 2, 0)).save(path)
    again = Detections(*found, label_names=found.label_names, sources=[path, photos[1]])
    np.testing.assert_array_equal(again.draw(0), found.draw(0))
    path.unlink()
    assert again._repr_html_() is None
    assert again._repr_png_() is None
    assert "<bee>" in repr(again)
    with pytest.raises(FileNotFoundError):
        again.draw(0)


def test_a_photo_that_was_not_kept_is_asked_for(found, photos):
    bare = Detections(*found)
    with pytest.raises(ImageError, match="img="):
        bare.draw(0)
    np.testing.assert_array_equal(bare.draw(0, img=photos[0]).shape, (3, 40, 60))
    assert bare._repr_html_() is None
    assert bare._repr_png_() is None


def test_a_notebook_gets_pictures_and_tables_with_names_escaped(found):
    html = found._repr_html_()
    assert html.count("<img") == 2
    assert "&lt;bee&gt;" in html
    assert "<bee>" not in html
    assert Image.open(io.BytesIO(found._repr_png_())).size == (60, 40)


def test_nothing_at_all_shows_itself_too():
    empty = Detections([], [], [])
    assert empty == ([], [], [])
    assert empty.n_photo == 0
    assert "0 images" in repr(empty)
    assert empty._repr_png_() is None
    assert empty._repr_html_() is None  # a notebook then shows the line of __repr__


def test_repr_is_short_however_much_was_found():
    n = 500
    many = Detections([np.zeros((n, 4), np.float32)], [np.zeros(n, np.int32)], [np.ones(n, np.float32)])
    assert len(repr(many).splitlines()) < 30
    assert "480 more" in repr(many)


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_and_pickles_keep_names_and_photos(found, photos, twin):
    again = twin(found)
    assert again.label_names == found.label_names
    np.testing.assert_array_equal(again.draw(0), found.draw(0))
    boxes, labels, scores = found
    points, point_scores = [np.ones((2, 1, 2)), np.ones((0, 1, 2))], [np.ones((2, 1)), np.ones((0, 1))]
    people = twin(
        KeypointDetections(points, labels, scores, bboxes=boxes, point_scores=point_scores, point_names=["nose"])
    )
    assert [record["points"][0]["name"] for record in people.to_records()] == ["nose", "nose"]


def test_only_what_can_be_read_twice_is_kept(tmp_path):
    array = np.zeros((3, 2, 2), np.float32)
    assert kept_source(array) is array
    assert kept_source("a.png") == "a.png"
    assert kept_source(io.BytesIO(b"")) is None


def test_detections_are_chosen_by_score_and_class(found, photos):
    above = found.filter(score=0.5)
    assert [len(each) for each in above.bboxes] == [1, 0]
    np.testing.assert_array_equal(above.bboxes[0], [[5, 6, 25, 36]])
    assert above.label_names == found.label_names
    assert above.sources[0] is photos[0]
    for classes in (("ant",), (0,), [np.int32(0)]):
        (kept,) = found.filter(classes=classes).to_records()
        assert (kept["name"], kept["score"]) == ("ant", 0.5)
    assert found.filter(classes=()).to_records() == []
    with pytest.raises(ValueRangeError, match="there is no class 'cat'"):
        found.filter(classes=("cat",))


def test_masks_and_keypoints_are_chosen_with_their_boxes():
    masks = np.zeros((2, 6, 8), bool)
    masks[0, :3], masks[1, 3:] = True, True
    arrays = [np.array([0, 1], np.int32)], [np.array([0.9, 0.4], np.float32)]
    instances = InstanceSegmentations([RLEs.from_masks(masks)], *arrays).filter(classes=[1])
    np.testing.assert_array_equal(instances.dense(0), masks[1:])
    np.testing.assert_array_equal(instances.bboxes[0], [[3, 0, 6, 8]])
    boxes = [np.float32([[0, 0, 3, 8], [3, 0, 6, 8]])]
    points = [np.arange(12, dtype=np.float32).reshape(2, 3, 2)]
    people = KeypointDetections(points, *arrays, bboxes=boxes, point_scores=[np.float32([[1, 2, 3], [4, 5, 6]])])
    chosen = people.filter(score=0.5)
    np.testing.assert_array_equal(chosen.points[0], points[0][:1])
    np.testing.assert_array_equal(chosen.point_scores[0], [[1, 2, 3]])


def test_a_table_of_pandas_has_a_row_a_box(found, monkeypatch):
    rows = []
    frames = types.SimpleNamespace(from_records=lambda records: rows.extend(records) or "frame")
    monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=frames))
    assert found.to_df() == "frame"
    assert rows == found.to_records()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pip install pandas"):
        found.to_df()


def test_results_are_drawn_in_the_style_of_the_caller(found, photos, tmp_path):
    style = {"line_width": 1, "colors": {"<bee>": "#010203"}, "show_labels": False, "show_scores": False}
    drawn = found.draw(0, **style)
    assert drawn[:, 24, 20].tolist() == [1, 2, 3]
    assert (drawn == 90).all(axis=0).sum() > 1000  # no texts
    with Image.open(found.save(0, tmp_path / "a.png", **style)) as saved:
        np.testing.assert_array_equal(np.asarray(saved).transpose(2, 0, 1), drawn)
    axes = found.show(0, ax=Figure().add_subplot(), **style)
    assert {patch.get_edgecolor()[:3] for patch in axes.patches} >= {(1 / 255, 2 / 255, 3 / 255)}
    assert [text.get_text() for text in axes.texts] == []
    masks = np.zeros((2, 40, 60), bool)
    masks[0, 5:25, 6:36] = True
    instances = InstanceSegmentations(
        [RLEs.from_masks(masks)], found.labels[:1], found.scores[:1], label_names=found.label_names, sources=photos[:1]
    )
    tinted = instances.draw(0, **style)
    np.testing.assert_array_equal(tinted[:, 15, 20], np.rint([45.5, 46, 46.5]))
    instances.show(0, ax=Figure().add_subplot(), **style)
    points = KeypointDetections(
        [np.float32([[[9, 9]], [[2, 2]]])],
        found.labels[:1],
        found.scores[:1],
        bboxes=found.bboxes[:1],
        point_scores=[np.ones((2, 1))],
        label_names=found.label_names,
        sources=photos[:1],
    )
    assert points.draw(0, **style)[:, 24, 20].tolist() == [1, 2, 3]
    points.show(0, ax=Figure().add_subplot(), **style)
    with pytest.raises(ValueRangeError, match="did you mean <bee>"):
        found.draw(0, colors={"bee": "red"})


def test_crops_are_the_parts_of_the_image_in_the_boxes(found, photos):
    first, second = found.crops(0)
    np.testing.assert_array_equal(first, photos[0][:, 5:25, 6:36])
    assert second.shape == (3, 2, 2)
    assert found.crops(1) == []
    outside = Detections([np.float32([[-9, -9, -2, 5]])], [np.int32([0])], [np.float32([1])], sources=photos)
    assert outside.crops(0) == [None]


def test_a_class_that_is_unknown_is_named_with_the_nearest(found):
    with pytest.raises(ValueRangeError, match="there is no class 'bee'") as caught:
        found.filter(classes=["bee"])
    assert "did you mean <bee>?" in str(caught.value)
