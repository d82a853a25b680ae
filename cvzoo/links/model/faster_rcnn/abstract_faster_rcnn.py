"""What detectors that propose regions and then look at them have in common."""

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.cuda.boxes import frame
from cvzoo.backends.cuda.staging import download, on_host, upload
from cvzoo.functions.activation.softmax import softmax
from cvzoo.functions.array.dtypes import widened
from cvzoo.geometry.clip_bbox import clip_bbox
from cvzoo.links.link import Link
from cvzoo.links.model.detector import AbstractDetector, Found, Preset
from cvzoo.links.model.faster_rcnn.bbox2loc import loc2bbox
from cvzoo.links.model.faster_rcnn.proposal_creator import ProposalCreator
from cvzoo.links.model.faster_rcnn.region_proposal_network import RegionProposalNetwork
from cvzoo.links.model.faster_rcnn_fpn.on_device import Proposals, decode_regions_on_device
from cvzoo.links.model.finished_boxes import DeviceBoxes, photo_numbers
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge

Four = tuple[float, float, float, float]


class AbstractFasterRCNN(AbstractDetector, abc.ABC):
    """Finds objects in two stages; a subclass makes `rpn` and `head`, and writes `features`.

    rpn: a `RegionProposalNetwork`
    head: from (map, rois, roi_indices) to (R, n_class * 4) offsets of each class, and (R, n_class) scores
    mean: three numbers, of RGB in [0, 255], that photos are less
    min_size, max_size: the short side becomes the one, unless the long side would pass the other
    loc_normalize_mean, loc_normalize_std: the head's offsets times std plus mean are the true ones
    """

    presets = {"visualize": Preset(0.3, 0.7), "evaluate": Preset(0.3, 0.05)}
    mean: tuple[float, float, float] = (122.7717, 115.9465, 102.9801)
    loc_normalize_mean: Four = (0.0, 0.0, 0.0, 0.0)
    loc_normalize_std: Four = (0.1, 0.1, 0.2, 0.2)
    min_size: int
    max_size: int
    n_fg_class: int
    rpn: RegionProposalNetwork
    head: Link

    @abc.abstractmethod
    def features(self, x: Any) -> tuple[Variable, Variable]:
        """The map that regions are proposed from, and the one that they are cut out of, of x (B, 3, H, W)."""

    @property
    def n_class(self) -> int:
        """Classes with the background."""
        return self.n_fg_class + 1

    @property
    def proposal_creator(self) -> ProposalCreator:
        """What keeps the best regions."""
        return self.rpn.proposal_creator

    @property
    def preparation(self) -> ResizeShortestEdge:  # type: ignore[override]
        """Resized, less `mean`."""
        return ResizeShortestEdge(self.min_size, self.max_size, sides="chainercv", one_scale=True, mean=self.mean)

    def forward(
        self, x: Any, scales: float | Sequence[float] = 1.0
    ) -> tuple[Variable, Variable, np.ndarray, np.ndarray]:
        """(roi_cls_locs (R, n_class * 4), roi_scores (R, n_class), rois (R, 4), roi_indices (R,)).

        x: (B, 3, H, W), prepared
        scales: the network's pixels for one of the photo, a number or one for each photo
        Classes begin with the background; regions are in pixels of x.
        """
        for_rpn, for_head = self.features(x)
        _, _, rois, roi_indices, _ = self.rpn(for_rpn, x.shape[2:], scales)
        roi_cls_locs, roi_scores = self.head(for_head, rois, roi_indices)
        return roi_cls_locs, roi_scores, rois, roi_indices

    def find(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> list[Found]:
        """bbox (R, 4), label (R,), score (R,) of each photo: what scores above `score_thresh`, inside of the photo."""
        scales = [x.shape[3] / width for _, width in sizes]
        for_rpn, for_head = self.features(x)
        _, _, rois, roi_indices, _ = self.rpn(for_rpn, x.shape[2:], scales)
        found = []
        for i, (size, scale) in enumerate(zip(sizes, scales)):
            roi = rois[roi_indices == i]
            # photo by photo: what a matrix product gives a row may depend on how many rows it has
            one = Variable(for_head.array[i : i + 1], requires_grad=False)
            locs, scores = self.head(one, roi, np.zeros(len(roi), np.int32))
            loc, prob = on_host((widened(locs).array, softmax(scores).array))
            found.append(self._decoded(roi / np.float32(scale), loc, prob, size))
        return found

    def _decoded(self, roi: np.ndarray, locs: np.ndarray, probs: np.ndarray, size: tuple[int, int]) -> Found:
        prob = probs[:, 1:]
        place, label = np.nonzero(prob > self.score_thresh)
        loc = locs.reshape(len(roi), self.n_class, 4)[place, label + 1]
        loc = loc * np.asarray(self.loc_normalize_std, np.float32) + np.asarray(self.loc_normalize_mean, np.float32)
        return clip_bbox(loc2bbox(roi[place], loc), size), label.astype(np.int32), prob[place, label]

    def boxes_on_device(self, x: Any, sizes: Sequence[tuple[int, int]]) -> DeviceBoxes | None:
        """As in `AbstractDetector`."""
        if any(self.loc_normalize_mean):
            return None  # kernels know of no mean
        scales = [x.shape[3] / width for _, width in sizes]
        for_rpn, for_head = self.features(x)
        proposals = self.rpn.on_device(for_rpn, x.shape[2:], scales)
        b, n, _ = proposals.bbox.shape
        locs, scores = self.head(for_head, proposals.bbox.reshape(-1, 4), photo_numbers(b, n))
        locs = widened(locs).array.reshape(b, n, self.n_class, 4)
        frames, factors = upload(
            [np.stack([frame(size, cut=size) for size in sizes]), np.float32(scales)[:, None, None]]
        )
        regions = decode_regions_on_device(
            Proposals(proposals.bbox / factors, proposals.counts),
            locs[:, :, 1:],
            widened(scores).array.reshape(b, n, self.n_class),
            loc_std=self.loc_normalize_std,
            score_thresh=self.score_thresh,
            frames=frames,
            min_side=-np.inf,
        )
        result = regions.suppressed(frames, nms_thresh=self.nms_thresh, limit=self.limit, clip=self.clip)

        def again(i: int) -> Found:
            roi, loc, conf, count = download(
                [regions.proposals.bbox[i], locs[i], regions.conf[i], regions.proposals.counts[i : i + 1]]
            )
            kept = slice(int(count[0]))
            prob = softmax(conf[kept]).array
            return self.finished(self._decoded(roi[kept], loc[kept], prob, sizes[i]), sizes[i])

        return DeviceBoxes(result, again)
