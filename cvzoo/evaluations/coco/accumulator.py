"""Streaming COCO evaluation, on one worker or on many."""

import abc
import dataclasses

import numpy as np

from cvzoo.errors.exceptions import ConfigError, ShapeError
from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.evaluations.coco.evaluate import match_coco, result_of_matches
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.matches import COCOMatches, join_matches, no_matches
from cvzoo.evaluations.coco.parameters import COCOParameters, IoUType
from cvzoo.evaluations.coco.result import COCOResult
from cvzoo.evaluations.coco.summary_by_key import summary_by_key
from cvzoo.typing.aliases import Array, ArrayLike


class AbstractCOCOAccumulator(abc.ABC):
    """The state of a streaming evaluation: some 40 bytes per detection, independent of the size of images and masks.

    The image id breaks ties of equal scores. Without ids, images are numbered from 1 in order; workers that merge their
    states must pass ids. The merged result has the same bits for every distribution of the images to workers and every
    order, as long as their ids are the same.
    """

    @property
    @abc.abstractmethod
    def iou_type(self) -> IoUType:
        """The kind of IoU: "bbox", "segm" or "keypoints"."""

    def __init__(self, parameters: COCOParameters | None) -> None:
        parameters = COCOParameters(iou_type=self.iou_type) if parameters is None else parameters
        if parameters.iou_type != self.iou_type:
            raise ConfigError(
                "the parameters have a different iou_type", expected=self.iou_type, got=parameters.iou_type
            )
        if parameters.img_ids is not None or parameters.cat_ids is not None:
            raise ConfigError("an accumulator evaluates all images and classes", hint="leave img_ids and cat_ids out")
        self.parameters = parameters
        self._parts: list[COCOMatches] = []
        self._n_photos, self._areas_given = 0, True

    def merge(self, other: "AbstractCOCOAccumulator") -> None:
        """Adds the images of another accumulator of the same class.

        Raises ConfigError if its parameters differ, ValueRangeError if both have an image of the same id.
        """
        if type(other) is not type(self) or not self.parameters.same_as(other.parameters):
            raise ConfigError("accumulators of different classes or parameters cannot be merged")
        self._parts = [join_matches([*self._parts, *other._parts])] if self._parts or other._parts else []
        self._n_photos += other._n_photos
        self._areas_given &= other._areas_given

    def shift_ids(self, n: int) -> None:
        """Adds n to the images' ids: a worker that has n images before it numbers its own from 1 and shifts them."""
        self._parts = [
            dataclasses.replace(part, img_ids=part.img_ids + n, image_id=part.image_id + n) for part in self._parts
        ]

    def __len__(self) -> int:
        return self._n_photos

    def result(self) -> COCOResult:
        """The result of the images so far; its classes are the labels that occur, of objects or of detections."""
        matches = self._matches()
        return result_of_matches(matches, self.parameters, cat_names={})

    def compute(self) -> dict:
        """The result of the images so far as a dictionary under ChainerCV's keys (see `eval_detection_coco`)."""
        return summary_by_key(self.result(), areas=self._areas_given)

    @property
    def nbytes(self) -> int:
        """The size of the state in bytes."""
        return sum(part.nbytes for part in self._parts)

    def _matches(self) -> COCOMatches:
        if not self._parts:
            parameters = self.parameters
            return no_matches(parameters.iou_thrs.size, len(parameters.area_rng), np.zeros(0, np.int64))
        # joined parts stay joined: the next result costs only what was added since
        self._parts = [join_matches(self._parts)]
        return self._parts[0]

    def _add(self, gt: COCOGroundTruth, dt: COCODetections) -> None:
        self._parts.append(match_coco(gt, dt, self.parameters))

    def _next_ids(self, n: int, img_ids: ArrayLike | None) -> Array:
        if img_ids is None:
            ids = np.arange(self._n_photos + 1, self._n_photos + n + 1)
        else:
            ids = np.asarray(img_ids, np.int64)
            if ids.shape != (n,):
                raise ShapeError("img_ids holds an id for each image", expected=(n,), got=ids.shape)
        self._n_photos += n
        return ids
