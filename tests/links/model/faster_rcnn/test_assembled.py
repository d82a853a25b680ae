"""Two-stage detectors of parts of one's own."""

import numpy as np

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.links.model.faster_rcnn import FasterRCNN
from cvzoo.links.model.light_head_rcnn import LightHeadRCNN
from cvzoo.testing import assert_is_detection_link


class TwoMaps(L.Chain):
    def __init__(self):
        with self.init_scope():
            self.conv = L.Convolution2D(3, 8, 3, 16, 1)

    def forward(self, x):
        h = F.relu(self.conv(x))
        return h, h


def parts():
    rpn = L.RegionProposalNetwork(8, 8, anchor_scales=(2, 4))
    head = L.VGG16RoIHead(4, 3, 1 / 16, in_channels=8, fc_channels=16)
    return rpn, head


def test_a_faster_rcnn_of_ones_own_parts_is_a_detector():
    extractor = L.Sequential(L.Convolution2D(3, 8, 3, 16, 1), F.relu)
    model = FasterRCNN(extractor, *parts(), np.full((3, 1, 1), 100), min_size=64, max_size=96)
    assert model.n_class == 4
    assert model.mean == (100, 100, 100)
    assert (model.nms_thresh, model.score_thresh) == (0.3, 0.7)
    assert_is_detection_link(model, 3)


def test_a_light_head_rcnn_takes_the_extractors_two_maps():
    settings = {"loc_normalize_mean": (0, 0, 0, 0), "loc_normalize_std": (0.1, 0.1, 0.2, 0.2)}
    model = LightHeadRCNN(TwoMaps(), *parts(), (1, 2, 3), 64, 96, **settings)
    model.use_preset("evaluate")
    assert (model.nms_thresh, model.score_thresh) == (0.5, 0.001)
    assert_is_detection_link(model, 3)
