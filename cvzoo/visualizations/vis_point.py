"""Drawing of keypoints on matplotlib's axes."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cvzoo.visualizations.colors import label_color
from cvzoo.visualizations.draw_point import checked_points
from cvzoo.visualizations.vis_bbox import rgb
from cvzoo.visualizations.vis_image import vis_image

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def vis_point(
    img: npt.ArrayLike | None,
    point: npt.ArrayLike,
    visible: npt.ArrayLike | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """The axes with the image and a disc at each keypoint; `draw_point` draws them on an array.

    img: (3, H, W) or (1, H, W) float32 in [0, 255]; None: the points alone
    point: (R, K, 2) float32, (y, x), pixels; NaN points are omitted
    visible: (R, K) bool, or None: all are drawn
    ax: as for `vis_image`
    The k-th points of all objects have one color. Raises ShapeError if the shapes do not match.
    Source: ChainerCV's function of this name.
    """
    points, shown = checked_points(point, visible)
    ax = vis_image(img, ax)
    edges = ax.get_xlim(), ax.get_ylim()
    r, k = np.nonzero(shown)
    y, x = points[r, k].T
    colors = [rgb(label_color(each)) for each in k.tolist()]
    ax.scatter(x, y, s=36, c=colors, edgecolors="black", linewidths=0.6, zorder=3)
    if ax.images:  # points outside of the image do not extend the axes
        ax.set_xlim(edges[0])
        ax.set_ylim(edges[1])
    return ax
