"""Drawing of a semantic segmentation on matplotlib's axes."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.reporting.import_matplotlib import import_matplotlib
from cvzoo.visualizations.vis_bbox import Color, rgb
from cvzoo.visualizations.vis_image import vis_image
from cvzoo.visualizations.voc_colormap import voc_colormap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch


def vis_semantic_segmentation(
    img: npt.ArrayLike | None,
    label: npt.ArrayLike,
    label_names: Sequence[str] | None = None,
    label_colors: Iterable[Color] | None = None,
    ignore_label_color: Color = (0, 0, 0),
    alpha: float = 1,
    all_label_names_in_legend: bool = False,
    ax: "Axes | None" = None,
) -> "tuple[Axes, list[Patch]]":
    """The axes with the image and its label map, and the handles of a legend: `ax.legend(handles=legend_handles)`.

    img: (3, H, W) or (1, H, W) float32 in [0, 255]; None: the label map alone
    label: (H, W) int32, -1 (ignored) or a class
    label_names: class names in order of label; without them the legend has labels
    label_colors: (R, G, B) in [0, 255] of each class; None: `voc_colormap`
    ignore_label_color: of ignored pixels
    alpha: opacity of the label map, 0 to 1
    all_label_names_in_legend: whether the legend has all classes, or only those in the label map
    ax: as for `vis_image`
    Raises ShapeError if the sizes differ, DtypeError for labels that are no integers, ValueRangeError for a label
    without a name or a color, or below -1.
    Source: ChainerCV's function of this name. Where we differ: `all_label_names_in_legend` is as documented;
    ChainerCV's code does the opposite.
    """
    label = np.asarray(label)
    if label.dtype.kind not in "iu":
        raise DtypeError("vis_semantic_segmentation: label must be of integers", got=label.dtype)
    if label.ndim != 2 or (img is not None and np.asarray(img).shape[1:] != label.shape):
        expected = "(H, W)" if img is None else np.asarray(img).shape[1:]
        raise ShapeError(
            "vis_semantic_segmentation: label must be of the image's size", expected=expected, got=label.shape
        )
    shown = np.unique(label).tolist()
    n_class = max([1, *(each + 1 for each in shown)]) if label_names is None else len(label_names)
    colors = voc_colormap(range(n_class)) if label_colors is None else np.array(list(label_colors), np.float32)
    if label_names is not None and label_colors is not None and len(colors) != n_class:
        what = "vis_semantic_segmentation: one colour a name"
        raise ValueRangeError(what, expected=n_class, got=len(colors))
    if shown and (shown[0] < -1 or shown[-1] >= min(n_class, len(colors))):
        what = "vis_semantic_segmentation: a label has no name or no colour"
        raise ValueRangeError(what, expected=f"-1 .. {min(n_class, len(colors)) - 1}", got=(shown[0], shown[-1]))
    palette = np.concatenate((np.array([ignore_label_color], np.float32), colors.reshape(-1, 3)))
    tint = np.full((*label.shape, 4), round(255 * alpha), np.uint8)
    tint[..., :3] = np.rint(palette[label.astype(np.int64) + 1])
    ax = vis_image(img, ax)
    ax.imshow(tint, extent=(0, label.shape[1], label.shape[0], 0))
    listed = range(n_class) if all_label_names_in_legend else [each for each in shown if each >= 0]
    patch = import_matplotlib().patches.Patch
    handles = [
        patch(color=rgb(colors[each]), label=str(each) if label_names is None else label_names[each]) for each in listed
    ]
    return ax, handles
