"""The audit: who did what, from where; secrets are never in it."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Engine, insert

from cvzoo.studio.clock import Clock
from cvzoo.studio.database.engine import writing
from cvzoo.studio.database.tables import AUDIT


def record(
    engine: Engine, clock: Clock, *, user: str | None, address: str, action: str, thing: str, detail: Mapping[str, Any]
) -> None:
    """Adds a row. action: such as "session.open"; thing: the identifier of what was changed"""
    row = {"user": user, "address": address[:64], "action": action, "object": thing[:80]}
    with writing(engine) as connection:
        connection.execute(insert(AUDIT).values(at=clock(), detail=json.dumps(dict(detail)), **row))
