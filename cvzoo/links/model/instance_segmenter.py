"""Base class of the instance segmentation networks, with their predict loop."""

import abc
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.geometry.rle import RLEs
from cvzoo.images.read_image import ImageSource
from cvzoo.links.chain import Chain
from cvzoo.links.model.detections import kept_source
from cvzoo.links.model.image_batches import AbstractPrepared, PreparedBatch, batches_for
from cvzoo.links.model.instance_segmentations import InstanceSegmentations
from cvzoo.links.model.thresholds import AbstractThresholds
from cvzoo.links.quantization.quantizable import AbstractQuantizable


class FoundInstances(NamedTuple):
    """The instances of an image, R of them, best first.

    mask: R masks of the image's size; bbox: (R, 4) float32, pixels of the image; label: (R,) int32; score: (R,) float32
    """

    mask: RLEs
    bbox: np.ndarray
    label: np.ndarray
    score: np.ndarray


class AbstractInstanceSegmenter(AbstractThresholds, AbstractPrepared, AbstractQuantizable, Chain, abc.ABC):
    """Base class of instance segmentation networks; a subclass declares `preparation`, implements `find_instances`.

    label_names: names of the classes in order of label, or None
    score_thresh, class_score_thresh, nms_thresh, limit, presets: see `AbstractThresholds`
    """

    label_names: tuple[str, ...] | None = None

    # --- implemented by models --------------------------------------------------------------------------------------
    @abc.abstractmethod
    def find_instances(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> list[FoundInstances]:
        """The instances in each of the preprocessed images, after NMS; called in inference mode.

        x: (B, C, H', W') float32; sizes: (H, W) of the B original images
        """

    # --- predict ----------------------------------------------------------------------------------------------------
    def predict(
        self, imgs: Iterable[ImageSource], *, batch_size: int = 4, score: str | float | None = None
    ) -> InstanceSegmentations:
        """Detect instances: `masks, labels, scores = model.predict(imgs)`, lists with one element per image.

        imgs, batch_size, score, and errors: as for a detector's `predict`
        Masks are run-length encoded (`geometry.RLEs`), for evaluators; `.dense(i)` is image i's (R, H, W) bool.
        """
        instances: list[FoundInstances] = []
        sources: list[ImageSource | None] = []
        with self.using_score(score):
            for batch in batches_for(self, imgs, batch_size=batch_size):
                instances += self._found(batch)
                sources += map(kept_source, batch.sources)
        return self._result(instances, sources)

    def predict_each(
        self, imgs: Iterable[ImageSource], *, batch_size: int = 1, score: str | float | None = None
    ) -> Iterator[InstanceSegmentations]:
        """The results image by image, reading images lazily, with constant memory."""
        for batch in batches_for(self, imgs, batch_size=batch_size):
            with self.using_score(score):  # not while the caller has the results
                result = self._found(batch)
            for each, source in zip(result, batch.sources):
                yield self._result([each], [kept_source(source)])

    def _found(self, batch: PreparedBatch) -> list[FoundInstances]:
        # switches are set around the network only, since a suspended generator would leak them to its caller
        with self.device, using_config("train", False), no_backprop_mode():
            result = self.find_instances(batch.x, batch.sizes)
        if self.class_score_thresh is None:
            return result
        keep = (np.flatnonzero(self.above_class_thresholds(each.label, each.score)) for each in result)
        return [
            FoundInstances(each.mask[rows], each.bbox[rows], each.label[rows], each.score[rows])
            for each, rows in zip(result, keep)
        ]

    def _result(self, instances: list[FoundInstances], sources: list[ImageSource | None]) -> InstanceSegmentations:
        masks, bboxes, labels, scores = (list(each) for each in zip(*instances)) if instances else ([], [], [], [])
        return InstanceSegmentations(
            masks, labels, scores, bboxes=bboxes, label_names=self.label_names, sources=sources
        )
