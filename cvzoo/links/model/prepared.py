"""What networks that see images have in common: how an image becomes their input."""

from typing import Any

import numpy as np

from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.links.model.preparation.abstract import AbstractPreparation


class AbstractPrepared:
    """A network that declares by a value how it sees an image, or writes `prepare` itself.

    preparation: how an image is resized and normalized; None where `prepare` is the network's own
    """

    preparation: AbstractPreparation | None = None

    def prepare(self, img: np.ndarray) -> np.ndarray:
        """The network's input (C, H', W') float32 for an image (3, H, W) float32 RGB [0, 255], which is not changed.

        Raises UnsupportedError if the network does not say how it sees images.
        """
        if self.preparation is None:
            raise UnsupportedError(
                f"{type(self).__name__} does not say how images are prepared", hint="preparation = Stretch((300, 300))"
            )
        return self.preparation(img)


def declared_preparation(model: Any) -> AbstractPreparation | None:
    """The model's preparation; None if it declares none, or writes a `prepare` of its own instead."""
    declares = isinstance(model, AbstractPrepared) and type(model).prepare is AbstractPrepared.prepare
    return model.preparation if declares else None


def preprocessing_header(model: Any) -> dict[str, Any]:
    """How the model sees an image, as JSON for the header of its file; empty if it declares no preparation."""
    preparation = declared_preparation(model)
    return {} if preparation is None else preparation.to_header()
