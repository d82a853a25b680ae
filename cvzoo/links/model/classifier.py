"""Base class of the image classifiers, with their predict loop."""

import abc
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.transfer import on_host
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.activation.softmax import softmax
from cvzoo.images.read_image import ImageSource
from cvzoo.links.chain import Chain
from cvzoo.links.model.classifications import Classifications
from cvzoo.links.model.detections import kept_source
from cvzoo.links.model.image_batches import AbstractPrepared, batches_for
from cvzoo.links.model.preparation.abstract import AbstractPreparation
from cvzoo.links.quantization.quantizable import AbstractQuantizable
from cvzoo.typing.aliases import Array


class AbstractClassifier(AbstractPrepared, AbstractQuantizable, Chain, abc.ABC):
    """Base class of image classifiers; a subclass declares `preparation` and implements `stages`.

    n_class: number of classes
    label_names: class names in order of label, or None
    layer_names: the names of the stages, in order
    preparation: see `AbstractPrepared`
    """

    n_class: int
    label_names: tuple[str, ...] | None = None
    layer_names: tuple[str, ...] = ()
    preparation: AbstractPreparation | None  # pyright: ignore[reportIncompatibleMethodOverride]  # an attribute, as the base class allows
    _pick: str | tuple[str, ...] | None = None

    @abc.abstractmethod
    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, computed lazily in order, for x (B, C, H', W').

        The last output is the logits (B, n_class).
        """

    @property
    def pick(self) -> str | tuple[str, ...] | None:
        """The stages whose outputs `forward` returns: a name or names of `layer_names`; None: the logits."""
        return self._pick

    @pick.setter
    def pick(self, names: str | tuple[str, ...] | None) -> None:
        unknown = [each for each in _as_names(names) if each not in self.layer_names]
        if unknown or names == ():
            raise ValueRangeError(
                f"{type(self).__name__}: pick names no stage", expected=", ".join(self.layer_names), got=repr(names)
            )
        self._pick = names if names is None or isinstance(names, str) else tuple(names)

    def forward(self, x: Variable | Array) -> Variable | Any:
        """Logits (B, n_class) for x (B, C, H', W'); or the outputs of the stages in `pick`.

        With one name, that stage's output; with several, a tuple in their order. Later stages are not computed.
        """
        names = _as_names(self._pick)
        outputs = {}
        h: Variable | Array = x
        for name, h in self.stages(x):
            if name in names:
                outputs[name] = h
                if len(outputs) == len(set(names)):
                    break
        if self._pick is None:
            return h
        return outputs[self._pick] if isinstance(self._pick, str) else tuple(outputs[name] for name in names)

    def scores(self, x: Variable | Array) -> Variable:
        """Logits (B, n_class) for x (B, C, H', W'), whatever `pick` is."""
        h: Variable | Any = None
        for _, h in self.stages(x):  # noqa: B007
            pass
        return h

    def predict(self, imgs: Iterable[ImageSource], *, batch_size: int = 32) -> Classifications:
        """The classes' probabilities for each image: `probs = model.predict(imgs)`, `probs.top(5)`.

        imgs: any iterable of images of any sizes, each a path, the bytes of a file, an open file, a PIL image or an
            array (3, H, W) RGB or (1, H, W) grey in [0, 255]; a batch (B, 3, H, W) is fine, too
        batch_size: maximum number of images of one preprocessed shape per forward pass
        Raises FileNotFoundError (or another OSError) for a path that cannot be opened, ImageError that names a file
        without a valid image, DtypeError for a single image instead of several.
        """
        probs: list[np.ndarray] = [np.zeros((0, self.n_class), np.float32)]
        sources: list[ImageSource | None] = []
        with self.device, using_config("train", False), no_backprop_mode():
            outputs = None
            for batch in batches_for(self, imgs, batch_size=batch_size):
                # a GPU computed the previous batch while this one was read
                probs += [] if outputs is None else on_host([outputs])
                outputs = softmax(self.scores(batch.x), axis=1).array
                sources.extend(map(kept_source, batch.sources))
            probs += [] if outputs is None else on_host([outputs])
        return Classifications(np.concatenate(probs), label_names=self.label_names, sources=sources)


def _as_names(pick: str | Sequence[str] | None) -> tuple[str, ...]:
    return () if pick is None else (pick,) if isinstance(pick, str) else tuple(pick)
