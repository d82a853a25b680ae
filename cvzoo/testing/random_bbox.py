"""Random boxes for tests."""

import numpy as np

from cvzoo.transforms.as_rng import as_rng


def generate_random_bbox(
    n: int,
    img_size: tuple[int, int],
    min_length: float,
    max_length: float,
    *,
    rng: np.random.Generator | None = None,
) -> np.ndarray:
    """n random boxes within an image, (n, 4) float32, y_min x_min y_max x_max, pixels.

    img_size: (H, W) of the image
    min_length, max_length: range of the boxes' sides, without max_length itself
    rng: None: this thread's generator, which `set_seed` seeds
    """
    rng = as_rng(rng)
    corner = rng.uniform(0, np.subtract(img_size, max_length), (n, 2))
    return np.concatenate([corner, corner + rng.uniform(min_length, max_length, (n, 2))], axis=1).astype(np.float32)
