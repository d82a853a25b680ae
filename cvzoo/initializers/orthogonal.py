"""An initializer of orthogonal rows or columns."""

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.errors.exceptions import ShapeError
from cvzoo.typing.aliases import Array


class Orthogonal:
    """Fills array.reshape(out, -1) with orthonormal rows (columns, if there are more rows) times `scale`.

    Source: Saxe et al., Exact solutions to the nonlinear dynamics of learning, ICLR 2014.
    """

    def __init__(self, scale: float = 1.0):
        self.scale = scale

    def __call__(self, array: Array) -> None:
        if array.ndim < 2:
            raise ShapeError("Orthogonal fills arrays of at least two axes", got=f"shape {array.shape}")
        rows, columns = array.shape[0], int(np.prod(array.shape[1:]))
        drawn = random_generator().standard_normal((max(rows, columns), min(rows, columns)))
        q, r = np.linalg.qr(drawn)
        q *= np.sign(np.diag(r))  # the signs of QR are not random, so that the distribution would not be uniform
        array[...] = ((q if rows >= columns else q.T) * self.scale).reshape(array.shape)
