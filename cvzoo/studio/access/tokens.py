"""Tokens for programs: `Authorization: Bearer cvz_...`."""

import dataclasses
from typing import Any

from sqlalchemy import Engine, insert, select, update

from cvzoo.errors.exceptions import ConfigError
from cvzoo.studio.access.identity import OF_USER, Identity, Scope
from cvzoo.studio.access.secret import digest_of, new_secret
from cvzoo.studio.access.tickets import first_administrator
from cvzoo.studio.clock import Clock
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.tables import TOKEN, USER
from cvzoo.studio.ids import new_id

PREFIX = "cvz_"  # by which scanners recognize a token that was published by mistake
_DAY_MS = 24 * 3600 * 1000
_SEEN_MS = 60 * 1000


@dataclasses.dataclass(frozen=True)
class Token:
    """A token that was made; expires_at, used_at: milliseconds since 1970"""

    id: str
    name: str
    scope: Scope
    expires_at: int
    used_at: int | None

    def to_json(self) -> dict[str, Any]:
        """For the REST interface."""
        return dataclasses.asdict(self)


def new_token(engine: Engine, name: str, scope: Scope, days: int, clock: Clock, user: str | None = None) -> str:
    """A new token of a user, by default the administrator, which cannot be shown again.

    name: for people; scope: "read", or "write" for all that the user may do; days: until it expires
    Raises ConfigError if the studio was never opened, so that it has no user.
    """
    secret, now = PREFIX + new_secret(), clock()
    with writing(engine) as connection:
        user = user or first_administrator(connection)
        if user is None:
            raise ConfigError("the studio has no user yet", hint="run cvzoo studio once")
        row = {"id": new_id("tk"), "digest": digest_of(secret), "user": user, "name": name[:80], "scope": scope}
        connection.execute(insert(TOKEN).values(**row, created_at=now, expires_at=now + days * _DAY_MS))
    return secret


def token_identity(engine: Engine, secret: str, clock: Clock) -> Identity | None:
    """Who has the token; None if it is unknown, expired or revoked."""
    now = clock()
    with reading(engine) as connection:
        query = select(*OF_USER, TOKEN.c.id.label("token"), TOKEN.c.scope, TOKEN.c.used_at, TOKEN.c.expires_at)
        query = query.join(USER, USER.c.id == TOKEN.c.user)
        valid = (TOKEN.c.digest == digest_of(secret)) & (TOKEN.c.expires_at > now) & TOKEN.c.revoked_at.is_(None)
        valid &= USER.c.is_active
        row = connection.execute(query.where(valid)).first()
    if row is None:
        return None
    if row.used_at is None or now - row.used_at > _SEEN_MS:
        with writing(engine) as connection:
            connection.execute(update(TOKEN).where(TOKEN.c.id == row.token).values(used_at=now))
    until = min(row.expires_at, (row.used_at or 0) + _SEEN_MS)
    return Identity.of_row(row, may_write=row.scope == "write", via="token", until=until)


def tokens_of(engine: Engine, user: str, clock: Clock) -> list[Token]:
    """The user's tokens that are neither revoked nor expired."""
    valid = (TOKEN.c.user == user) & (TOKEN.c.expires_at > clock()) & TOKEN.c.revoked_at.is_(None)
    columns = (TOKEN.c.id, TOKEN.c.name, TOKEN.c.scope, TOKEN.c.expires_at, TOKEN.c.used_at)
    with reading(engine) as connection:
        return [Token(*row) for row in connection.execute(select(*columns).where(valid).order_by(TOKEN.c.created_at))]


def revoke_token(engine: Engine, user: str, token: str, clock: Clock) -> bool:
    """Revokes one of the user's tokens by its identifier; whether there was one."""
    with writing(engine) as connection:
        mine = (TOKEN.c.id == token) & (TOKEN.c.user == user) & TOKEN.c.revoked_at.is_(None)
        return connection.execute(update(TOKEN).where(mine).values(revoked_at=clock())).rowcount == 1


def revoke_tokens(engine: Engine, name: str, clock: Clock) -> int:
    """Revokes the tokens of this name; returns how many there were."""
    with writing(engine) as connection:
        mine = (TOKEN.c.name == name) & TOKEN.c.revoked_at.is_(None)
        return connection.execute(update(TOKEN).where(mine).values(revoked_at=clock())).rowcount
