"""The only predict loop of the classifiers: photos in, probabilities out."""

import abc
from collections.abc import Iterable
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.functions.activation.softmax import softmax
from cvzoo.links.chain import Chain
from cvzoo.links.model.classifications import Classifications
from cvzoo.links.model.detections import kept_source
from cvzoo.links.model.photos import prepared_batches


class AbstractClassifier(Chain, abc.ABC):
    """A network that names what a photo shows; a subclass writes `prepare` and `forward`.

    n_class: how many classes there are
    label_names: their names in order of label, or None
    """

    n_class: int
    label_names: tuple[str, ...] | None = None

    @abc.abstractmethod
    def prepare(self, img: np.ndarray) -> np.ndarray:
        """The network's input (C, H', W') float32 for a photo (3, H, W) float32 RGB [0, 255], which is not changed."""

    @abc.abstractmethod
    def forward(self, x: Any) -> Variable:
        """Scores before the softmax (B, n_class) for x (B, C, H', W')."""

    def predict(self, imgs: Iterable[Any], *, batch_size: int = 32) -> Classifications:
        """The classes' probabilities for each photo: `probs = model.predict(imgs)`, `probs.top(5)`.

        imgs: any iterable of photos of any sizes, each a path, the bytes of a file, an open file, a PIL image or an
            array (3, H, W) RGB or (1, H, W) grey in [0, 255]; a batch (B, 3, H, W) is fine, too
        batch_size: how many photos of one prepared shape go through the network at once
        Raises ImageError that names a photo which cannot be read, DtypeError for a single photo instead of several.
        """
        probs: list[np.ndarray] = [np.zeros((0, self.n_class), np.float32)]
        sources: list[Any] = []
        with using_config("train", False), no_backprop_mode():
            for batch in prepared_batches(imgs, self.prepare, batch_size=batch_size):
                probs.append(softmax(self.forward(batch.x), axis=1).array)
                sources.extend(map(kept_source, batch.sources))
        return Classifications(np.concatenate(probs), label_names=self.label_names, sources=sources)
