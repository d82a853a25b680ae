"""Two-stage detectors composed of a backbone, a region proposal network and a head."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.links.link import Link
from cvzoo.links.model.detector import Preset
from cvzoo.links.model.faster_rcnn.abstract_faster_rcnn import AbstractFasterRCNN, Four
from cvzoo.links.model.faster_rcnn.region_proposal_network import RegionProposalNetwork
from cvzoo.typing.aliases import Array

Mean = float | Sequence[float] | np.ndarray


class FasterRCNN(AbstractFasterRCNN):
    """Faster R-CNN from a custom backbone, region proposal network and head (Ren et al., 2015).

    extractor: a backbone, from x (B, 3, H, W) to a feature map, or a tuple of one
    rpn: proposes regions from it
    head: from (feature map, rois, roi_indices) to offsets and scores, see `AbstractFasterRCNN`; has `n_class`
    mean: what is subtracted from an image, RGB in [0, 255]: a number, three, or (3, 1, 1)
    min_size, max_size, loc_normalize_mean, loc_normalize_std: see `AbstractFasterRCNN`

    `save_model` does not support it, since it has no config; `save_npz` saves its parameters.
    Source: Ren et al., Faster R-CNN, 2015; arguments as in ChainerCV's class of this name.
    """

    def __init__(
        self,
        extractor: Link,
        rpn: RegionProposalNetwork,
        head: Link,
        mean: Mean,
        min_size: int = 600,
        max_size: int = 1000,
        loc_normalize_mean: Four = (0.0, 0.0, 0.0, 0.0),
        loc_normalize_std: Four = (0.1, 0.1, 0.2, 0.2),
    ):
        with self.init_scope():
            self.extractor, self.rpn, self.head = extractor, rpn, head
        _set_numbers(self, mean, (min_size, max_size), loc_normalize_mean, loc_normalize_std)

    def features(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """The extractor's feature map of x (B, 3, H, W), twice."""
        h = self.extractor(x)
        h = h[0] if isinstance(h, tuple) else h
        return h, h


class LightHeadRCNN(AbstractFasterRCNN):
    """Light-Head R-CNN from a custom backbone, region proposal network and head (Li et al., 2017).

    extractor: a backbone, from x (B, 3, H, W) to two feature maps: that of the proposals and that of the head
    all others: as in `FasterRCNN`

    Source: Li et al., Light-Head R-CNN, 2017; arguments as in ChainerCV's class of this name.
    """

    presets = {"visualize": Preset(0.5, 0.7), "evaluate": Preset(0.5, 0.001)}

    def __init__(
        self,
        extractor: Link,
        rpn: RegionProposalNetwork,
        head: Link,
        mean: Mean,
        min_size: int,
        max_size: int,
        loc_normalize_mean: Four,
        loc_normalize_std: Four,
    ):
        with self.init_scope():
            self.extractor, self.rpn, self.head = extractor, rpn, head
        _set_numbers(self, mean, (min_size, max_size), loc_normalize_mean, loc_normalize_std)

    def features(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """The extractor's two feature maps of x (B, 3, H, W)."""
        for_rpn, for_head = self.extractor(x)
        return for_rpn, for_head


def _set_numbers(
    model: FasterRCNN | LightHeadRCNN,
    mean: Mean,
    sides: tuple[int, int],
    loc_normalize_mean: Four,
    loc_normalize_std: Four,
) -> None:
    head: Any = model.head
    model.n_fg_class = head.n_class - 1
    r, g, b = np.broadcast_to(np.ravel(np.asarray(mean, np.float32)), (3,)).tolist()
    model.mean = (r, g, b)
    model.min_size, model.max_size = sides
    model.loc_normalize_mean, model.loc_normalize_std = (*loc_normalize_mean,), (*loc_normalize_std,)
    model.use_preset("visualize")
