"""Arrays where they are: a processor copies nothing to itself."""

from collections.abc import Sequence

import numpy as np

__all__ = ["upload"]


def upload(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """As AbstractBackend.upload says."""
    return list(arrays)
