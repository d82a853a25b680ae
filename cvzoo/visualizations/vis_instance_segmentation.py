"""Drawing of instance masks on matplotlib's axes."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.mask_to_bbox import mask_to_bbox
from cvzoo.geometry.rle import RLEs
from cvzoo.visualizations.draw_bbox import caption, checked_boxes
from cvzoo.visualizations.vis_bbox import Color, drawing_order, instance_color_list, write_caption
from cvzoo.visualizations.vis_image import vis_image

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def vis_instance_segmentation(
    img: npt.ArrayLike | None,
    mask: "npt.ArrayLike | RLEs",
    label: npt.ArrayLike | None = None,
    score: npt.ArrayLike | None = None,
    label_names: Sequence[str] | None = None,
    instance_colors: Iterable[Color] | None = None,
    alpha: float = 0.7,
    sort_by_score: bool = True,
    ax: "Axes | None" = None,
    *,
    show_labels: bool = True,
    show_scores: bool = True,
) -> "Axes":
    """The axes with the image and its instances, each tinted; `draw_mask` draws them on an array.

    img: (3, H, W) or (1, H, W) float32 in [0, 255]; None: the masks alone
    mask: (R, H, W) bool, or RLEs of R such masks, of which one at a time is decoded
    label, score, label_names: as for `vis_bbox`; they are written at the center of each mask
    instance_colors: (R, G, B) in [0, 255] each, used in turn; None: one color per instance
    alpha: opacity of the tint, 0 to 1
    sort_by_score: whether the masks with the highest scores are on top of the others
    ax: as for `vis_image`; show_labels, show_scores: as for `draw_bbox`
    Raises ShapeError if sizes or lengths differ, ValueRangeError for a label without a name.
    Source: ChainerCV's function of this name.
    """
    if not isinstance(mask, RLEs):
        mask = np.asarray(mask, bool)
        if mask.ndim != 3:
            raise ShapeError("vis_instance_segmentation: mask must be (R, H, W)", got=mask.shape)
    size = _size(mask, img)
    bbox = mask.to_bbox() if isinstance(mask, RLEs) else mask_to_bbox(mask)
    bbox, labels, scores = checked_boxes(bbox, label, score, label_names)
    ax = vis_image(img, ax)
    if not len(bbox):
        return ax
    colors = instance_color_list(instance_colors, range(len(bbox)))
    order = drawing_order(len(bbox), scores if sort_by_score else None)
    tint = np.zeros((*size, 4), np.uint8)  # RGB and opacity
    for i in order:
        one = mask[i].to_masks()[0] if isinstance(mask, RLEs) else mask[i]
        tint[one] = *(round(part) for part in colors[i]), round(255 * alpha)
    ax.imshow(tint, extent=(0, size[1], size[0], 0))
    for i in order:
        y, x = (bbox[i, :2] + bbox[i, 2:]) / 2
        text = caption(
            None if labels is None or not show_labels else int(labels[i]),
            None if scores is None or not show_scores else float(scores[i]),
            label_names,
        )
        write_caption(ax, x, y, text, colors[i], centred=True)
    return ax


def _size(mask: "np.ndarray | RLEs", img: npt.ArrayLike | None) -> tuple[int, int]:
    """(H, W) of all masks, which is that of the image."""
    sizes = {tuple(map(int, size)) for size in mask.sizes} if isinstance(mask, RLEs) else {mask.shape[1:]}
    if img is not None:
        sizes.add(np.asarray(img).shape[1:])
    if len(sizes) > 1 and len(mask):
        raise ShapeError("vis_instance_segmentation: masks and image must be of one size", got=sorted(sizes))
    height, width = sizes.pop() if sizes else (0, 0)
    return height, width
