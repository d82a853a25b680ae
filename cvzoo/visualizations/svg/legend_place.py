"""The corner of a plot in which a legend hides least."""

import numpy as np

LEGEND_ROW = 13  # pixels
_MARGIN, _LETTER, _KEY = 8, 6.2, 14  # pixels: around the legend, a letter's mean width, the piece of line before a name


def legend_place(points, frame, names):
    """(x, y) of the legend's upper left corner, in pixels.

    points: (N, 2) x and y of the curves' points; frame: (left, top, right, bottom); names: str each
    Tried in turn: below left, below right, above right, above left; the first in which the fewest points lie.
    """
    left, top, right, bottom = frame
    width = _KEY + _LETTER * max(map(len, names), default=0)
    height = LEGEND_ROW * len(names)
    columns, rows = (left + _MARGIN, right - _MARGIN - width), (bottom - _MARGIN + 3 - height, top + _MARGIN - 3)
    places = [(columns[i], rows[j]) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
    x, y = _dense(np.asarray(points, np.float64).reshape(-1, 2)).T
    hidden = [
        np.count_nonzero((x >= at_x - 4) & (x <= at_x + width) & (y >= at_y - 4) & (y <= at_y + height))
        for at_x, at_y in places
    ]
    return places[int(np.argmin(hidden))]


def _dense(points):
    """The points, and more between them, so that a long straight line counts where it passes."""
    if len(points) < 2:
        return points
    steps = np.linspace(0, 1, 17)[:-1, None, None]
    return np.concatenate(((points[:-1] + steps * np.diff(points, axis=0)).reshape(-1, 2), points[-1:]))
