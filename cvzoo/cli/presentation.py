"""The presentation of predictions of one task: table, JSON and drawing."""

import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cvzoo.cli.photo_sources import Photo
from cvzoo.links.chain import Chain
from cvzoo.visualizations.draw_bbox import DrawStyle


class Predicted(NamedTuple):
    """An image that went through the model: its path or address, its pixels, its place in what `predict` gave."""

    path: Photo
    img: np.ndarray
    found: Any
    i: int


class Presentation(NamedTuple):
    """The presentation of the predictions of one task.

    model_class: of the models whose `predict(imgs)` gives such results
    record: from the image's name, its size (H, W), what `predict` gave, the image's place in it and the name of the
        picture drawn (None: none was), what JSON says; with these fields first: image, height, width, picture
    table: from such a record, lines for a terminal
    draw: from what `predict` gave, the image's place in it, the image and the style, the picture (3, H, W) float32 RGB
        [0, 255]; None: there is nothing to draw
    write_more: from what `predict` gave, the image's place in it, the folder for results and a name for the image in it
        (without an ending), writes what else there is and gives the fields that JSON has for it; None: nothing
    """

    model_class: type[Chain]
    record: Callable[[str, tuple[int, int], Any, int, str | None], dict[str, Any]]
    table: Callable[[dict[str, Any]], str]
    draw: Callable[[Any, int, np.ndarray, DrawStyle], np.ndarray] | None
    write_more: Callable[[Any, int, pathlib.Path, str], dict[str, Any]] | None = None
