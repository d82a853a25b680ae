"""Base classes of the detectors, with their predict loop."""

import abc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.transfer import on_host
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.functions.array.dtypes import widened
from cvzoo.geometry.clip_bbox import clip_bbox
from cvzoo.geometry.nms import classwise_nms
from cvzoo.images.read_image import ImageSource
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
    clip: whether boxes are clipped to the image; by default they may extend beyond it, as in the published
        evaluations; boxes completely outside are always dropped
    """

    presets: Mapping[str, Preset | ClassPreset] = {"visualize": Preset(0.45, 0.5), "evaluate": Preset(0.45, 0.005)}
    label_names: tuple[str, ...] | None = None
    score_thresh: float = 0.5
    nms_thresh: float = 0.45
    limit: int | None = None
    clip: bool = False

    # --- implemented by detectors -----------------------------------------------------------------------------------
    @abc.abstractmethod
    def find(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> list[Found]:
        """bbox (R, 4), label (R,), score (R,) of each image with scores above `score_thresh`, before NMS.

        x: (B, C, H', W') float32, preprocessed
        sizes: (H, W) of each image, in whose pixels the boxes are; they are finite, but may extend beyond it
        """

    def placement(self, size: tuple[int, int]) -> Placement:
        """The placement of an image of `size` (H, W) in the network's input.

        Raises UnsupportedError if the detector implements `prepare` itself; it then has to implement this, or `decode`.
        """
        if self.preparation is None:
            raise UnsupportedError(f"{type(self).__name__} declares no preparation, so it must write `placement`")
        return self.preparation.placement(size)

    def finished_boxes(self, x: Variable | Array, sizes: Sequence[tuple[int, int]]) -> FinishedBoxes | None:
        """The final boxes after NMS, in pixels of the images, on the device of x; None: `find` is used instead."""
        return None

    # --- predict ----------------------------------------------------------------------------------------------------
    def predict(
        self, imgs: Iterable[ImageSource], *, batch_size: int = 8, score: str | float | None = None
    ) -> Detections:
        """Detect objects: `bboxes, labels, scores = model.predict(imgs)`, lists with one element per image.

        imgs: any iterable of images of any sizes, each a path, the bytes of a file, an open file, a PIL image or an
            array (3, H, W) RGB or (1, H, W) grey in [0, 255]; a batch (B, 3, H, W) is fine, too
        batch_size: maximum number of images of one preprocessed shape per forward pass; results are the same bits
        score: thresholds for this call: a preset ("evaluate"; "deploy", those of each class in the model's file), or
            the minimal score; None: the model's
        Raises FileNotFoundError (or another OSError) for a path that cannot be opened, ImageError that names a file
        without a valid image, DtypeError for a single image instead of several.
        """
        detected: list[Found] = []
        sources: list[ImageSource | None] = []
        wait = None
        with self.using_score(score):
            for batch in batches_for(self, imgs, batch_size=batch_size):
                # a GPU computed the previous batch while this one was read
                detected += wait() if wait is not None else []
                wait = self._begun(batch)
                sources += map(kept_source, batch.sources)
            detected += wait() if wait is not None else []
        bboxes, labels, scores = (list(each) for each in zip(*detected)) if detected else ([], [], [])
        return Detections(bboxes, labels, scores, label_names=self.label_names, sources=sources)

    def predict_each(
        self, imgs: Iterable[ImageSource], *, batch_size: int = 1, score: str | float | None = None
    ) -> Iterator[Detections]:
        """The results image by image, reading images lazily, with constant memory.

        score: as for `predict`. Each is a `Detections` of one image, with the same bits as those of `predict`.
        """
        for batch in batches_for(self, imgs, batch_size=batch_size):
            with self.using_score(score):  # not while the caller has the results
                result = self._begun(batch)()
            for (bbox, label, scores), source in zip(result, batch.sources):
                yield Detections([bbox], [label], [scores], label_names=self.label_names, sources=[kept_source(source)])

    def _begun(self, batch: PreparedBatch) -> Callable[[], list[Found]]:
        """Start a batch; returns a function that returns the boxes of its images, with device synchronization."""
        # switches are set around the network only, since a suspended generator would leak them to its caller
        with self.device, using_config("train", False), no_backprop_mode():
            boxes = self.finished_boxes(batch.x, batch.sizes)
            detected = [] if boxes is not None else self.find(batch.x, batch.sizes)
        if boxes is None:
            finished = [self._of_classes(self.finished(each, size)) for each, size in zip(detected, batch.sizes)]
            return lambda: finished

        def wait() -> list[Found]:
            with self.device:
                return [self._of_classes(each) for each in boxes.on_host()]

        return wait

    def _of_classes(self, detected: Found) -> Found:
        """The detections above the score thresholds of their classes."""
        if self.class_score_thresh is None:
            return detected
        keep = self.above_class_thresholds(detected.label, detected.score)
        return Found(detected.bbox[keep], detected.label[keep], detected.score[keep])

    def finished(self, detected: Found, size: tuple[int, int]) -> Found:
        """The (bbox, label, score) left after NMS that intersect an image of `size` (H, W)."""
        bbox, label, score = detected
        keep = classwise_nms(bbox, label, score, iou_thresh=self.nms_thresh, limit=self.limit)
        bbox, label, score = bbox[keep], label[keep], score[keep]
        inside = clip_bbox(bbox, size)
        visible = (inside[:, 2:] > inside[:, :2]).all(axis=1)  # neither completely in a letterbox's padding nor empty
        bbox = inside if self.clip else bbox
        return Found(
            np.ascontiguousarray(bbox[visible], dtype=np.float32),
            label[visible].astype(np.int32),
            score[visible].astype(np.float32),
        )


class AbstractOneStageDetector(AbstractDetector, abc.ABC):
    """Base class of one-stage detectors; a subclass declares `preparation` and `decoding`, and implements `forward`.

    A subclass for whose outputs there is no class in `cvzoo.links.model.decoding` implements `decode` instead.
    """

    @abc.abstractmethod
    def forward(self, x: Variable | Array) -> Variable | tuple[Variable, ...]:
        """The network's outputs for x (B, C, H', W'): one or several, each with B as its first axis."""

    @property
    def decoding(self) -> AbstractDecoding:
        """The decoding of the outputs of `forward`."""
        raise NotImplementedError(f"{type(self).__name__} has neither `decoding` nor `decode`")

    def decode(self, outputs: tuple[np.ndarray, ...], size: tuple[int, int]) -> Found:
        """bbox (R, 4), label (R,), score (R,) of one image with scores above `score_thresh`, before NMS.

        outputs: of `forward` for this image, without the axis B
        size: (H, W) of the image, in whose pixels the boxes are; they are finite, but may extend beyond it
        """
        return self.decoding.decode(outputs, size, self.placement(size), self.score_thresh)

    def find(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> list[Found]:
        """As in `AbstractDetector`."""
        arrays = on_host(self.outputs(x))
        return [self.decode(tuple(y[i] for y in arrays), size) for i, size in enumerate(sizes)]

    def finished_boxes(self, x: Variable | Array, sizes: Sequence[tuple[int, int]]) -> FinishedBoxes | None:
        """As in `AbstractDetector`; None if a subclass implements `decode` itself."""
        if type(self).decode is not AbstractOneStageDetector.decode:
            return None
        outputs, decoding = self.outputs(x), self.decoding
        backend = backend_of(outputs[0])
        frames = np.stack([decoding.frame(size, self.placement(size)) for size in sizes])
        (frames,) = backend.upload([frames])
        candidates = decoding.candidates(outputs, (x.shape[2], x.shape[3]), frames, self.score_thresh)
        kept = backend.nms(candidates, iou_thresh=self.nms_thresh, limit=self.limit)

        def again(i: int) -> Found:
            return self.finished(self.decode(tuple(on_host([y[i] for y in outputs])), sizes[i]), sizes[i])

        return FinishedBoxes([backend.finish_boxes(kept, frames=frames, cut=self.clip)], again)

    def outputs(self, x: Variable | Array) -> list[Array]:
        """The outputs of `forward` as float32 arrays, whatever dtype the network computes in."""
        outputs = self.forward(x)
        return [widened(y).array for y in (outputs if isinstance(outputs, tuple) else (outputs,))]
