"""The plain AP gives the numbers one can work out by hand."""

import numpy as np
import pytest
from neighbour import neighbour

reference = neighbour(__file__, "coco_ap")

BOX = np.array([[0, 0, 10, 10], [20, 20, 40, 40]], float)
LABEL = np.array([0, 0])
PLAIN = np.array([False, False])


def test_perfect_boxes_have_ap_1():
    assert reference.coco_ap([(BOX, LABEL, PLAIN)], [(BOX, LABEL, np.array([0.9, 0.8]))]) == (1, 1)


def test_half_of_the_objects_found_gives_the_recalls_up_to_half():
    ap, ap50 = reference.coco_ap([(BOX, LABEL, PLAIN)], [(BOX[:1], LABEL[:1], np.array([0.9]))])
    assert ap == pytest.approx(51 / 101)
    assert ap50 == pytest.approx(51 / 101)


def test_a_loose_box_counts_at_low_thresholds_only():
    loose = BOX + np.array([0, 0, 0, 4.0])  # IoU 10 / 14 and 20 / 24
    ap, ap50 = reference.coco_ap([(BOX, LABEL, PLAIN)], [(loose, LABEL, np.array([0.9, 0.8]))])
    assert ap50 == 1
    assert 0.4 < ap < 0.7


def test_a_box_on_a_crowd_counts_for_nothing():
    crowded = np.array([False, True])
    boxes = np.concatenate([BOX, BOX[1:]])
    found = [(boxes, np.zeros(3, int), np.array([0.5, 0.9, 0.8]))]
    assert reference.coco_ap([(BOX, LABEL, crowded)], found) == (1, 1)
    assert reference.coco_ap([(BOX, LABEL, PLAIN)], found)[0] < 1, "the second box on one object is a false one"


def test_a_false_box_with_a_higher_score_halves_the_precision():
    boxes = np.array([[50, 50, 60, 60], [0, 0, 10, 10]], float)
    ap, _ = reference.coco_ap([(BOX[:1], LABEL[:1], PLAIN[:1])], [(boxes, LABEL, np.array([0.9, 0.8]))])
    assert ap == pytest.approx(0.5)
