"""What a Faster R-CNN on a pyramid is trained with: the network and its losses as one link."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.transfer import on_host
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.loss.batch_part import AbstractBatchLoss, as_batch_mean, batch_divisor
from cvzoo.geometry.coding import encode_bbox
from cvzoo.links.chain import Chain
from cvzoo.links.model.check_objects import check_objects
from cvzoo.links.model.faster_rcnn.train_chain import reported_sum
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN
from cvzoo.links.model.faster_rcnn_fpn.region_network import RegionNetwork
from cvzoo.links.model.faster_rcnn_fpn.sampling import (
    SampledRegions,
    Truth,
    check_share,
    sample_anchors,
    sample_regions,
    truths,
)
from cvzoo.links.model.retinanet.targets import AnchorRows
from cvzoo.typing.aliases import Array

# Number of input sizes with cached anchors: multi-scale training reuses a few sizes
_KEPT = 16


class RegionSampling(NamedTuple):
    """How anchors and regions of each image are sampled for training.

    n_anchor, anchor_share: number of anchors, and maximum fraction of positive ones (IoU of at least anchor_positive;
        background is below anchor_negative)
    n_region, region_share, region_thresh: likewise for regions
    n_proposal: number of proposals that regions are sampled from
    beta: smooth L1 is quadratic below it
    """

    n_anchor: int = 256
    anchor_share: float = 0.5
    anchor_positive: float = 0.7
    anchor_negative: float = 0.3
    n_region: int = 512
    region_share: float = 0.25
    region_thresh: float = 0.5
    n_proposal: int = 2000
    beta: float = 1 / 9


class RegionLosses:
    """Losses of `RegionNetwork`s of one kind; caches the sorted anchors of recent input sizes.

    Raises ValueRangeError for an invalid sampling.
    """

    def __init__(self, sampling: RegionSampling):
        check_share(sampling.n_anchor, sampling.anchor_share)
        check_share(sampling.n_region, sampling.region_share)
        if sampling.beta <= 0 or sampling.n_proposal < 1 or not 0 < sampling.region_thresh <= 1:
            raise ValueRangeError("RegionSampling: beta, n_proposal and region_thresh must be positive", got=sampling)
        self.sampling = sampling
        self._rows: dict[tuple[int, int], AnchorRows] = {}

    def __call__(
        self, network: RegionNetwork, x: Variable | Array, objects: Sequence[Truth]
    ) -> tuple[dict[str, Variable], tuple[Variable, ...], list[SampledRegions]]:
        """The losses rpn_loc, rpn_conf, loc and conf; the maps; and the regions of each image, for further heads."""
        s = self.sampling
        size = (x.shape[2], x.shape[3])
        maps = network(x)
        locs, confs = network.rpn(maps)
        losses = self._first(network, locs, confs, size, objects)
        outputs = on_host([each.array for each in (*locs, *confs)])
        arrays = outputs[: len(locs)], outputs[len(locs) :]
        proposals = network.proposals(*arrays, size, [size] * len(objects), s.n_proposal)
        sampled = [
            sample_regions(bbox, truth, n=s.n_region, share=s.region_share, thresh=s.region_thresh)
            for bbox, truth in zip(proposals, objects)
        ]
        losses.update(self._second(network, maps, sampled, objects))
        return losses, maps, sampled

    def _first(
        self,
        network: RegionNetwork,
        locs: list[Variable],
        confs: list[Variable],
        size: tuple[int, int],
        objects: Sequence[Truth],
    ) -> dict[str, Variable]:
        s, rows = self.sampling, self._anchor_rows(network, size)
        places, flags, bboxes = [], [], []
        for i, truth in enumerate(objects):
            index, positive, bbox = sample_anchors(
                rows,
                truth,
                n=s.n_anchor,
                share=s.anchor_share,
                positive=s.anchor_positive,
                negative=s.anchor_negative,
            )
            places.append(index + i * len(rows))
            flags.append(positive)
            bboxes.append(bbox)
        place, positive, bbox = np.concatenate(places), np.concatenate(flags), np.concatenate(bboxes)
        anchor = rows.anchors[place[positive] % len(rows)]
        conf = F.reshape(F.concat(confs, axis=1), (-1,))[place]
        code = F.reshape(F.concat(locs, axis=1), (-1, 4))[place[positive]]
        return {
            "rpn_loc": F.smooth_l1(code, encode_bbox(bbox, anchor), beta=s.beta, reduce="sum")
            / batch_divisor(len(place)),
            "rpn_conf": as_batch_mean(F.sigmoid_cross_entropy(conf, positive.astype(np.int32)), len(place)),
        }

    def _second(
        self, network: RegionNetwork, maps: Sequence[Variable], sampled: list[SampledRegions], objects: Sequence[Truth]
    ) -> dict[str, Variable]:
        s, settings = self.sampling, network.settings
        bbox, image = joined(sampled)
        label = np.concatenate([each.label for each in sampled])
        loc, conf = network.box_head(network.regions(maps, bbox, image, settings.roi_size))
        n_fg_class = conf.shape[1] - 1
        positive = np.flatnonzero(label > 0)
        truth = np.concatenate([each.bbox[part.match[part.match >= 0]] for each, part in zip(objects, sampled)])
        code = F.reshape(loc, (-1, 4))[positive * n_fg_class + label[positive] - 1]
        target = encode_bbox(truth, bbox[positive], std=settings.loc_std)
        return {
            "loc": F.smooth_l1(code, target, beta=s.beta, reduce="sum") / batch_divisor(len(label)),
            "conf": as_batch_mean(F.softmax_cross_entropy(conf, label), len(label)),
        }

    def _anchor_rows(self, network: RegionNetwork, size: tuple[int, int]) -> AnchorRows:
        rows = self._rows.pop(size, None)
        if rows is None:
            rows = AnchorRows(network.level_proposals.anchors.boxes(size))
            if len(self._rows) >= _KEPT:
                del self._rows[next(iter(self._rows))]
        self._rows[size] = rows  # the most recently used is last
        return rows


def joined(sampled: Sequence[SampledRegions], *, positive: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """bbox (N, 4) float32 and image (N,) int32 of the regions of all images; positive: of positive ones only."""
    parts = [each.bbox[each.match >= 0] if positive else each.bbox for each in sampled]
    image = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part in parts])
    return np.concatenate(parts), image


class FasterRCNNFPNLoss(AbstractBatchLoss, Chain):
    """Training loss of Faster R-CNN with FPN, a scalar: `FasterRCNNFPNLoss(model)(x, bboxes, labels)`.

    model: the network
    sampling: of anchors and regions

    The sum of four losses, each a mean over the samples of the whole batch; both stages are trained end to end.
    Reports loss, loss/rpn_loc, loss/rpn_conf, loss/loc and loss/conf.
    Source: Ren et al., Faster R-CNN, 2015, section 3.1.2; hyperparameters as in Lin et al., Feature Pyramid Networks,
    2017, and Detectron.
    """

    def __init__(self, model: FasterRCNNFPN, *, sampling: RegionSampling = RegionSampling()):  # noqa: B008, it is frozen
        self._losses = RegionLosses(sampling)
        with self.init_scope():
            self.model = model

    def forward(
        self,
        x: Variable | Array,
        bboxes: Sequence[np.ndarray],
        labels: Sequence[np.ndarray],
        ignored: Sequence[np.ndarray] | None = None,
    ) -> Variable:
        """The loss, a scalar.

        x: (B, 3, H, W) float32, preprocessed
        bboxes, labels: of each image (R, 4) float32, pixels of x, and (R,) int32
        ignored: of each image (R,) bool, True for crowds and difficult objects: anchors and regions on them are ignored
        Raises ShapeError if there is not one element per image.
        What `check_objects` raises.
        """
        check_objects(type(self).__name__, bboxes, labels, self.model.n_fg_class)
        losses, _, _ = self._losses(self.model.regions, x, truths(bboxes, labels, ignored))
        return reported(losses, self)


def reported(losses: dict[str, Variable], link: Chain) -> Variable:
    """The sum of the losses; it and each of them are reported."""
    return reported_sum({f"loss/{name}": each for name, each in losses.items()}, link)
