"""Limits of what a user's jobs take."""

import dataclasses
import json
from typing import Any

from sqlalchemy import Engine, select, update

from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.server_settings import read_setting, write_setting
from cvzoo.studio.database.tables import USER

_DEFAULT = "default_quota"  # the setting's name


@dataclasses.dataclass(frozen=True)
class Quota:
    """What a user's jobs may take; None: as much as there is. n_byte: of their folders"""

    n_running: int | None = None
    n_queued: int | None = None
    n_byte: int | None = None

    @property
    def is_limited(self) -> bool:
        return self != Quota()

    def to_json(self) -> dict[str, Any]:
        """For the database and the REST interface: "running", "queued", "bytes"."""
        return {"running": self.n_running, "queued": self.n_queued, "bytes": self.n_byte}


def quota_from_json(text: str) -> Quota:
    """The quota of a row; without limits if it is malformed."""
    try:
        tree = json.loads(text)
        return Quota(*(None if tree.get(key) is None else int(tree[key]) for key in ("running", "queued", "bytes")))
    except (ValueError, TypeError, AttributeError):
        return Quota()


def quotas(engine: Engine) -> dict[str, tuple[str, Quota]]:
    """(name, quota) of the users that have one, by identifier."""
    with reading(engine) as connection:
        rows = connection.execute(select(USER.c.id, USER.c.name, USER.c.quota).where(USER.c.quota != "{}")).all()
    found = {row.id: (row.name, quota_from_json(row.quota)) for row in rows}
    return {user: each for user, each in found.items() if each[1].is_limited}


def set_quota(engine: Engine, user: str, quota: Quota) -> None:
    """Another quota of a user."""
    with writing(engine) as connection:
        connection.execute(update(USER).where(USER.c.id == user).values(quota=json.dumps(quota.to_json())))


def default_quota(engine: Engine) -> Quota:
    """The quota of users that are added from now on."""
    return quota_from_json(json.dumps(read_setting(engine, _DEFAULT) or {}))


def set_default_quota(engine: Engine, quota: Quota) -> None:
    """Another quota of users that are added from now on; that of others stays."""
    write_setting(engine, _DEFAULT, quota.to_json() if quota.is_limited else None)
