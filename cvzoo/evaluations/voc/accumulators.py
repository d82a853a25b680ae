"""Pascal VOC's scoring as it goes: feed photos in batches, merge the states of workers, compute at the end."""

import abc

import numpy as np

from cvzoo.errors.exceptions import ConfigError, ShapeError, ValueRangeError
from cvzoo.evaluations.photos import same_length
from cvzoo.evaluations.voc.average_precision import VOC07_RECALLS
from cvzoo.evaluations.voc.matches import VOCMatches, match_voc_bboxes, match_voc_masks
from cvzoo.evaluations.voc.result import VOCResult


class AbstractVOCAccumulator(abc.ABC):
    """Holds a few numbers a detection, whatever the photos' size.

    Photos are numbered as they come. Where workers take turns, let each give `indices`, the places of its photos in
    the data set, to every `update`: then any split gives the same bits, and a photo that comes twice is an error.
    """

    def __init__(self, *, iou_thresh=0.5, n_fg_class=None):
        self.iou_thresh = iou_thresh
        self.n_fg_class = n_fg_class
        self._parts = []
        self._seen = set()  # the indices given; empty if photos are numbered as they come
        self._n_photo = 0

    def merge(self, other) -> None:
        """Add what another accumulator of the same settings has seen; its photos come behind unless indexed.

        Raises ConfigError if the settings differ, ValueRangeError if a photo was seen by both.
        """
        if type(other) is not type(self) or self._settings() != other._settings():
            raise ConfigError("accumulators of different settings do not merge", expected=repr(self), got=repr(other))
        self._check_numbering(bool(other._seen), other._n_photo)
        self._note_seen(other._seen)
        shift = 0 if other._seen else self._n_photo
        self._parts += [_shifted(part, shift) for part in other._parts]
        self._n_photo += other._n_photo

    def compute(self, *, use_07_metric=False, recalls=VOC07_RECALLS) -> VOCResult:
        """The result for all photos so far; see `eval_detection_voc`."""
        matches = VOCMatches.join(self._parts)
        self._parts = [matches]
        return VOCResult.of(matches, n_fg_class=self.n_fg_class, use_07_metric=use_07_metric, recalls=recalls)

    def __len__(self):
        return self._n_photo

    @abc.abstractmethod
    def _settings(self):
        """What two accumulators must share to be merged."""

    def _add(self, matches: VOCMatches, indices):
        n = matches.n_photo
        self._check_numbering(indices is not None, n)
        if indices is None:
            matches = _shifted(matches, self._n_photo)
        else:
            indices = np.asarray(indices)
            if indices.shape != (n,) or indices.dtype.kind not in "iu":
                raise ShapeError("indices must be one integer a photo", expected=(n,), got=indices.shape)
            numbers = set(indices.tolist())
            if len(numbers) < n:
                raise ValueRangeError("a photo is twice among the indices", got=indices.tolist())
            self._note_seen(numbers)
            matches = VOCMatches(
                indices.astype(np.int64)[matches.photo],
                matches.label,
                matches.score,
                matches.match,
                matches.n_positive,
                n,
            )
        self._parts.append(matches)
        self._n_photo += n

    def _check_numbering(self, indexed, n):
        if n and self._n_photo and indexed != bool(self._seen):
            raise ConfigError("give indices with every update or with none")

    def _note_seen(self, numbers):
        twice = self._seen & numbers
        if twice:
            raise ValueRangeError(f"photo {min(twice)} was counted already", hint="each photo once, without padding")
        self._seen |= numbers


class DetectionVOCAccumulator(AbstractVOCAccumulator):
    """Streaming `eval_detection_voc`.

    iou_thresh, plus, n_fg_class: see there
    """

    def __init__(self, *, iou_thresh=0.5, plus=1, n_fg_class=None):
        super().__init__(iou_thresh=iou_thresh, n_fg_class=n_fg_class)
        self.plus = plus

    def update(
        self, pred_bboxes, pred_labels, pred_scores, gt_bboxes, gt_labels, gt_difficults=None, *, indices=None
    ) -> None:
        """Count B more photos; the arguments are those of `eval_detection_voc`.

        indices: (B,) int, the photos' places in the data set. Errors count photos from the first of this call.
        """
        columns = {
            "pred_bboxes": pred_bboxes,
            "pred_labels": pred_labels,
            "pred_scores": pred_scores,
            "gt_bboxes": gt_bboxes,
            "gt_labels": gt_labels,
        }
        if gt_difficults is not None:
            columns["gt_difficults"] = gt_difficults
        self._add(match_voc_bboxes(*same_length(columns), iou_thresh=self.iou_thresh, plus=self.plus), indices)

    def _settings(self):
        return self.iou_thresh, self.n_fg_class, self.plus

    def __repr__(self):
        return f"DetectionVOCAccumulator(iou_thresh={self.iou_thresh}, plus={self.plus}, n_fg_class={self.n_fg_class})"


class InstanceSegmentationVOCAccumulator(AbstractVOCAccumulator):
    """Streaming `eval_instance_segmentation_voc`.

    iou_thresh, n_fg_class: see there
    """

    def update(
        self, pred_masks, pred_labels, pred_scores, gt_masks, gt_labels, gt_difficults=None, *, indices=None
    ) -> None:
        """Count B more photos; the arguments are those of `eval_instance_segmentation_voc`.

        indices: (B,) int, the photos' places in the data set. Errors count photos from the first of this call.
        """
        columns = {
            "pred_masks": pred_masks,
            "pred_labels": pred_labels,
            "pred_scores": pred_scores,
            "gt_masks": gt_masks,
            "gt_labels": gt_labels,
        }
        if gt_difficults is not None:
            columns["gt_difficults"] = gt_difficults
        self._add(match_voc_masks(*same_length(columns), iou_thresh=self.iou_thresh), indices)

    def _settings(self):
        return self.iou_thresh, self.n_fg_class

    def __repr__(self):
        return f"InstanceSegmentationVOCAccumulator(iou_thresh={self.iou_thresh}, n_fg_class={self.n_fg_class})"


def _shifted(matches, shift):
    return VOCMatches(
        matches.photo + shift, matches.label, matches.score, matches.match, matches.n_positive, matches.n_photo
    )
