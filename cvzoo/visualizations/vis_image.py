"""Drawing of an image on matplotlib's axes."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cvzoo.images.write_image import to_pil
from cvzoo.reporting.import_matplotlib import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def vis_image(img: npt.ArrayLike | None, ax: "Axes | None" = None) -> "Axes":
    """The axes with the image; their x and y are pixels, with (0, 0) in the upper left corner of the first pixel.

    img: (3, H, W) or (1, H, W) float32 in [0, 255], or any array that `read_image` takes; None: nothing is drawn
    ax: matplotlib's axes to draw on; None: those of a new figure, of pyplot's if the program has imported pyplot
    Raises ImageError for an invalid image, MissingExtraError if matplotlib is not installed.
    Source: ChainerCV's function of this name.
    """
    ax = axes_or_new(ax)
    if img is not None:
        pixels = np.asarray(to_pil(np.asarray(img)).convert("RGB"))
        height, width = pixels.shape[:2]
        # as for half-open boxes, the first pixel extends from 0 to 1
        ax.imshow(pixels, extent=(0, width, height, 0))
    return ax
