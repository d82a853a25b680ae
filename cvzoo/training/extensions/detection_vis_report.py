"""Visualizations of a detector's predictions during training."""

import copy
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cvzoo.backends.arrays import to_numpy
from cvzoo.evaluations.evaluators.abstract import Predicting
from cvzoo.images.write_image import write_image
from cvzoo.iterators.abstract import AbstractIterator
from cvzoo.training.extension import AbstractExtension
from cvzoo.typing.aliases import Array, LabelNames
from cvzoo.visualizations.draw_bbox import draw_bbox
from cvzoo.visualizations.tile_images import tile_images

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


class DetectionVisReport(AbstractExtension):
    """Writes an image per example: the ground truth above, the predictions below.

    iterator: finite, with batches of (img, bbox, label); it is reset each time
    target: a detector, anything with `predict(imgs)`
    label_names: names of the classes; None: numbers are written
    filename: in the trainer's folder, with {iteration} and {index} of the example

    Needs no matplotlib. Source: ChainerCV's extension of this name.
    """

    def __init__(
        self,
        iterator: AbstractIterator[Any],
        target: Predicting,
        label_names: LabelNames | None = None,
        filename: str = "detection_iter={iteration}_idx={index}.jpg",
    ):
        self.iterator = iterator
        self.target = target
        self.label_names = None if label_names is None else tuple(label_names)
        self.filename = filename

    @staticmethod
    def available() -> bool:
        """True: it draws without any optional package."""
        return True

    def __call__(self, trainer: "Trainer") -> None:
        if hasattr(self.iterator, "reset"):
            self.iterator.reset()
            batches = self.iterator
        else:
            batches = copy.copy(self.iterator)
        index = 0
        for batch in batches:
            result = self.target.predict([img for img, _, _ in batch])
            for (img, bbox, label), *predicted in zip(batch, *result):
                name = self.filename.format(iteration=trainer.updater.iteration, index=index)
                picture = self._picture(img, (bbox, label), predicted)
                write_image(picture, os.path.join(trainer.out, name))
                index += 1

    def _picture(self, img: Array, truth: Sequence[Array], predicted: Sequence[Array]) -> Array:
        drawn = (draw_bbox(img, *map(to_numpy, boxes), label_names=self.label_names) for boxes in (truth, predicted))
        return tile_images(np.stack(list(drawn)), 1, fill=255)
