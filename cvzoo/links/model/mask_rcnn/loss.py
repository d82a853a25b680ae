"""Training loss of Mask R-CNN."""

from collections.abc import Sequence

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.loss.batch_part import AbstractBatchLoss, as_batch_mean
from cvzoo.functions.roi.roi_average_pooling_2d import roi_average_align_2d
from cvzoo.geometry.rle import RLEs
from cvzoo.links.chain import Chain
from cvzoo.links.model.check_objects import check_objects
from cvzoo.links.model.faster_rcnn_fpn.loss import RegionLosses, RegionSampling, joined, reported
from cvzoo.links.model.faster_rcnn_fpn.sampling import SampledRegions, truths
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskRCNNFPN
from cvzoo.typing.aliases import Array


class MaskRCNNFPNLoss(AbstractBatchLoss, Chain):
    """Training loss of Mask R-CNN with FPN, a scalar: `MaskRCNNFPNLoss(model)(x, bboxes, labels, masks)`.

    model: the network
    sampling: of anchors and regions; the mask loss is computed on positive regions

    Reports loss, loss/rpn_loc, loss/rpn_conf, loss/loc, loss/conf and loss/mask.
    Source: He et al., Mask R-CNN, 2017, section 3: the mean cross entropy over the pixels of the true class's mask.
    """

    def __init__(self, model: MaskRCNNFPN, *, sampling: RegionSampling = RegionSampling()):  # noqa: B008, it is frozen
        self._losses = RegionLosses(sampling)
        with self.init_scope():
            self.model = model

    def forward(
        self,
        x: Variable | Array,
        bboxes: Sequence[np.ndarray],
        labels: Sequence[np.ndarray],
        masks: Sequence[np.ndarray | RLEs],
        ignored: Sequence[np.ndarray] | None = None,
    ) -> Variable:
        """The loss, a scalar.

        x, bboxes, labels, ignored: as in `FasterRCNNFPNLoss`
        masks: of each image (R, H, W) bool, pixels of x without its padding, or RLEs of such
        Raises ShapeError if there is not one element per image, or not one mask a box.
        What `check_objects` raises.
        """
        check_objects(type(self).__name__, bboxes, labels, self.model.n_fg_class)
        objects = truths(bboxes, labels, ignored)
        if [len(each) for each in masks] != [len(each.label) for each in objects]:
            raise ShapeError("MaskRCNNFPNLoss: masks must have one element per box", got=[len(each) for each in masks])
        losses, maps, sampled = self._losses(self.model.regions, x, objects)
        losses["mask"] = self._mask_loss(maps, sampled, masks)
        return reported(losses, self)

    def _mask_loss(
        self, maps: Sequence[Variable], sampled: list[SampledRegions], masks: Sequence[np.ndarray | RLEs]
    ) -> Variable:
        model = self.model
        bbox, image = joined(sampled, positive=True)
        label = np.concatenate([each.label[each.match >= 0] for each in sampled]) - 1
        size = model.mask_settings.roi_size
        score = model.mask_head(model.regions.regions(maps, bbox, image, size))
        of_class = F.reshape(score, (-1, 2 * size, 2 * size))[np.arange(len(label)) * score.shape[1] + label]
        target = [
            mask_targets(mask, each.bbox[each.match >= 0], each.match[each.match >= 0], 2 * size)
            for mask, each in zip(masks, sampled)
        ]
        return as_batch_mean(F.sigmoid_cross_entropy(of_class, np.concatenate(target)), len(label))


def mask_targets(masks: np.ndarray | RLEs, bbox: np.ndarray, match: np.ndarray, size: int) -> np.ndarray:
    """(N, size, size) int32: the target masks: 1 where at least half of a cell belongs to the object.

    masks: (R, H, W) bool of an image, pixels of the network's input, or RLEs of such
    bbox: (N, 4) float32, regions; match: (N,) int, the index of each region's object
    Raises ShapeError if masks are not (R, H, W).
    """
    target = np.zeros((len(bbox), size, size), np.int32)
    for r in np.unique(match):
        mask = masks[int(r)].to_masks()[0] if isinstance(masks, RLEs) else np.asarray(masks)[r]
        if mask.ndim != 2:
            raise ShapeError("masks must be (R, H, W)", got=(len(masks), *mask.shape))
        index = np.flatnonzero(match == r)
        x = mask[None, None].astype(np.float32)
        cover = roi_average_align_2d(x, bbox[index], np.zeros(len(index), np.int32), size, 1.0, None, aligned=True)
        target[index] = cover.array[:, 0] >= 0.5
    return target
