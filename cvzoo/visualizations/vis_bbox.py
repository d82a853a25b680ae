"""Drawing of boxes, labels and scores on matplotlib's axes."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cvzoo.reporting.import_matplotlib import import_matplotlib
from cvzoo.typing.aliases import Array
from cvzoo.visualizations.colors import ink_on, label_color
from cvzoo.visualizations.draw_bbox import caption, checked_boxes
from cvzoo.visualizations.vis_image import vis_image

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Color = Sequence[float]


def vis_bbox(
    img: npt.ArrayLike | None,
    bbox: npt.ArrayLike,
    label: npt.ArrayLike | None = None,
    score: npt.ArrayLike | None = None,
    label_names: Sequence[str] | None = None,
    instance_colors: Iterable[Color] | None = None,
    alpha: float = 1.0,
    linewidth: float = 3.0,
    sort_by_score: bool = True,
    ax: "Axes | None" = None,
    *,
    show_labels: bool = True,
    show_scores: bool = True,
) -> "Axes":
    """The axes with the image and its boxes; `draw_bbox` draws them on an array.

    img: (3, H, W) or (1, H, W) float32 in [0, 255]; None: the boxes alone
    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels
    label: (R,) non-negative integers, or None; score: (R,) float, or None
    label_names: class names in order of label; without them the labels themselves are written
    instance_colors: (R, G, B) in [0, 255] each, used in turn; None: one color per class
    alpha: opacity of the boxes, 0 to 1; linewidth: points
    sort_by_score: whether the boxes with the highest scores are drawn last, on top of the others
    ax: as for `vis_image`; show_labels, show_scores: as for `draw_bbox`
    Raises ShapeError if lengths differ, ValueRangeError for a label without a name, NaN or infinite boxes.
    Source: ChainerCV's function of this name. Where we differ: the default color is the class's, not red for all.
    """
    boxes, labels, scores = checked_boxes(bbox, label, score, label_names)
    ax = vis_image(img, ax)
    colors = instance_color_list(instance_colors, [0] * len(boxes) if labels is None else labels.tolist())
    patches = import_matplotlib().patches
    for i in drawing_order(len(boxes), scores if sort_by_score else None):
        y_min, x_min, y_max, x_max = boxes[i].tolist()
        color = rgb(colors[i])
        ax.add_patch(
            patches.Rectangle(
                (x_min, y_min),
                x_max - x_min,
                y_max - y_min,
                fill=False,
                edgecolor=color,
                linewidth=linewidth,
                alpha=alpha,
            )
        )
        text = caption(
            None if labels is None or not show_labels else int(labels[i]),
            None if scores is None or not show_scores else float(scores[i]),
            label_names,
        )
        write_caption(ax, x_min, y_min, text, colors[i])
    if img is None:
        ax.autoscale_view()
    return ax


def instance_color_list(colors: Iterable[Color] | None, numbers: Sequence[int]) -> list[Color]:
    """A color (R, G, B) for each number: the given ones in turn, or those of `label_color`."""
    given = [] if colors is None else list(colors)
    return [given[i % len(given)] if given else label_color(number) for i, number in enumerate(numbers)]


def drawing_order(n: int, score: Array | None) -> list[int]:
    """The indices of n instances in order of drawing: by ascending score, or unchanged without scores."""
    order: list[int] = list(range(n)) if score is None else np.argsort(score, kind="stable").tolist()
    return order


def rgb(color: Color) -> tuple[float, ...]:
    """The color for matplotlib: three numbers in [0, 1]."""
    return tuple(float(part) / 255 for part in color)


def write_caption(ax: "Axes", x: float, y: float, text: str, color: Color, *, centred: bool = False) -> None:
    """Write the text in black or white on a background of that color whose lower left corner, or center, is (x, y)."""
    if text:
        ax.text(
            x,
            y,
            text,
            color=rgb(ink_on(color)),
            fontsize=8,
            horizontalalignment="center" if centred else "left",
            verticalalignment="center" if centred else "bottom",
            clip_on=True,
            parse_math=False,  # names may contain dollar signs
            bbox={"facecolor": rgb(color), "edgecolor": "none", "alpha": 0.8, "pad": 1.5},
        )
