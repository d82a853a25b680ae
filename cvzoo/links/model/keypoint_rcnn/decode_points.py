"""Points from maps of scores over boxes."""

import numpy as np


def decode_points(maps: np.ndarray, bbox: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(R, K, 2) float32, y x, and (R, K) float32 scores: the highest place of each map, as fine as the box's pixels.

    maps: (R, K, M, M) float32; bbox: (R, 4) float32, y_min x_min y_max x_max: what each map is stretched over

    Maps are enlarged by cubic interpolation to the box's size, rounded up, and the middle of the best pixel is taken.
    Source: He et al., Mask R-CNN, 2017, section 5; the cubic as torchvision has it (a = -0.75).
    """
    point = np.empty((*maps.shape[:2], 2), np.float32)
    score = np.empty(maps.shape[:2], np.float32)
    for r, (one, bb) in enumerate(zip(maps, bbox)):
        sides = np.maximum(bb[2:] - bb[:2], np.float32(1))
        height, width = (int(n) for n in np.ceil(sides))
        rows, columns = cubic_weights(one.shape[1], height), cubic_weights(one.shape[2], width)
        large = (rows @ one @ columns.T).reshape(len(one), -1)
        best = large.argmax(axis=1)
        place = np.stack(np.divmod(best, width), axis=1).astype(np.float32) + np.float32(0.5)
        point[r] = place * (sides / np.float32([height, width])) + bb[:2]
        score[r] = large[np.arange(len(one)), best]
    return point, score


def cubic_weights(n_in: int, n_out: int, a: float = -0.75) -> np.ndarray:
    """(n_out, n_in) float32: how much each of n_out pixels takes of each of n_in, pixel centres at half."""
    place = (np.arange(n_out, dtype=np.float32) + np.float32(0.5)) * np.float32(n_in / n_out) - np.float32(0.5)
    low = np.floor(place)
    t = place - low
    weights = np.zeros((n_out, n_in), np.float32)
    row = np.arange(n_out)
    for k in range(-1, 3):
        d = np.abs(t - k)
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        np.add.at(weights, (row, np.clip(low.astype(np.int64) + k, 0, n_in - 1)), np.where(d <= 1, near, far))
    return weights
