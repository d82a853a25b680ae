"""Who makes a request."""

import dataclasses
from typing import Literal, TypeAlias

from cvzoo.studio.access.roles import Role

Scope: TypeAlias = Literal["read", "write"]


@dataclasses.dataclass(frozen=True)
class Identity:
    """A user, and what the request may do.

    user: identifier; name, role: of the user
    may_write: false of a token that only reads
    via: how the user signed in
    """

    user: str
    name: str
    role: Role
    may_write: bool
    via: Literal["session", "token"]
