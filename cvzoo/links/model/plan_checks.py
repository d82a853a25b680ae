"""Validation of the names and sizes that describe a network."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from cvzoo.errors.exceptions import ValueRangeError

T = TypeVar("T")


def one_of(table: Mapping[str, T], name: str, what: str) -> T:
    """table[name]. Raises ValueRangeError that begins with `what` and lists the names, for an unknown one."""
    if not isinstance(name, str) or name not in table:
        raise ValueRangeError(what, expected=" or ".join(map(repr, table)), got=repr(name)[:80])
    return table[name]


_MOST = 100_000  # limit of channels or blocks; a file with more is damaged or malicious


def check_plan_numbers(what: str, counts: Mapping[str, int | Iterable[int]], *, drop_path: float = 0.0) -> None:
    """Validates that all counts are integers from 1 to 100,000 and drop_path is a probability.

    counts: name -> a count, or several
    Raises ValueRangeError that begins with `what` and names the count.
    """
    for name, value in counts.items():
        for each in _several(value):
            if isinstance(each, bool) or not isinstance(each, int) or not 1 <= each <= _MOST:
                raise ValueRangeError(
                    f"{what}: {name} must be integers in range",
                    expected=f"integers from 1 to {_MOST}",
                    got=repr(each)[:80],
                )
    if isinstance(drop_path, bool) or not isinstance(drop_path, int | float) or not 0 <= drop_path <= 1:
        raise ValueRangeError(f"{what}: drop_path is out of range", expected="0 to 1", got=repr(drop_path)[:80])


def _several(value: object) -> Iterable[object]:
    return value if isinstance(value, tuple | list) else (value,)
