"""The classes that a classifier gives an image, for the terminal and for JSON."""

from collections.abc import Sequence
from typing import Any

from cvzoo.cli.presentation import Presentation
from cvzoo.cli.result_table import printable
from cvzoo.links.model.classifications import Classifications
from cvzoo.links.model.classifier import AbstractClassifier

_SHOWN = 5  # classes an image


def class_record(
    image: str, size: tuple[int, int], result: Classifications, i: int, picture: str | None = None
) -> dict[str, Any]:
    """The best classes of image `i` as a table ready for JSON.

    photo: its name as the user gave it; size: (H, W) pixels; picture: always None, nothing is drawn
    """
    one = Classifications(result.probs[i : i + 1], label_names=result.label_names)
    classes = [{key: each[key] for key in ("rank", "label", "name", "score")} for each in one.to_records(_SHOWN)]
    if result.label_names is None:
        classes = [{**each, "name": None} for each in classes]
    return {"photo": image, "height": size[0], "width": size[1], "picture": picture, "classes": classes}


def class_table(image: str, classes: Sequence[dict[str, Any]]) -> str:
    """Lines of text: the image's name, then a row a class with its name and probability, the best first."""
    names = [printable(str(each["label"] if each["name"] is None else each["name"])) for each in classes]
    width = max(len("class"), *map(len, names))
    lines = [printable(image), f"  {'class':<{width}}  score"]
    return "\n".join([*lines, *(f"  {name:<{width}}  {each['score']:5.3f}" for name, each in zip(names, classes))])


def _table(record: dict[str, Any]) -> str:
    return class_table(record["photo"], record["classes"])


CLASSES = Presentation(AbstractClassifier, class_record, _table, None)
