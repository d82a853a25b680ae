"""Curves with fewer points that look the same: largest triangle, three buckets.

Source: Downsampling time series for visual representation, S. Steinarsson, 2013.
"""

from collections.abc import Sequence


def thinned(xs: Sequence[float], ys: Sequence[float], n: int) -> list[int]:
    """The indices of the points to keep, at most n of them, ascending; the first and the last are kept.

    xs: ascending; ys: finite; n: at least 3
    """
    n_point = len(xs)
    if n_point <= n:
        return list(range(n_point))
    kept = [0]
    step = (n_point - 2) / (n - 2)
    for bucket in range(n - 2):
        start, end = 1 + int(bucket * step), 1 + int((bucket + 1) * step)
        after = min(1 + int((bucket + 2) * step), n_point)
        next_x = sum(xs[end:after]) / max(after - end, 1) if after > end else xs[-1]
        next_y = sum(ys[end:after]) / max(after - end, 1) if after > end else ys[-1]
        x, y = xs[kept[-1]], ys[kept[-1]]
        width, height = x - next_x, next_y - y
        areas = [abs(width * (b - y) - (x - a) * height) for a, b in zip(xs[start:end], ys[start:end])]
        kept.append(start + areas.index(max(areas)))
    return [*kept, n_point - 1]
