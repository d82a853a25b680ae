import numpy as np

from cvzoo.visualizations import draw_bbox


def test_drawing_gives_a_new_photo_and_leaves_the_old_one():
    img = np.zeros((3, 64, 64), dtype=np.float32)
    drawn = draw_bbox(img, [[8, 8, 40, 40]], [1], [0.5], label_names=("a", "b"))
    assert drawn.shape == img.shape
    assert drawn.dtype == np.float32
    assert drawn.any()
    assert not img.any()
