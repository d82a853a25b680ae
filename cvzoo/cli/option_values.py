"""Types of command line options."""

import argparse
from typing import NamedTuple


def positive(text: str) -> int:
    """An integer of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def share(text: str) -> float:
    """A number from 0 to 1."""
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


class ThresholdRule(NamedTuple):
    """How the score threshold of a class is chosen: the best F1, or the highest recall at a precision."""

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
