"""The audit: who did what, from where; secrets are never in it."""

import dataclasses
import json
from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Engine, delete, func, insert, select

from cvzoo.studio.access.audit_file import Row, append_rows, audit_file, end_of, read_rows
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
    append_rows(audit_file(engine), [row])


def restore_audit(engine: Engine) -> int:
    """How many rows the file had and the database lacked; with them, all have new numbers in the order of the file."""
    with writing(engine) as connection:
        known, written = _known(connection), list(read_rows(audit_file(engine)))
        missing = Counter(written) - Counter(known)
        if missing:
            connection.execute(delete(AUDIT))
            connection.execute(insert(AUDIT), [dict(zip(_NAMES, row)) for row in _merged(written, known)])
    return missing.total()


def complete_audit_file(engine: Engine) -> int:
    """How many rows the file lacked, such as those of a restored backup, and has now; no server may be running."""
    path = audit_file(engine)
    with reading(engine) as connection:
        n_row = connection.execute(select(func.count()).select_from(AUDIT)).scalar_one()
        if (n_row, _known(connection, 1)) == end_of(path):  # of a large one, all of it would take seconds
            return 0
        known = _known(connection)
    lacking, found = Counter(known) - Counter(read_rows(path)), []
    for row in known:
        if lacking[row]:
            lacking[row] -= 1
            found.append(row)
    return len(found) if append_rows(path, found) else 0


def _known(connection: Connection, n: int | None = None) -> list[Row]:
    """The newest n rows, else all, in their order."""
    query = select(*(AUDIT.c[name] for name in _NAMES)).order_by(AUDIT.c.id.desc()).limit(n)
    found: list[Any] = [tuple(row) for row in connection.execute(query)]
    return found[::-1]


def _merged(written: list[Row], known: list[Row]) -> list[Row]:
    """The file's rows in its order, not that of a clock, which may have been set back.

    What only the database knows goes before the next row that both have, else to the end.
    """
    places: defaultdict[Row, deque[int]] = defaultdict(deque)
    for i, row in enumerate(written):
        places[row].append(i)
    before: defaultdict[int, list[Row]] = defaultdict(list)
    waiting: list[Row] = []
    for row in known:
        if places[row]:
            before[places[row].popleft()] += waiting
            waiting = []
        else:
            waiting.append(row)
    return [each for i, row in enumerate(written) for each in (*before[i], row)] + waiting


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
