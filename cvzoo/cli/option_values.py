"""Types of command line options."""

import argparse
import math
from typing import NamedTuple


def positive(text: str) -> int:
    """An integer of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def tile_side(text: str) -> int:
    """An integer of at least 16: smaller tiles would be thousands per image, in which no network finds anything."""
    value = int(text)
    if value < 16:
        raise argparse.ArgumentTypeError(f"{text} pixels are too few for a tile, at least 16")
    return value


def share(text: str) -> float:
    """A number from 0 to 1."""
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def preset_or_share(text: str) -> float | str:
    """The name of a preset, or a number from 0 to 1, as `predict(score=)` takes."""
    try:
        return share(text)
    except ValueError:
        return text


class FrameRange(NamedTuple):
    """Which frames of a video are used: start, start + step ... before stop; None: to the end."""

    start: int = 0
    stop: int | None = None
    step: int = 1

    def __str__(self) -> str:
        return f"{self.start}:{'' if self.stop is None else self.stop}:{self.step}"


def frame_range(text: str) -> FrameRange:
    """`A:B`, `A:B:STEP`, with each part optional, as a slice of Python."""
    parts = text.split(":")
    start = stop = step = None
    try:
        start, stop, step = (int(each) if each.strip() else None for each in [*parts, "", ""][:3])
    except ValueError:
        parts = []
    if len(parts) not in (2, 3) or min(start or 0, stop or 0) < 0 or (step is not None and step < 1):
        raise argparse.ArgumentTypeError(f"expected frames A:B or A:B:STEP, such as 100:200 or 0::10, not {text!r}")
    if stop is not None and stop <= (start or 0):
        raise argparse.ArgumentTypeError(f"{text} has no frame: A:B ends before frame B, so that B must be above A")
    return FrameRange(start or 0, stop, step or 1)


class ThresholdRule(NamedTuple):
    """The rule that determines the score threshold of a class: best F1, or highest recall at a precision."""

    precision: float | None

    def __str__(self) -> str:
        return "f1" if self.precision is None else f"precision={self.precision:g}"


def threshold_rule(text: str) -> ThresholdRule:
    """`f1` or `precision=P`."""
    name, equals, value = text.partition("=")
    try:
        precision = float(value) if equals else None
    except ValueError:
        precision = -1.0
    is_known = text == "f1" if precision is None else name == "precision" and 0 < precision <= 1
    if not is_known:
        raise argparse.ArgumentTypeError(f"expected f1 or precision=0.9, not {text!r}")
    return ThresholdRule(precision)


def words(text: str) -> tuple[str, ...]:
    """Comma-separated words."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def integers(text: str) -> tuple[int, ...]:
    """Comma-separated integers."""
    return tuple(int(word) for word in text.split(","))


def color_words(text: str) -> str | tuple[str, ...] | dict[str, str]:
    """`CLASS=COLOR,...`, `COLOR,COLOR,...`, or the palette "voc"; whether the colors exist is not checked."""
    parts = words(text)
    if parts and "=" not in text:
        return "voc" if text == "voc" else parts
    named = [(name.strip(), color.strip()) for name, _, color in (each.rpartition("=") for each in parts)]
    if not all(name and color for name, color in named) or not named:
        raise argparse.ArgumentTypeError(f"expected CLASS=COLOR,... or COLOR,COLOR,..., not {text!r}")
    return dict(named)


def positive_float(text: str) -> float:
    """A finite number above 0."""
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def measured_speedups(text: str) -> dict[int, float]:
    """`2:1.9,8:7.2`: number of ranks to speed-up."""
    pairs = [pair.partition(":") for pair in text.split(",")]
    try:
        return {int(n): positive_float(speedup) for n, _, speedup in pairs}
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected ranks and speed-ups, such as 2:1.9,8:7.2, not {text!r}") from None


def not_negative(text: str) -> int:
    """An integer of at least 0."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return value


def rank_range(text: str) -> tuple[int, int]:
    """`4` or `2:4`: the least number of ranks, 1 by default, and the number."""
    return _least_and_most(text, "1", "ranks")


def node_range(text: str) -> tuple[int, int]:
    """`4` or `2:4`: the least number of machines, all by default, and the most."""
    return _least_and_most(text, text, "machines")


def _least_and_most(text: str, default: str, noun: str) -> tuple[int, int]:
    least, _, most = text.rpartition(":")
    try:
        found = (positive(least or default), positive(most))
    except ValueError:
        found = (1, 0)
    if found[0] > found[1]:
        raise argparse.ArgumentTypeError(f"expected a number of {noun}, such as 4 or 2:4, not {text!r}")
    return found
