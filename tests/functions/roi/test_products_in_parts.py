"""Regions of many cells and channels are multiplied in parts, and give what a few channels at a time give."""

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.roi.roi_average_pooling_2d import roi_average_align_2d


def test_many_channels_at_once_are_what_each_few_are_alone():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1, 192, 90, 120)).astype(np.float32)
    rois = np.array([[0, 0, 88, 110], [10, 20, 40, 60]], np.float32)
    indices = np.zeros(2, np.int32)
    gy = rng.standard_normal((2, 192, 14, 14)).astype(np.float32)

    def both(channels):
        v = Variable(np.ascontiguousarray(x[:, channels]))
        y = roi_average_align_2d(v, rois, indices, 14, 1.0, 2)
        y.grad = np.ascontiguousarray(gy[:, channels])
        y.backward()
        return y.array, np.asarray(v.grad)

    y, gx = both(slice(None))
    for start in (0, 96, 188):
        few = slice(start, start + 4)
        want_y, want_gx = both(few)
        np.testing.assert_allclose(y[:, few], want_y, atol=1e-5)
        np.testing.assert_allclose(gx[:, few], want_gx, atol=1e-4)
