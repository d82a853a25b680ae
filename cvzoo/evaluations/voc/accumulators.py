"""Streaming Pascal VOC evaluation: update by batches, merge the states of workers, compute at the end."""

import abc
from collections.abc import Iterable

import numpy as np

from cvzoo.errors.exceptions import ConfigError, ShapeError, ValueRangeError
from cvzoo.evaluations.instances import same_length
from cvzoo.evaluations.voc.average_precision import VOC07_RECALLS
from cvzoo.evaluations.voc.matches import VOCMatches, match_voc_bboxes, match_voc_masks
from cvzoo.evaluations.voc.result import VOCResult
from cvzoo.geometry.rle import RLEs
from cvzoo.typing.aliases import ArrayLike


class AbstractVOCAccumulator(abc.ABC):
    """The state of a streaming evaluation: a few numbers per detection, independent of the size of images.

    Images are numbered in order. Workers that share a data set pass `indices`, the indices of their images in the data
    set, to every `update`: then any split gives the same bits, and a repeated image is an error.
    """

    def __init__(self, *, iou_thresh: float = 0.5, n_fg_class: int | None = None) -> None:
        self.iou_thresh = iou_thresh
        self.n_fg_class = n_fg_class
        self._parts: list[VOCMatches] = []
        self._seen: set[int] = set()  # the indices given; empty if images are numbered as they come
        self._n_photo = 0

    def merge(self, other: "AbstractVOCAccumulator") -> None:
        """Adds the images of another accumulator of the same settings, after the own ones unless they have indices.

        Raises ConfigError if the settings differ, ValueRangeError if an image was seen by both.
        """
        if type(other) is not type(self) or self._settings() != other._settings():
            raise ConfigError(
                "accumulators of different settings cannot be merged", expected=repr(self), got=repr(other)
            )
        # indices decide ties of scores by the order of the data set: given and consecutive ones cannot be mixed
        self._check_numbering(bool(other._seen), other._n_photo)
        self._note_seen(other._seen)
        shift = 0 if other._seen else self._n_photo
        self._parts += [_shifted(part, shift) for part in other._parts]
        self._n_photo += other._n_photo

    def compute(self, *, use_07_metric: bool = False, recalls: ArrayLike = VOC07_RECALLS) -> VOCResult:
        """The result for all images so far; see `eval_detection_voc`."""
        matches = VOCMatches.join(self._parts)
        self._parts = [matches]
        return VOCResult.of(matches, n_fg_class=self.n_fg_class, use_07_metric=use_07_metric, recalls=recalls)

    def __len__(self) -> int:
        return self._n_photo

    @abc.abstractmethod
    def _settings(self) -> tuple[object, ...]:
        """The settings in which two accumulators must agree to be merged."""

    def _add(self, matches: VOCMatches, indices: ArrayLike | None) -> None:
        n = matches.n_photo
        self._check_numbering(indices is not None, n)
        if indices is None:
            matches = _shifted(matches, self._n_photo)
        else:
            indices = np.asarray(indices)
            if indices.shape != (n,) or indices.dtype.kind not in "iu":
                raise ShapeError("indices must be one integer per image", expected=(n,), got=indices.shape)
            numbers = set(indices.tolist())
            if len(numbers) < n:
                raise ValueRangeError("indices must not repeat an image", got=indices.tolist())
            self._note_seen(numbers)
            matches = VOCMatches(
                indices.astype(np.int64)[matches.image],
                matches.label,
                matches.score,
                matches.match,
                matches.n_positive,
                n,
            )
        self._parts.append(matches)
        self._n_photo += n

    def _check_numbering(self, indexed: bool, n: int) -> None:
        if n and self._n_photo and indexed != bool(self._seen):
            raise ConfigError("indices must be given with every update or with none")

    def _note_seen(self, numbers: set[int]) -> None:
        twice = self._seen & numbers
        if twice:
            raise ValueRangeError(f"image {min(twice)} was counted already", hint="each image once, without padding")
        self._seen |= numbers


class DetectionVOCAccumulator(AbstractVOCAccumulator):
    """Streaming `eval_detection_voc`.

    iou_thresh, plus, n_fg_class: see there
    """

    def __init__(self, *, iou_thresh: float = 0.5, plus: int = 1, n_fg_class: int | None = None) -> None:
        super().__init__(iou_thresh=iou_thresh, n_fg_class=n_fg_class)
        self.plus = plus

    def update(
        self,
        pred_bboxes: Iterable[ArrayLike],
        pred_labels: Iterable[ArrayLike],
        pred_scores: Iterable[ArrayLike],
        gt_bboxes: Iterable[ArrayLike],
        gt_labels: Iterable[ArrayLike],
        gt_difficults: Iterable[ArrayLike] | None = None,
        *,
        indices: ArrayLike | None = None,
    ) -> None:
        """Count B more images; the arguments are those of `eval_detection_voc`.

        indices: (B,) int, the images' places in the data set. Errors count images from the first of this call.
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

    def _settings(self) -> tuple[object, ...]:
        return self.iou_thresh, self.n_fg_class, self.plus

    def __repr__(self) -> str:
        return f"DetectionVOCAccumulator(iou_thresh={self.iou_thresh}, plus={self.plus}, n_fg_class={self.n_fg_class})"


class InstanceSegmentationVOCAccumulator(AbstractVOCAccumulator):
    """Streaming `eval_instance_segmentation_voc`.

    iou_thresh, n_fg_class: see there
    """

    def update(
        self,
        pred_masks: Iterable[ArrayLike | RLEs],
        pred_labels: Iterable[ArrayLike],
        pred_scores: Iterable[ArrayLike],
        gt_masks: Iterable[ArrayLike | RLEs],
        gt_labels: Iterable[ArrayLike],
        gt_difficults: Iterable[ArrayLike] | None = None,
        *,
        indices: ArrayLike | None = None,
    ) -> None:
        """Count B more images; the arguments are those of `eval_instance_segmentation_voc`.

        indices: (B,) int, the images' places in the data set. Errors count images from the first of this call.
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

    def _settings(self) -> tuple[object, ...]:
        return self.iou_thresh, self.n_fg_class

    def __repr__(self) -> str:
        return f"InstanceSegmentationVOCAccumulator(iou_thresh={self.iou_thresh}, n_fg_class={self.n_fg_class})"


def _shifted(matches: VOCMatches, shift: int) -> VOCMatches:
    return VOCMatches(
        matches.image + shift, matches.label, matches.score, matches.match, matches.n_positive, matches.n_photo
    )
