"""The masks of regions."""

import numpy as np

from cvzoo.config.switches import no_backprop_mode
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskHead, MaskHeadSettings


def test_a_network_that_is_very_sure_gives_nought_and_one_without_a_warning():
    head = MaskHead(4, 2, MaskHeadSettings())
    head.out.W.array[...] = 0
    head.out.b.array[...] = [-200, 200]
    with no_backprop_mode():
        probs = head.probabilities(np.zeros((2, 4, 14, 14), np.float32), np.array([0, 1]))
    assert probs[0].max() == 0
    assert probs[1].min() == 1
