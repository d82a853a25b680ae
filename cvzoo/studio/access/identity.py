"""Who makes a request."""

import dataclasses
from typing import Any, Literal, TypeAlias

from cvzoo.studio.access.roles import Role
from cvzoo.studio.database.tables import USER

Scope: TypeAlias = Literal["read", "write"]
Via: TypeAlias = Literal["session", "token"]
OF_USER = (USER.c.id, USER.c.name, USER.c.shown_name, USER.c.role, USER.c.has_keys)


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

    @classmethod
    def of_row(cls, row: Any, *, may_write: bool, via: Via, until: int) -> "Identity":
        """That of a row with the columns OF_USER."""
        shown = row.shown_name or row.name
        return cls(row.id, row.name, shown, row.role, row.has_keys, may_write=may_write, via=via, until=until)
