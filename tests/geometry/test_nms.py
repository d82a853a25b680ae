import numpy as np

from cvzoo.geometry import nms


def test_the_better_of_two_overlapping_boxes_stays():
    bbox = np.array([[0, 0, 10, 10], [0, 0, 10, 9], [20, 20, 30, 30]], dtype=np.float32)
    assert nms(bbox, np.array([0.5, 0.9, 0.7], dtype=np.float32), iou_thresh=0.5).tolist() == [1, 2]
