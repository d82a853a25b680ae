"""Where in a model's input an image lies."""

import numpy as np

from cvzoo.links.chain import Chain
from cvzoo.links.model.photos import declared_preparation

Size = tuple[int, int]


def photo_place(model: Chain, size: Size, input_size: Size) -> np.ndarray:
    """(4,) float32, y_min x_min y_max x_max in pixels of the network's input: the image's part of it.

    size: (H, W) of the image; input_size: of what `prepare` makes of it
    Boxes (box - place[:2]) * size / (place[2:] - place[:2]) are in the image's own pixels. A model that writes
    `prepare` itself is taken to see nothing but the image.
    """
    preparation = declared_preparation(model)
    y, x, height, width = (0, 0, *input_size) if preparation is None else preparation.part(size)
    return np.array([y, x, y + height, x + width], np.float32)
