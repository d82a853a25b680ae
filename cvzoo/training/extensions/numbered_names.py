"""File names with placeholders for iteration and epoch."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer

_CHAINERS = {"{.updater.iteration}": "{iteration}", "{.updater.epoch}": "{epoch}"}
_PLACES = ("{iteration}", "{epoch}")


def with_plain_places(filename: str) -> str:
    """The name with {iteration} and {epoch} for Chainer's {.updater.iteration} and {.updater.epoch}."""
    for chainers, ours in _CHAINERS.items():
        filename = filename.replace(chainers, ours)
    return filename


def has_place(filename: str) -> bool:
    """Whether the name has a placeholder."""
    return any(place in filename for place in _PLACES)


def numbered(filename: str, trainer: "Trainer") -> str:
    """The name with the trainer's iteration and epoch filled in."""
    name = filename.replace("{iteration}", str(trainer.updater.iteration))
    return name.replace("{epoch}", str(trainer.updater.epoch))


def pattern_of(filename: str) -> re.Pattern[str]:
    """A pattern of the names that `numbered` returns; its first group is a number."""
    text = re.escape(filename)
    for place in _PLACES:
        text = text.replace(re.escape(place), r"(\d+)")
    return re.compile(text)
