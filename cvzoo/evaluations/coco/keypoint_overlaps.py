"""Object keypoint similarity (OKS), COCO's counterpart of the IoU for keypoints."""

import numpy as np

from cvzoo.typing.aliases import Array


def keypoint_overlaps(dt_points: Array, gt_points: Array, area: Array, bbox: Array, sigmas: Array) -> Array:
    """Object keypoint similarity of pairs, (p,) float64.

    dt_points, gt_points: (p, P, 3) float64: x, y, visibility (only the object's is used)
    area: (p,) float64, of the object; bbox: (p, 4) float64, of the object: x, y, width, height
    sigmas: (P,) float64

    For an object without visible keypoints, the distance of the detection's keypoints to its box, doubled in size,
    counts instead.
    Source: the definition of the COCO keypoint task; the operations and their order are pycocotools', and so are the
    bits, unless the CPU's `exp` differs.
    """
    visible = gt_points[:, :, 2] > 0
    some = np.any(visible, axis=1)
    dx = dt_points[:, :, 0] - gt_points[:, :, 0]
    dy = dt_points[:, :, 1] - gt_points[:, :, 1]
    blind = np.flatnonzero(~some)
    for distance, axis in ((dx, 0), (dy, 1)):
        low = (bbox[blind, axis] - bbox[blind, axis + 2])[:, None]
        high = (bbox[blind, axis] + bbox[blind, axis + 2] * 2)[:, None]
        points = dt_points[blind, :, axis]
        distance[blind] = np.maximum(0, low - points) + np.maximum(0, points - high)
    error = (dx**2 + dy**2) / (sigmas * 2) ** 2 / (area[:, None] + np.spacing(1)) / 2
    similar = np.exp(-error)
    count = np.where(some, visible.sum(axis=1), sigmas.size)
    # the rounding of NumPy's pairwise sums depends on their length: sum only the visible keypoints, by their number
    oks = np.empty(len(error))
    counted = visible | ~some[:, None]
    for n in np.unique(count):
        rows = np.flatnonzero(count == n)
        oks[rows] = similar[rows][counted[rows]].reshape(-1, n).sum(axis=1) / n if n else 0.0
    return oks
