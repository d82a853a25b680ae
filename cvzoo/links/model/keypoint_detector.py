"""Base class of the keypoint detectors, with their predict loop."""

import abc
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.images.read_image import ImageSource
from cvzoo.links.chain import Chain
from cvzoo.links.model.detections import kept_source
from cvzoo.links.model.image_batches import AbstractPrepared, PreparedBatch, batches_for
from cvzoo.links.model.keypoint_detections import KeypointDetections
from cvzoo.links.model.thresholds import AbstractThresholds
from cvzoo.links.quantization.quantizable import AbstractQuantizable


class FoundPoints(NamedTuple):
    """The instances of an image, R of them with K points each, best first.

    point: (R, K, 2) float32, y x, pixels of the image; point_score: (R, K) float32
    bbox: (R, 4) float32, pixels of the image; label: (R,) int32; score: (R,) float32
    """

    point: np.ndarray
    bbox: np.ndarray
    label: np.ndarray
    score: np.ndarray
    point_score: np.ndarray


class AbstractKeypointDetector(AbstractThresholds, AbstractPrepared, AbstractQuantizable, Chain, abc.ABC):
    """Base class of keypoint detectors; a subclass declares `preparation` and implements `find_points`.

    label_names, point_names: names of the classes in order of label, and of the points, or None
    score_thresh, class_score_thresh, nms_thresh, limit, presets: see `AbstractThresholds`
    """

    label_names: tuple[str, ...] | None = None
    point_names: tuple[str, ...] | None = None

    # --- implemented by models --------------------------------------------------------------------------------------
    @abc.abstractmethod
    def find_points(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> list[FoundPoints]:
        """The instances in each of the preprocessed images, after NMS; called in inference mode.

        x: (B, C, H', W') float32; sizes: (H, W) of the B original images
        """

    # --- predict ----------------------------------------------------------------------------------------------------
    def predict(
        self, imgs: Iterable[ImageSource], *, batch_size: int = 4, score: str | float | None = None
    ) -> KeypointDetections:
        """Detect keypoints: `points, labels, scores = model.predict(imgs)`, lists with one element per image.

        imgs, batch_size, score, and errors: as for a detector's `predict`
        """
        instances: list[FoundPoints] = []
        sources: list[ImageSource | None] = []
        with self.using_score(score):
            for batch in batches_for(self, imgs, batch_size=batch_size):
                instances += self._found(batch)
                sources += map(kept_source, batch.sources)
        return self._result(instances, sources)

    def predict_each(
        self, imgs: Iterable[ImageSource], *, batch_size: int = 1, score: str | float | None = None
    ) -> Iterator[KeypointDetections]:
        """The results image by image, reading images lazily, with constant memory."""
        for batch in batches_for(self, imgs, batch_size=batch_size):
            with self.using_score(score):  # not while the caller has the results
                result = self._found(batch)
            for each, source in zip(result, batch.sources):
                yield self._result([each], [kept_source(source)])

    def _found(self, batch: PreparedBatch) -> list[FoundPoints]:
        # switches are set around the network only, since a suspended generator would leak them to its caller
        with self.device, using_config("train", False), no_backprop_mode():
            result = self.find_points(batch.x, batch.sizes)
        if self.class_score_thresh is None:
            return result
        keep = (self.above_class_thresholds(each.label, each.score) for each in result)
        return [FoundPoints(*(column[rows] for column in each)) for each, rows in zip(result, keep)]

    def _result(self, instances: list[FoundPoints], sources: list[ImageSource | None]) -> KeypointDetections:
        points, bboxes, labels, scores, point_scores = (
            (list(each) for each in zip(*instances)) if instances else [[]] * 5
        )
        return KeypointDetections(
            points,
            labels,
            scores,
            bboxes=bboxes,
            point_scores=point_scores,
            point_names=self.point_names,
            label_names=self.label_names,
            sources=sources,
        )


AbstractKeyPointDetector = AbstractKeypointDetector  # its former name
