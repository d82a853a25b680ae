"""How a photo is brought to the size that these networks see."""

from collections.abc import Sequence

import numpy as np

from cvzoo.backends.cuda.prepare import PhotoPlan
from cvzoo.backends.cuda.resampling import Resampling
from cvzoo.transforms.pillow_passes import rows_first
from cvzoo.transforms.resize import resize


def fitted_size(size: Sequence[int], min_size: int, max_size: int) -> tuple[int, int]:
    """(H, W): the short side becomes min_size, unless the long one would pass max_size; cut off to whole pixels."""
    scale = min_size / min(size)
    if scale * max(size) > max_size:
        scale = max_size / max(size)
    return max(int(size[0] * scale), 1), max(int(size[1] * scale), 1)


def fit_photo(img: np.ndarray, min_size: int, max_size: int, mean: Sequence[float], *, at_least: int = 1) -> np.ndarray:
    """(3, H', W') float32: the photo (3, H, W) RGB in [0, 255] resized, less `mean`, one number a channel.

    at_least: a shorter side has zeros at its end, which only a photo that is hardly more than a line has
    """
    resized = resize(img, fitted_size(img.shape[1:], min_size, max_size))
    x = resized.astype(np.float32, copy=False) - np.asarray(mean, np.float32)[:, None, None]
    missing = [max(at_least - side, 0) for side in x.shape[1:]]
    return np.pad(x, ((0, 0), (0, missing[0]), (0, missing[1]))) if any(missing) else x


def fit_plan(
    size: tuple[int, int], min_size: int, max_size: int, mean: Sequence[float], *, at_least: int = 1
) -> PhotoPlan:
    """What `fit_photo` does to a photo of `size` (H, W), for a GPU."""
    resized = fitted_size(size, min_size, max_size)
    frame = tuple([max(side, at_least) for side in resized])
    horizontal_first = rows_first(size, resized) is not False
    return PhotoPlan(resized, frame, Resampling.PILLOW_FLOATS, mean=tuple(mean), horizontal_first=horizontal_first)
