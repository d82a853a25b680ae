"""Base class of the two-stage detectors on one feature map."""

import abc
import dataclasses
from collections.abc import Sequence

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.detection import Scoring, frame
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.interface import State
from cvzoo.functions.activation.softmax import softmax
from cvzoo.functions.array.dtypes import widened
from cvzoo.links.link import Link
from cvzoo.links.model.config import AbstractConfig, classes_field, config_field, resized_field
from cvzoo.links.model.decoding.abstract import FinishedBoxes, Found, only_found
from cvzoo.links.model.decoding.regions import HeadOutputs, Regions
from cvzoo.links.model.detector import AbstractDetector, Preset
from cvzoo.links.model.faster_rcnn.region_proposal_network import ProposalCreator, RegionProposalNetwork
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
from cvzoo.typing.aliases import Array

Four = tuple[float, float, float, float]


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractFasterRCNNConfig(AbstractConfig):
    """The fields of all Faster R-CNNs on one map."""

    n_fg_class: int = classes_field()
    min_size: int = resized_field(help="length of the resized image's short side")
    max_size: int = resized_field(help="most that the resized image's long side may have")
    ratios: tuple[float, ...] = config_field(help="heights over widths of the anchors", above=0)
    anchor_scales: tuple[float, ...] = config_field(help="sides of the anchors", unit="strides", above=0)
    proposal_creator: ProposalCreator = config_field(help="selects the region proposals", adjustable=True)


class AbstractFasterRCNN(AbstractDetector, abc.ABC):
    """Base class of two-stage detectors on one map; a subclass makes `rpn` and `head`, and implements `features`.

    rpn: a `RegionProposalNetwork`
    head: from (map, rois, roi_indices) to (R, n_class * 4) offsets of each class, and (R, n_class) logits
    mean: three numbers, subtracted from RGB in [0, 255]
    min_size, max_size: the short side is resized to min_size, unless the long side would exceed max_size
    loc_normalize_mean, loc_normalize_std: the head's outputs times std plus mean are the offsets
    """

    presets = {"visualize": Preset(0.3, 0.7), "evaluate": Preset(0.3, 0.05)}
    # py-faster-rcnn's PIXEL_MEANS, in RGB order
    mean: tuple[float, float, float] = (122.7717, 115.9465, 102.9801)
    loc_normalize_mean: Four = (0.0, 0.0, 0.0, 0.0)
    loc_normalize_std: Four = (0.1, 0.1, 0.2, 0.2)
    min_size: int
    max_size: int
    n_fg_class: int
    rpn: RegionProposalNetwork
    head: Link

    @abc.abstractmethod
    def features(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """The feature maps of the region proposal network and of the head, for x (B, 3, H, W)."""

    @property
    def n_class(self) -> int:
        """The number of classes with the background."""
        return self.n_fg_class + 1

    @property
    def proposal_creator(self) -> ProposalCreator:
        """What keeps the best regions."""
        return self.rpn.proposal_creator

    @property
    def preparation(self) -> ResizeShortestEdge:
        """A resize, then subtraction of `mean`."""
        return ResizeShortestEdge(self.min_size, self.max_size, sides="chainercv", one_scale=True, mean=self.mean)

    @property
    def decoding(self) -> Regions:
        """The decoding of the head's outputs."""
        return Regions(n_class=self.n_fg_class, std=self.loc_normalize_std, mean=self.loc_normalize_mean)

    def forward(
        self, x: Variable | Array, scales: float | Sequence[float] = 1.0
    ) -> tuple[Variable, Variable, np.ndarray, np.ndarray]:
        """(roi_cls_locs (R, n_class * 4), roi_scores (R, n_class), rois (R, 4), roi_indices (R,)).

        x: (B, 3, H, W), preprocessed
        scales: the scale of each image in the network's input, one number or one per image
        The first class is the background; regions are in pixels of x.
        """
        for_rpn, for_head = self.features(x)
        _, _, rois, roi_indices, _ = self.rpn(for_rpn, x.shape[2:], scales)
        roi_cls_locs, roi_scores = self.head(for_head, rois, roi_indices)
        return roi_cls_locs, roi_scores, rois, roi_indices

    def find(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> list[Found]:
        """bbox (R, 4), label (R,), score (R,) of each image with scores above `score_thresh`, clipped to the image."""
        outputs, frames = self._second_stage(x, sizes)
        boxes = []
        for each in outputs:
            candidates = self._candidates(each, frames[each.batch.images])
            boxes += [Found(*one) for one in backend_of(each.loc).candidate_boxes(candidates)]
        return boxes

    def finished_boxes(self, x: Variable | Array, sizes: Sequence[tuple[int, int]]) -> FinishedBoxes:
        """As in `AbstractDetector`."""
        outputs, frames = self._second_stage(x, sizes)

        def again(i: int) -> Found:
            here = self._finished(outputs[0].image_on_host(i), _image_frames(sizes[i : i + 1]))
            return only_found(here)

        return FinishedBoxes([self._finished(each, frames[each.batch.images]) for each in outputs], again)

    def _second_stage(self, x: Variable | Array, sizes: Sequence[tuple[int, int]]) -> tuple[list[HeadOutputs], Array]:
        """The head's outputs for the proposals, in pixels of the images; and the images' frames on x's device."""
        scales = [x.shape[3] / width for _, width in sizes]
        for_rpn, for_head = self.features(x)
        proposals = self.rpn.propose(for_rpn, (x.shape[2], x.shape[3]), scales)
        factors = np.asarray(scales, np.float32)[:, None, None]
        frames, factors = backend_of(proposals.bbox).upload([_image_frames(sizes), factors])
        outputs = []
        for batch in proposals.batches():
            b, n, _ = batch.proposals.bbox.shape
            maps = Variable(for_head.array[batch.images], requires_grad=False)
            locs, scores = self.head(maps, batch.bbox, batch.image_index)
            bbox = batch.proposals.bbox / factors[batch.images]
            batch = batch._replace(proposals=batch.proposals._replace(bbox=bbox))
            locs = widened(locs).array.reshape(b, n, self.n_class, 4)
            outputs.append(HeadOutputs(batch, locs[:, :, 1:], widened(scores).array.reshape(b, n, self.n_class)))
        return outputs, frames

    def _candidates(self, outputs: HeadOutputs, frames: Array) -> State:
        batch, loc, conf = outputs
        scoring = Scoring.SOFTMAX
        if not batch.is_padded:
            conf, scoring = softmax(conf[0]).array[None, :, 1:], Scoring.NONE
        return self.decoding.candidates(
            batch.proposals, loc, conf, frames=frames, score_thresh=self.score_thresh, scoring=scoring
        )

    def _finished(self, outputs: HeadOutputs, frames: Array) -> Array:
        """(B, N) float32 for `unpacked_boxes`."""
        backend = backend_of(outputs.loc)
        candidates = self._candidates(outputs, frames)
        kept = backend.nms(candidates, iou_thresh=self.nms_thresh, limit=self.limit)
        return backend.finish_boxes(kept, frames=frames, cut=self.clip)


def _image_frames(sizes: Sequence[tuple[int, int]]) -> np.ndarray:
    """(B, 11) float32: boxes are in the images' pixels already, and are clipped to them."""
    return np.stack([frame(size, cut=size) for size in sizes])
