"""How many boxes the anchors reach."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.config import get_random_state, random_generator, set_seed
from cvzoo.errors import ValueRangeError
from cvzoo.geometry import bbox_iou
from cvzoo.training.run.anchor_reach import FILENAME, anchor_reach, reach_section, write_anchor_reach

ANCHORS = np.float32([[0, 0, 10, 10], [20, 20, 60, 60]])


def example(*boxes, ignored=()):
    bbox = np.float32(boxes).reshape(-1, 4)
    flags = np.isin(np.arange(len(bbox)), ignored)
    return np.zeros((3, 64, 64), np.float32), bbox, np.arange(len(bbox), dtype=np.int32) % 2, flags


def reach_of(examples, **more):
    return anchor_reach(examples, lambda size: ANCHORS, label_names=("cat", "dog"), **more)


def test_boxes_are_counted_by_class_and_by_size():
    examples = [example((0, 0, 10, 9), (20, 20, 60, 59)), example(), example((40, 0, 50, 10))]
    reach = reach_of(examples)
    assert (reach["n_image"], reach["n_box"]) == (3, 3)
    assert reach["reached"] == pytest.approx(2 / 3)
    assert reach["mean_iou"] == pytest.approx((0.9 + 0.975 + 0) / 3)
    assert [(row["name"], row["n_box"], row["reached"]) for row in reach["classes"]] == [("cat", 2, 0.5), ("dog", 1, 1)]
    sizes = {row["name"]: row["n_box"] for row in reach["sizes"]}
    assert sizes == {"0 to 16": 2, "16 to 32": 0, "32 to 64": 1, "64 to 128": 0, "128 to 256": 0, "256 or more": 0}


def test_ignored_boxes_do_not_count_and_flags_may_be_missing():
    assert reach_of([example((0, 0, 10, 9), (40, 0, 50, 10), ignored=(1,))])["reached"] == 1
    assert reach_of([example((0, 0, 10, 9), (40, 0, 50, 10))[:3]])["reached"] == 0.5


def test_without_boxes_there_is_no_fraction():
    reach = reach_of([example()])
    assert (reach["n_box"], reach["reached"]) == (0, None)
    assert "There are no boxes in 1 " in reach_section(reach)


@given(st.integers(0, 10**6), st.floats(0.1, 0.9))
def test_the_fraction_is_that_of_the_best_ious(seed, thresh):
    rng = np.random.default_rng(seed)
    corner = rng.uniform(0, 40, (3, 4, 2))
    boxes = np.concatenate([corner, corner + rng.uniform(1, 30, corner.shape)], axis=2).astype(np.float32)
    reach = reach_of([example(*each) for each in boxes], thresh=thresh)
    best = bbox_iou(boxes.reshape(-1, 4), ANCHORS).max(axis=1)
    assert reach["reached"] == pytest.approx((best >= thresh).mean())
    assert sum(row["n_box"] for row in reach["classes"]) == sum(row["n_box"] for row in reach["sizes"]) == 12


def test_images_are_spread_over_the_set():
    read = []

    class Counting(list):
        def __getitem__(self, index):
            read.append(index)
            return super().__getitem__(index)

    reach_of(Counting([example()] * 100), n_image=5)
    assert read == [0, 25, 50, 74, 99]
    with pytest.raises(ValueRangeError):
        reach_of([example()], n_image=0)


def test_a_file_is_written_for_the_report(tmp_path):
    reach = reach_of([example((0, 0, 10, 9))])
    write_anchor_reach(tmp_path, reach)
    assert json.loads((tmp_path / FILENAME).read_text()) == reach


def test_random_augmentation_leaves_the_generator_as_it_was():
    class Drawing(list):
        def __getitem__(self, index):
            random_generator().random()
            return super().__getitem__(index)

    set_seed(3)
    before = get_random_state()
    reach_of(Drawing([example()] * 3))
    assert get_random_state() == before
