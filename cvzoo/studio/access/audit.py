"""The audit: who did what, from where; secrets are never in it."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Engine, insert, select

from cvzoo.studio.clock import Clock
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.tables import AUDIT, USER


@dataclasses.dataclass(frozen=True)
class Entry:
    """What a user did. at: milliseconds since 1970; user: the name; detail: JSON"""

    id: int
    at: int
    user: str | None
    address: str
    action: str
    object: str
    detail: str

    def to_json(self) -> dict[str, Any]:
        """For the REST interface."""
        return dataclasses.asdict(self) | {"detail": json.loads(self.detail)}


def record(
    engine: Engine, clock: Clock, *, user: str | None, address: str, action: str, thing: str, detail: Mapping[str, Any]
) -> None:
    """Adds a row. action: such as "session.open"; thing: the identifier of what was changed"""
    row = {"user": user, "address": address[:64], "action": action, "object": thing[:80]}
    with writing(engine) as connection:
        connection.execute(insert(AUDIT).values(at=clock(), detail=json.dumps(dict(detail)), **row))


def entries(engine: Engine, *, before: int | None, action: str, limit: int) -> list[Entry]:
    """The newest entries before an identifier. action: what their actions begin with"""
    columns = (AUDIT.c.id, AUDIT.c.at, USER.c.name, AUDIT.c.address, AUDIT.c.action, AUDIT.c.object, AUDIT.c.detail)
    query = select(*columns).outerjoin(USER, USER.c.id == AUDIT.c.user).order_by(AUDIT.c.id.desc()).limit(limit)
    if before is not None:
        query = query.where(AUDIT.c.id < before)
    if action:
        query = query.where(AUDIT.c.action.startswith(action, autoescape=True))
    with reading(engine) as connection:
        return [Entry(*row) for row in connection.execute(query)]
