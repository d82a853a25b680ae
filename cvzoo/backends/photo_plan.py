"""How a photo becomes a network's input, in numbers that a backend's `prepare_images` carries out."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from cvzoo.backends.resampling import Resampling
from cvzoo.errors.exceptions import ShapeError

Three = tuple[float, float, float]
Size = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class PhotoPlan:
    """An image resized, its values v made (v - mean) / std * factor / divisor - shift, and set into a frame.

    resized: (H, W) of the whole image once resized
    frame: (H, W) of the network's input
    how: of the resizing; an image that has this size already is not resized
    offset: (y, x) in the frame of the resized image's upper left corner; negative where its middle is cut out
    mean, std: of the channels in their order, in [0, 255]
    before: whether mean and std come before the resizing; as rounding has it, they do not commute
    fill: what is beside the image, normalized, in the order of the channels
    horizontal_first: for Pillow, which rounds in between
    bgr: whether blue comes first
    """

    resized: Size
    frame: Size
    how: Resampling
    offset: tuple[int, int] = (0, 0)
    mean: Three = (0.0, 0.0, 0.0)
    std: Three = (1.0, 1.0, 1.0)
    before: bool = False
    factor: float = 1.0
    divisor: float = 1.0
    shift: float = 0.0
    fill: Three = (0.0, 0.0, 0.0)
    horizontal_first: bool = True
    bgr: bool = False


def frame_of(images: Sequence[np.ndarray], plans: Sequence[PhotoPlan]) -> Size:
    """(H, W) of the network's input. Raises ShapeError unless the images can be carried out together."""
    frames = {plan.frame for plan in plans}
    if len(frames) != 1 or len(images) != len(plans):
        raise ShapeError("prepare_images: images must have plans of one frame", got=sorted(frames))
    for image in images:
        if image.ndim != 3 or image.shape[0] != 3 or image.dtype not in (np.uint8, np.float32):
            raise ShapeError(
                "prepare_images: an image", expected="(3, H, W) uint8 or float32", got=(image.shape, image.dtype)
            )
    (frame,) = frames
    return frame
