"""Instances unpack as masks, labels and scores; they stay small, and draw and list themselves."""

import json
import tracemalloc

import numpy as np
import pytest
from PIL import Image

from cvzoo.errors.exceptions import ImageError, ShapeError, ValueRangeError
from cvzoo.evaluations.eval_instance_segmentation_coco import eval_instance_segmentation_coco
from cvzoo.geometry.rle import RLEs
from cvzoo.geometry.window_rle import window_rles
from cvzoo.links.model.detections import Detections
from cvzoo.links.model.image_batches import prepared_batches
from cvzoo.links.model.instance_segmentations import InstanceSegmentations
from cvzoo.links.model.instance_segmenter import AbstractInstanceSegmenter, FoundInstances


@pytest.fixture
def photos():
    return [np.full((3, 40, 60), 90, np.float32), np.full((3, 30, 30), 200, np.float32)]


@pytest.fixture
def found(photos):
    masks = np.zeros((2, 40, 60), bool)
    masks[0, 5:25, 6:36] = True
    masks[1, 1:3, 2:4] = True
    return InstanceSegmentations(
        [RLEs.from_masks(masks), RLEs.from_masks(np.zeros((0, 30, 30), bool))],
        [np.array([1, 0], np.int32), np.zeros(0, np.int32)],
        [np.array([0.75, 0.5], np.float32), np.zeros(0, np.float32)],
        label_names=("ant", "<bee>"),
        sources=photos,
    )


def test_it_unpacks_as_three_lists(found):
    masks, labels, scores = found
    assert masks is found.masks
    assert labels is found.labels
    assert scores is found.scores
    assert (len(found), found.n_photo) == (3, 2)


def test_dense_masks_come_on_request(found):
    mask = found.dense(0)
    assert (mask.shape, mask.dtype) == ((2, 40, 60), bool)
    assert mask[0].sum() == 20 * 30
    assert found.dense(1).shape[0] == 0
    with pytest.raises(ValueRangeError, match="no such image"):
        found.dense(2)


def test_boxes_are_those_of_the_masks_unless_the_network_has_its_own(found):
    np.testing.assert_array_equal(found.bboxes[0], [[5, 6, 25, 36], [1, 2, 3, 4]])
    own = InstanceSegmentations(*found, bboxes=[np.ones((2, 4), np.float32), np.ones((0, 4), np.float32)])
    np.testing.assert_array_equal(own.bboxes[0], np.ones((2, 4)))
    assert isinstance(own.detections, Detections)


def test_records_have_masks_that_json_can_write(found):
    records = found.to_records()
    assert json.loads(json.dumps(records)) == records
    assert [each["label"] for each in records] == [1, 0]
    np.testing.assert_array_equal(RLEs.from_coco([each["mask"] for each in records]).to_masks(), found.dense(0))
    assert found.to_records(0) == records
    assert found.to_records(1) == found.to_records(-1) == []


def test_draw_tints_the_masks_of_a_copy(found, photos, tmp_path):
    drawn = found.draw(0)
    assert (drawn.shape, drawn.dtype) == ((3, 40, 60), np.float32)
    assert (photos[0] == 90).all()
    assert (drawn[:, 15, 20] != 90).any()  # inside of a mask, away from its frame
    assert (drawn[:, 38, 58] == 90).all()
    found.save(0, tmp_path / "out.png")
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "out.png")).transpose(2, 0, 1), drawn)


def test_a_notebook_shows_tables_and_pictures(found):
    assert found._repr_png_().startswith(b"\x89PNG")
    html = found._repr_html_()
    assert html.count("<table>") == 2
    assert "&lt;bee&gt;" in html
    assert repr(found).startswith("InstanceSegmentations of 2 images, 2 masks")
    gone = InstanceSegmentations(*found)
    assert gone._repr_html_() is None
    assert gone._repr_png_() is None
    with pytest.raises(ImageError, match="cannot be read again"):
        gone.draw(0)
    assert InstanceSegmentations([], [], [])._repr_html_() is None


def test_lists_of_different_lengths_are_refused(found):
    with pytest.raises(ShapeError, match="one element per image"):
        InstanceSegmentations(found.masks, found.labels[:1], found.scores)


def test_evaluators_take_the_masks(found):
    scores = eval_instance_segmentation_coco(*found, found.masks, found.labels)
    assert scores["map/iou=0.50:0.95/area=all/max_dets=100"] == pytest.approx(1)


def test_a_hundred_instances_of_a_large_photo_stay_under_50_megabytes():
    # discs of a third of the photo's height: dense booleans would be 207 MB, probabilities 829 MB
    y, x = np.ogrid[-180:180, -180:180]
    disc = y**2 + x**2 < 180**2
    rng = np.random.default_rng(0)
    corners = np.stack([rng.integers(0, 1080 - 360, 100), rng.integers(0, 1920 - 360, 100)], axis=1)
    tracemalloc.start()
    try:
        masks = window_rles([disc] * 100, corners, (1080, 1920))
        result = InstanceSegmentations([masks], [np.zeros(100, np.int32)], [np.ones(100, np.float32)])
        result.to_records()
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 2e6
    assert peak < 20e6
    assert result.masks[0].area().tolist() == [int(disc.sum())] * 100


class Bright(AbstractInstanceSegmenter):
    """Takes bright pixels for one instance."""

    def prepare(self, img):
        return img[:1] / 255

    def find_instances(self, x, sizes):
        return [
            FoundInstances(
                RLEs.from_masks(each > 0.6),
                np.array([[0, 0, *size]], np.float32),
                np.zeros(1, np.int32),
                np.ones(1, np.float32),
            )
            for each, size in zip(x, sizes)
        ]


def test_predict_gives_one_element_a_photo_in_order(photos):
    model = Bright()
    result = model.predict([*photos, photos[0] + 100])
    assert [each.area().tolist() for each in result.masks] == [[0], [900], [2400]]
    assert model.predict([]) == ([], [], [])
    each = list(model.predict_each(iter(photos)))
    assert [part.n_photo for part in each] == [1, 1]
    assert each[1].masks[0] == result.masks[1]
    assert next(prepared_batches(photos, model.prepare, batch_size=1)).x.shape == (1, 1, 40, 60)


def test_presets_set_both_thresholds_for_a_block():
    model = Bright()
    with model.using_preset("evaluate"):
        assert model.score_thresh == 0.05
    assert model.score_thresh == 0.5
    with pytest.raises(ValueRangeError, match="visualize"):
        model.use_preset("nonsense")
