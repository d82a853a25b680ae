"""Search spaces of a recipe's settings: ranges and choices, and draws from them."""

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import ConfigError, ValueRangeError
from cvzoo.training.recipes.recipe import AbstractRecipe
from cvzoo.training.recipes.settings import NONE, setting_value

SYNTAX = "LOW..HIGH, log:LOW..HIGH, or choices A,B,C, lists as A|B"
_NUMBER = r"[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"(?P<log>log:)?(?P<low>{_NUMBER})\.\.(?P<high>{_NUMBER})")
_DIGITS = 4  # significant digits of a drawn number
_NOT_SEARCHED = {
    "data": "scores on different data cannot be compared",
    "metric": "values of different metrics cannot be compared",
    "epochs": "it is what a trial costs; successive halving stops trials early",
    "validate_every": "each trial is validated at the rungs",
    "processes": "it changes no score",
}


@dataclasses.dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, both included.

    is_log: whether their logarithm is uniformly distributed, instead of themselves; is_integer: whole numbers only
    """

    low: float
    high: float
    is_log: bool = False
    is_integer: bool = False

    def draw(self, rng: np.random.Generator) -> float | int:
        """A random number, with four significant digits unless whole."""
        low, high = (math.log(each) for each in (self.low, self.high)) if self.is_log else (self.low, self.high)
        value = float(rng.uniform(low, high))
        value = math.exp(value) if self.is_log else value
        if self.is_integer:
            return int(min(max(round(value), self.low), self.high))
        return min(max(float(f"{value:.{_DIGITS}g}"), self.low), self.high)

    @property
    def n_value(self) -> int | None:
        """The number of different values; None: more than can be exhausted."""
        return int(self.high - self.low) + 1 if self.is_integer else None

    def __str__(self) -> str:
        return f"{'log:' if self.is_log else ''}{self.low:g}..{self.high:g}"


@dataclasses.dataclass(frozen=True)
class Choices:
    """Any of some values, with equal probability."""

    values: tuple[Any, ...]

    def draw(self, rng: np.random.Generator) -> Any:
        """A random one of the values."""
        return self.values[int(rng.integers(len(self.values)))]

    @property
    def n_value(self) -> int | None:
        """The number of values."""
        return len(self.values)

    def __str__(self) -> str:
        is_list = any(isinstance(each, tuple) for each in self.values)
        return ("|" if is_list else ",").join(map(value_text, self.values))


Space = Range | Choices


def value_text(value: object) -> str:
    """A setting's value as it is written on a command line."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return ",".join(map(value_text, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def read_space(recipe: AbstractRecipe, name: str, words: object) -> Space:
    """The search space of a setting, its values checked by the setting's type and range; one choice is a fixed value.

    words: text of the form LOW..HIGH, log:LOW..HIGH, A,B,C, or A|B for settings that are lists; or a list of values
    Raises ConfigError for an unknown setting, with the nearest one; ValueRangeError for an invalid space.
    """
    if isinstance(words, str) and (match := _RANGE.fullmatch(words.strip())):
        return _range(recipe, name, words, match)
    if isinstance(words, str) and words.startswith("log:"):
        raise ValueRangeError(f"{name}: {words!r} is no search space", expected=SYNTAX)
    values = [setting_value(recipe, name, each) for each in _candidates(recipe, name, words)]
    if not values:
        raise ValueRangeError(f"{name}: the search space has no values", expected=SYNTAX)
    return Choices(tuple(each for i, each in enumerate(values) if each not in values[:i]))


def _candidates(recipe: AbstractRecipe, name: str, words: object) -> list[object]:
    if not isinstance(words, str):
        return list(words) if isinstance(words, list | tuple) else [words]
    if "|" in words or "," not in words or name == "data":
        return [each.strip() for each in words.split("|")]
    # A,B is one value of a setting that is a list, and two values of any other
    try:
        whole = setting_value(recipe, name, words)
    except ValueRangeError:
        whole = words
    return [whole] if isinstance(whole, tuple) else [each.strip() for each in words.split(",")]


def _range(recipe: AbstractRecipe, name: str, words: str, match: re.Match[str]) -> Range:
    ends = []
    for end in ("low", "high"):
        value = setting_value(recipe, name, match[end].strip())
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueRangeError(
                f"{name}: {words!r} is a range, but its values are no numbers", expected="choices A,B,C", got=words
            )
        ends.append(value)
    low, high = ends
    if not low < high:
        raise ValueRangeError(f"{name}: the range {words!r} is empty", expected="LOW..HIGH, LOW below HIGH")
    is_log = match["log"] is not None
    if is_log and low <= 0:
        raise ValueRangeError(f"{name}: a logarithmic range begins above 0", expected="log:LOW..HIGH", got=words)
    return Range(low, high, is_log, _is_integer(recipe, name, low, high))


def _is_integer(recipe: AbstractRecipe, name: str, low: float, high: float) -> bool:
    """Whether the setting takes whole numbers only."""
    if not (isinstance(low, int) and isinstance(high, int)):
        return False
    try:
        setting_value(recipe, name, low + 0.5)
    except ValueRangeError:
        return True
    return False


def read_spaces(recipe: AbstractRecipe, words: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Space]]:
    """The fixed values, those with one choice, and the search spaces, by the settings' names.

    words: see `read_space`
    Raises ConfigError for a setting that cannot be searched, and as `read_space`.
    """
    spaces = {name: read_space(recipe, name, each) for name, each in words.items()}
    fixed = {name: each.values[0] for name, each in spaces.items() if isinstance(each, Choices) and each.n_value == 1}
    searched = {name: each for name, each in spaces.items() if name not in fixed}
    for name, why in _NOT_SEARCHED.items():
        if name in searched:
            raise ConfigError(f"{name} cannot be searched: {why}", expected="one value", got=words[name])
    return fixed, searched


def draw_settings(
    spaces: Mapping[str, Space], *, seed: int, number: int, seen: Sequence[object] = ()
) -> dict[str, Any]:
    """The settings of a trial, the same for the same seed and number, and none of those already seen if possible.

    seen: settings of the trials before
    """
    drawn: dict[str, Any] = {}
    for attempt in range(100):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number, attempt)))
        drawn = {name: space.draw(rng) for name, space in spaces.items()}
        if drawn not in seen:
            break
    return drawn


def n_combination(spaces: Mapping[str, Space]) -> int | None:
    """The number of different settings; None: more than can be exhausted."""
    counts = [space.n_value for space in spaces.values()]
    return None if None in counts else math.prod(each for each in counts if each is not None)
