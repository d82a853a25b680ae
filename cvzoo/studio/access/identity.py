"""Who makes a request."""

import dataclasses
from typing import Literal, TypeAlias

from cvzoo.studio.access.roles import Role

Scope: TypeAlias = Literal["read", "write"]
Via: TypeAlias = Literal["session", "token"]


@dataclasses.dataclass(frozen=True)
class Identity:
    """A user, and what the request may do.

    user: identifier; name, role: of the user; shown_name: for others to read, never ""
    has_keys: whether single letters are keys of the pages
    may_write: false of a token that only reads
    via: how the user signed in
    until: milliseconds since 1970, when the database is to be asked again, though it has not changed
    """

    user: str
    name: str
    shown_name: str
    role: Role
    has_keys: bool
    may_write: bool
    via: Via
    until: int = 0
