"""Drawing of keypoints on an image array."""

import numpy as np
import numpy.typing as npt
from PIL import ImageDraw

from cvzoo.errors.exceptions import ShapeError
from cvzoo.images.from_pil import from_pil
from cvzoo.images.write_image import to_pil
from cvzoo.typing.aliases import Array, ArrayLike, Image
from cvzoo.visualizations.colors import label_color


def draw_point(
    img: ArrayLike, point: ArrayLike, visible: ArrayLike | None = None, *, radius: float | None = None
) -> Image:
    """A new image with a disc at each point: (3, H, W) float32 of integers in [0, 255].

    img: (3, H, W) or (1, H, W) in [0, 255], or any array that `read_image` takes
    point: (R, K, 2) float32, (y, x); NaN points are omitted
    visible: (R, K) bool, or None: all are drawn
    radius: pixels; None scales it with the image
    The k-th points of all objects have one color. Raises ShapeError if the shapes do not match.
    """
    point, shown = checked_points(point, visible)
    pil = to_pil(np.asarray(img)).convert("RGB")
    if radius is None:
        radius = max(round(max(pil.size) / 160), 2)
    draw = ImageDraw.Draw(pil)
    for r, k in zip(*np.nonzero(shown)):
        y, x = (float(value) for value in point[r, k])
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=label_color(int(k)), outline=(0, 0, 0))
    return from_pil(pil, color=True, background=None, name="img")


def checked_points(point: npt.ArrayLike, visible: npt.ArrayLike | None) -> tuple[Array, Array]:
    """The points, (R, K, 2) float32, and which of them are drawn, (R, K) bool. Raises ShapeError as `draw_point`."""
    points = np.asarray(point, np.float32)
    if points.ndim != 3 or points.shape[2] != 2:
        raise ShapeError("point must be (R, K, 2)", got=points.shape)
    shown = np.all(np.isfinite(points), axis=2)
    if visible is not None:
        visible = np.asarray(visible, bool)
        if visible.shape != shown.shape:
            raise ShapeError("visible must be (R, K)", expected=shown.shape, got=visible.shape)
        shown &= visible
    return points, shown
