"""Base classes of the detectors, with their predict loop."""

import abc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.transfer import on_host
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.functions.array.dtypes import widened
from cvzoo.geometry.clip_bbox import clip_bbox
from cvzoo.geometry.nms import classwise_nms
from cvzoo.links.chain import Chain
from cvzoo.links.model.decoding.abstract import AbstractDecoding, FinishedBoxes, Found
from cvzoo.links.model.detections import Detections, kept_source
from cvzoo.links.model.image_batches import AbstractPrepared, PreparedBatch, batches_for
from cvzoo.links.model.preparation.abstract import Placement
from cvzoo.links.model.thresholds import AbstractThresholds, ClassPreset, Preset
from cvzoo.links.quantization.quantizable import AbstractQuantizable
from cvzoo.typing.aliases import Array


class AbstractDetector(AbstractThresholds, AbstractPrepared, AbstractQuantizable, Chain, abc.ABC):
    """Base class of detectors; a subclass declares `preparation` and implements `find`.

    label_names: names of the classes in order of label, or None
    score_thresh, class_score_thresh, nms_thresh, limit, presets: see `AbstractThresholds`
    clip: whether boxes are cut at the image's edges; by default they may stick out, as in the published evaluations;
        what lies wholly outside is never given
    """

    presets: Mapping[str, Preset | ClassPreset] = {"visualize": Preset(0.45, 0.5), "evaluate": Preset(0.45, 0.005)}
    label_names: tuple[str, ...] | None = None
    score_thresh: float = 0.5
    nms_thresh: float = 0.45
    limit: int | None = None
    clip: bool = False

    # --- what a detector writes -------------------------------------------------------------------------------------
    @abc.abstractmethod
    def find(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> list[Found]:
        """bbox (R, 4), label (R,), score (R,) of each image: what scores above `score_thresh`, before suppression.

        x: (B, C, H', W') float32, prepared
        sizes: (H, W) of each image, in whose pixels the boxes are; finite, but they may stick out of it
        """

    def placement(self, size: tuple[int, int]) -> Placement:
        """Where an image of `size` (H, W) lies in the network's input.

        Raises UnsupportedError where `prepare` is the detector's own: it then writes this, too, or `decode`.
        """
        if self.preparation is None:
            raise UnsupportedError(f"{type(self).__name__} declares no preparation, so it must write `placement`")
        return self.preparation.placement(size)

    def finished_boxes(self, x: Any, sizes: Sequence[tuple[int, int]]) -> FinishedBoxes | None:
        """What `find` finds, suppressed and in the images, on the device of x; None: `find` is asked."""
        return None

    # --- predict ----------------------------------------------------------------------------------------------------
    def predict(self, imgs: Iterable[Any], *, batch_size: int = 8) -> Detections:
        """What is in the images: `bboxes, labels, scores = model.predict(imgs)`, lists with one element per image.

        imgs: any iterable of images of any sizes, each a path, the bytes of a file, an open file, a PIL image or an
            array (3, H, W) RGB or (1, H, W) grey in [0, 255]; a batch (B, 3, H, W) is fine, too
        batch_size: how many images of one prepared shape go through the network at once; the result is the same bits
        Raises FileNotFoundError (or another OSError) for a path that cannot be opened, ImageError that names a file
        which holds no sound image, DtypeError for a single image instead of several.
        """
        found: list[Found] = []
        sources: list[Any] = []
        wait = None
        for batch in batches_for(self, imgs, batch_size=batch_size):
            # a GPU was looking at the last batch while this one was read
            found += wait() if wait is not None else []
            wait = self._begun(batch)
            sources += map(kept_source, batch.sources)
        found += wait() if wait is not None else []
        bboxes, labels, scores = (list(each) for each in zip(*found)) if found else ([], [], [])
        return Detections(bboxes, labels, scores, label_names=self.label_names, sources=sources)

    def predict_each(self, imgs: Iterable[Any], *, batch_size: int = 1) -> Iterator[Detections]:
        """The results image by image, while the next images have not been read yet: memory stays flat.

        Each is a `Detections` of one image, the same bits as `predict` gives.
        """
        for batch in batches_for(self, imgs, batch_size=batch_size):
            for (bbox, label, score), source in zip(self._begun(batch)(), batch.sources):
                yield Detections([bbox], [label], [score], label_names=self.label_names, sources=[kept_source(source)])

    def _begun(self, batch: PreparedBatch) -> Callable[[], list[Found]]:
        """What gives the boxes of the batch's images, and waits for a GPU where one finds them."""
        # the switches are set around the network only: a generator that is being waited for would leak them
        with self.device, using_config("train", False), no_backprop_mode():
            boxes = self.finished_boxes(batch.x, batch.sizes)
            found = [] if boxes is not None else self.find(batch.x, batch.sizes)
        if boxes is None:
            finished = [self._of_classes(self.finished(each, size)) for each, size in zip(found, batch.sizes)]
            return lambda: finished

        def wait() -> list[Found]:
            with self.device:
                return [self._of_classes(each) for each in boxes.on_host()]

        return wait

    def _of_classes(self, found: Found) -> Found:
        """The detections above the thresholds of their classes."""
        if self.class_score_thresh is None:
            return found
        keep = self.above_class_thresholds(found.label, found.score)
        return Found(found.bbox[keep], found.label[keep], found.score[keep])

    def finished(self, found: Found, size: tuple[int, int]) -> Found:
        """What is left of (bbox, label, score) after suppression, and shows in an image of `size` (H, W)."""
        bbox, label, score = found
        keep = classwise_nms(bbox, label, score, iou_thresh=self.nms_thresh, limit=self.limit)
        bbox, label, score = bbox[keep], label[keep], score[keep]
        inside = clip_bbox(bbox, size)
        seen = (inside[:, 2:] > inside[:, :2]).all(axis=1)  # not wholly in a letterbox's margin, nor empty
        bbox = inside if self.clip else bbox
        return Found(
            np.ascontiguousarray(bbox[seen], dtype=np.float32),
            label[seen].astype(np.int32),
            score[seen].astype(np.float32),
        )


class AbstractOneStageDetector(AbstractDetector, abc.ABC):
    """Base class of one-stage detectors; a subclass declares `preparation` and `decoding`, and implements `forward`.

    A subclass whose outputs mean what no value in `cvzoo.links.model.decoding` says writes `decode` instead.
    """

    @abc.abstractmethod
    def forward(self, x: Variable | Array) -> Variable | tuple[Variable, ...]:
        """The network's outputs for x (B, C, H', W'): one or several, each with B as its first axis."""

    @property
    def decoding(self) -> AbstractDecoding:
        """What the outputs of `forward` mean."""
        raise NotImplementedError(f"{type(self).__name__} has neither `decoding` nor `decode`")

    def decode(self, outputs: tuple[np.ndarray, ...], size: tuple[int, int]) -> Found:
        """bbox (R, 4), label (R,), score (R,): what scores above `score_thresh` in one image, before suppression.

        outputs: what `forward` gave for this image, without the axis B
        size: (H, W) of the image, in whose pixels the boxes are; finite, but they may stick out of it
        """
        return self.decoding.decode(outputs, size, self.placement(size), self.score_thresh)

    def find(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> list[Found]:
        """As in `AbstractDetector`."""
        arrays = on_host(self.outputs(x))
        return [self.decode(tuple(y[i] for y in arrays), size) for i, size in enumerate(sizes)]

    def finished_boxes(self, x: Any, sizes: Sequence[tuple[int, int]]) -> FinishedBoxes | None:
        """As in `AbstractDetector`; None where a subclass has a `decode` of its own."""
        if type(self).decode is not AbstractOneStageDetector.decode:
            return None
        outputs, decoding = self.outputs(x), self.decoding
        backend = backend_of(outputs[0])
        frames = np.stack([decoding.frame(size, self.placement(size)) for size in sizes])
        (frames,) = backend.upload([frames])
        candidates = decoding.candidates(outputs, x.shape[2:], frames, self.score_thresh)
        kept = backend.nms(candidates, iou_thresh=self.nms_thresh, limit=self.limit)

        def again(i: int) -> Found:
            return self.finished(self.decode(tuple(on_host([y[i] for y in outputs])), sizes[i]), sizes[i])

        return FinishedBoxes([backend.finish_boxes(kept, frames=frames, cut=self.clip)], again)

    def outputs(self, x: Any) -> list[Any]:
        """The arrays that `forward` gives, float32 whatever the network computes in."""
        outputs = self.forward(x)
        return [widened(y).array for y in (outputs if isinstance(outputs, tuple) else (outputs,))]
