"""A setting that is a name."""

from collections.abc import Mapping
from typing import TypeVar

from cvzoo.errors.exceptions import ValueRangeError

T = TypeVar("T")


def one_of(table: Mapping[str, T], name: str, what: str) -> T:
    """table[name]. Raises ValueRangeError that begins with `what` and lists the names, if there is none."""
    if not isinstance(name, str) or name not in table:
        raise ValueRangeError(what, expected=" or ".join(map(repr, table)), got=repr(name)[:80])
    return table[name]
