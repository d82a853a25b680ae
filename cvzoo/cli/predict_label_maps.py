"""The classes of an image's pixels, for the terminal and for JSON, and the map as a picture that programs can read."""

import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.cli.presentation import Presentation
from cvzoo.cli.result_table import printable
from cvzoo.links.model.label_maps import LabelMaps
from cvzoo.links.model.segmenter import AbstractSegmenter
from cvzoo.visualizations.draw_bbox import DrawStyle

_FOLDER = "label_maps"


def label_map_record(
    image: str, size: tuple[int, int], result: LabelMaps, i: int, picture: str | None = None
) -> dict[str, Any]:
    """The classes that image `i` shows, the largest first, as a table ready for JSON.

    photo: its name as the user gave it; size: (H, W) pixels; picture: the file with the tinted image, if any
    """
    classes = [{key: value for key, value in each.items() if key != "photo"} for each in result.to_records(i)]
    return {"photo": image, "height": size[0], "width": size[1], "picture": picture, "classes": classes}


def label_map_table(image: str, classes: Sequence[dict[str, Any]]) -> str:
    """Lines of text: the image's name, then one row per class with its name and its fraction of the pixels."""
    names = [printable(str(each["label"] if each["name"] is None else each["name"])) for each in classes]
    width = max(len("class"), *map(len, names))
    lines = [printable(image), f"  {'class':<{width}}  pixels"]
    return "\n".join([*lines, *(f"  {name:<{width}}  {each['share']:6.1%}" for name, each in zip(names, classes))])


def _table(record: dict[str, Any]) -> str:
    return label_map_table(record["photo"], record["classes"])


def _draw(result: LabelMaps, i: int, img: np.ndarray, style: DrawStyle) -> np.ndarray:
    return result.draw(i, img=img, colors=style.colors)


def _write_map(result: LabelMaps, i: int, folder: pathlib.Path, name: str) -> dict[str, Any]:
    (folder / _FOLDER).mkdir(exist_ok=True)
    result.save_map(i, folder / _FOLDER / f"{name}.png")
    return {"label_map": f"{_FOLDER}/{name}.png"}


LABEL_MAPS = Presentation(AbstractSegmenter, label_map_record, _table, _draw, _write_map)
