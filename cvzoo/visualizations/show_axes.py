"""Display of plots in a notebook or a window."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from cvzoo.errors.exceptions import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def show_axes(plot: Callable[["Axes"], object], ax: "Axes | None" = None) -> "Axes":
    """Calls `plot(ax)` and returns the axes, shown unless `ax` is given.

    ax: axes of the caller, which are not shown; None: new ones of pyplot, shown in a notebook's cell or in a window
    A figure without a layout engine gets matplotlib's constrained layout, with which legends and titles are inside of
    it.
    Without a display nothing is shown; `ax.figure.savefig(path)` works nevertheless.
    Raises MissingExtraError if matplotlib is not installed.
    """
    if ax is not None:
        figure = ax.figure.figure  # of subfigures, too
        if figure.get_layout_engine() is None:
            figure.set_layout_engine("constrained")
        plot(ax)
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError("matplotlib is not installed", hint="pip install matplotlib") from error
    figure = pyplot.figure(layout="constrained")
    ax = figure.add_subplot()
    try:
        plot(ax)
        pyplot.show()
    finally:
        if not pyplot.isinteractive():  # show() has blocked until the window was closed, or there is none
            pyplot.close(figure)
    return ax
