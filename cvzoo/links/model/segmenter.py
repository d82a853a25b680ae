"""Base classes of the semantic segmentation networks, with their predict loop."""

import abc
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.transfer import on_host
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.functions.activation.softmax import softmax
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.array.resize_images import resize_images
from cvzoo.images.read_image import ImageSource
from cvzoo.links.chain import Chain
from cvzoo.links.model.class_maps import ClassMap, EnlargedScores, mean_of_views
from cvzoo.links.model.detections import kept_source
from cvzoo.links.model.image_batches import AbstractPrepared, PreparedBatch, batches_for
from cvzoo.links.model.label_maps import LabelMaps
from cvzoo.links.quantization.quantizable import AbstractQuantizable
from cvzoo.typing.aliases import Array

Map = ClassMap | EnlargedScores


class AbstractSegmenter(AbstractPrepared, AbstractQuantizable, Chain, abc.ABC):
    """Base class of segmentation networks; a subclass implements `training_scores` and `class_maps`.

    n_class: number of classes
    label_names: class names in order of label, or None
    scales: scales of the views of an image, whose probabilities are averaged. (0.5, 1.0, 1.5) takes three and a half
        times as long and is usually slightly more accurate
    flip: whether each view is flipped horizontally, too
    align_corners: of the upsampling of the network's maps, as in `resize_images`
    """

    n_class: int
    label_names: tuple[str, ...] | None = None
    scales: tuple[float, ...] = (1.0,)
    flip: bool = False
    align_corners: bool = False

    # --- implemented by segmenters ----------------------------------------------------------------------------------
    @abc.abstractmethod
    def training_scores(self, x: Variable | Array) -> tuple[Variable, ...]:
        """The inputs of a loss: logits (B, n_class, h, w) for x (B, C, H', W'), at any stride, and those of auxiliary
        heads, if the network has any."""

    @abc.abstractmethod
    def class_maps(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> Iterator[Map]:
        """One map of class scores per image, of the image's own size.

        x: (B, C, H', W') float32, preprocessed
        sizes: (H, W) of each image
        """

    # --- predict ----------------------------------------------------------------------------------------------------
    def predict(self, imgs: Iterable[ImageSource], *, batch_size: int = 4, with_probs: bool = False) -> LabelMaps:
        """The class of each pixel: `labels = model.predict(imgs)`, a list of (H, W) int32, one per image.

        imgs: any iterable of images of any sizes, each a path, the bytes of a file, an open file, a PIL image or an
            array (3, H, W) RGB or (1, H, W) grey in [0, 255]; a batch (B, 3, H, W) is fine, too
        batch_size: maximum number of images of one preprocessed shape per forward pass
        with_probs: the result's `probs` are then (n_class, H, W) float32 per image: 174 MB for 21 classes of a 1080p
            image
        Raises FileNotFoundError (or another OSError) for a path that cannot be opened, ImageError that names a file
        without a valid image, DtypeError for a single image instead of several.
        """
        labels: list[np.ndarray] = []
        probs: list[np.ndarray] = []
        sources: list[ImageSource | None] = []
        for batch in batches_for(self, imgs, batch_size=batch_size):
            for label, prob in self._predicted(batch, with_probs):
                labels.append(label)
                probs += [] if prob is None else [prob]
            sources += map(kept_source, batch.sources)
        return LabelMaps(labels, probs=probs if with_probs else None, label_names=self.label_names, sources=sources)

    def predict_each(
        self, imgs: Iterable[ImageSource], *, batch_size: int = 1, with_probs: bool = False
    ) -> Iterator[LabelMaps]:
        """The results image by image, reading images lazily, with constant memory."""
        for batch in batches_for(self, imgs, batch_size=batch_size):
            for (label, prob), source in zip(self._predicted(batch, with_probs), batch.sources):
                yield LabelMaps(
                    [label],
                    probs=None if prob is None else [prob],
                    label_names=self.label_names,
                    sources=[kept_source(source)],
                )

    def _predicted(self, batch: PreparedBatch, with_probs: bool) -> list[tuple[np.ndarray, np.ndarray | None]]:
        # switches are set around the network only, since a suspended generator would leak them to its caller
        with self.device, using_config("train", False), no_backprop_mode():
            maps = self.class_maps(batch.x, batch.sizes)
            predicted = [(each.label(), each.probs() if with_probs else None) for each in maps]
            predicted = _on_host(predicted)
        return [(label, None if prob is None else np.ascontiguousarray(prob)) for label, prob in predicted]


def _on_host(predicted: list[tuple[Array, Array | None]]) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """The arrays of all images, with one copy from a GPU."""
    arrays = iter(on_host([each for pair in predicted for each in pair if each is not None]))
    return [(next(arrays), None if prob is None else next(arrays)) for _, prob in predicted]


class AbstractImageSegmenter(AbstractSegmenter, abc.ABC):
    """Base class of segmentation networks for whole images; a subclass implements the two methods of scores.

    multiple: of the sides of the network's input
    """

    multiple: int = 1

    @abc.abstractmethod
    def coarse_scores(self, x: Variable | Array) -> Variable:
        """Logits (B, n_class, h, w), at any stride, for x (B, C, H', W')."""

    def forward(self, x: Variable | Array) -> Variable:
        """Logits (B, n_class, H', W') for x (B, C, H', W')."""
        scores = self.coarse_scores(x)
        size = x.shape[2:]
        return scores if scores.shape[2:] == size else resize_images(scores, size, align_corners=self.align_corners)

    def class_maps(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> Iterator[Map]:
        """As in `AbstractSegmenter`: logits, or for several views mean probabilities, at the image's size."""
        if tuple(self.scales) == (1.0,) and not self.flip:
            coarse = widened(self.coarse_scores(x)).array
            for each, size in zip(coarse, sizes):
                steps = [step for step in (x.shape[2:], size) if step != each.shape[1:]]
                if not steps:
                    yield ClassMap(each, False)
                elif is_device_array(each):  # a GPU has the memory for whole maps, and few kernels are faster
                    values = each[None]
                    for step in steps:
                        values = resize_images(values, step, align_corners=self.align_corners).array
                    yield ClassMap(values[0], False)
                else:
                    yield EnlargedScores(each, steps, align_corners=self.align_corners)
            return
        maps = mean_of_views(
            x,
            self._probs,
            scales=self.scales,
            flip=self.flip,
            align_corners=self.align_corners,
            multiple=self.multiple,
        )
        for i, size in enumerate(sizes):
            values = resize_images(maps[i : i + 1], size, align_corners=self.align_corners).array
            yield ClassMap(values[0], True)

    def _probs(self, x: np.ndarray) -> np.ndarray:
        return softmax(self.forward(x), axis=1).array


AbstractPhotoSegmenter = AbstractImageSegmenter  # its former name
