"""Lazy import of matplotlib, which takes longer than that of all of cvzoo."""

import sys
from typing import TYPE_CHECKING, Any

from cvzoo.errors.exceptions import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def import_matplotlib() -> Any:
    """The module matplotlib, with its figures, patches and ticks. Raises MissingExtraError if it is not installed."""
    try:
        import matplotlib.figure
        import matplotlib.patches
        import matplotlib.ticker
    except ImportError as error:
        raise MissingExtraError("matplotlib is not installed", hint="pip install matplotlib") from error
    return matplotlib


def axes_or_new(ax: "Axes | None") -> "Axes":
    """The axes themselves, or new ones in a new figure.

    If the program has imported `matplotlib.pyplot`, the new figure is one of pyplot's, so that `pyplot.show()` shows
    it; otherwise it is independent, and needs no display.
    """
    if ax is not None:
        return ax
    matplotlib = import_matplotlib()
    pyplot = sys.modules.get("matplotlib.pyplot")
    figure = matplotlib.figure.Figure() if pyplot is None else pyplot.figure()
    axes: Axes = figure.add_subplot()
    return axes
