"""Where in a network's input an image lies."""

from typing import NamedTuple

Size = tuple[int, int]


class Placement(NamedTuple):
    """An image in a network's input, in pixels of the input.

    resized: (H, W) of the whole image
    input_size: (H, W) of the network's input
    offset: (y, x) of the image's upper left corner; negative where its middle is cut out
    """

    resized: Size
    input_size: Size
    offset: tuple[int, int] = (0, 0)
