"""The audit: who did what, from where; secrets are never in it."""

import dataclasses
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Engine, delete, insert, select

from cvzoo.studio.access.audit_file import append_row, audit_file, read_rows
from cvzoo.studio.clock import Clock
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.tables import AUDIT, USER

_NAMES = ("at", "user", "address", "action", "object", "detail")


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
    """Adds a row, to the file beside the database, too.

    action: such as "session.open"; thing: the identifier of what was changed
    """
    row = (clock(), user, address[:64], action, thing[:80], json.dumps(dict(detail)))
    with writing(engine) as connection:
        connection.execute(insert(AUDIT).values(dict(zip(_NAMES, row))))
    append_row(audit_file(engine), row)


def restore_audit(engine: Engine) -> int:
    """How many rows the file had and the database lacked; with them, all have new numbers in the order of time."""
    with writing(engine) as connection:
        query = select(*(AUDIT.c[name] for name in _NAMES)).order_by(AUDIT.c.id)
        known = [tuple(row) for row in connection.execute(query)]
        missing = Counter(read_rows(audit_file(engine)))
        missing.subtract(known)
        found = list((+missing).elements())
        if found:
            connection.execute(delete(AUDIT))
            rows = sorted([*found, *known], key=lambda row: row[0])
            connection.execute(insert(AUDIT), [dict(zip(_NAMES, row)) for row in rows])
    return len(found)


def deleted_datasets(connection: Connection) -> set[str]:
    """The data sets that were deleted, and not restored from the trash since."""
    query = select(AUDIT.c.action, AUDIT.c.object).where(AUDIT.c.action.in_(("dataset.delete", "trash.restore")))
    found: set[str] = set()
    for action, thing in connection.execute(query.order_by(AUDIT.c.id)):
        (found.add if action == "dataset.delete" else found.discard)(thing)
    return found


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
