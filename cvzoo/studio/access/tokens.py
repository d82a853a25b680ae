"""Tokens for programs: `Authorization: Bearer cvz_...`."""

from sqlalchemy import Engine, insert, select, update

from cvzoo.errors.exceptions import ConfigError
from cvzoo.studio.access.identity import Identity, Scope
from cvzoo.studio.access.secret import digest_of, new_secret
from cvzoo.studio.clock import Clock
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.tables import TOKEN, USER
from cvzoo.studio.ids import new_id

PREFIX = "cvz_"  # by which scanners recognize a token that was published by mistake
_DAY_MS = 24 * 3600 * 1000
_SEEN_MS = 60 * 1000


def new_token(engine: Engine, name: str, scope: Scope, days: int, clock: Clock) -> str:
    """A new token of the administrator, which cannot be shown again.

    name: for people; scope: "read", or "write" for all that the user may do; days: until it expires
    Raises ConfigError if the studio was never opened, so that it has no user.
    """
    secret, now = PREFIX + new_secret(), clock()
    with writing(engine) as connection:
        user = connection.execute(select(USER.c.id).where(USER.c.is_admin).order_by(USER.c.created_at)).scalar()
        if user is None:
            raise ConfigError("the studio has no user yet", hint="run cvzoo studio once")
        row = {"id": new_id("tk"), "digest": digest_of(secret), "user": user, "name": name[:80], "scope": scope}
        connection.execute(insert(TOKEN).values(**row, created_at=now, expires_at=now + days * _DAY_MS))
    return secret


def token_identity(engine: Engine, secret: str, clock: Clock) -> Identity | None:
    """Who has the token; None if it is unknown, expired or revoked."""
    now = clock()
    with reading(engine) as connection:
        query = select(USER.c.id, USER.c.name, TOKEN.c.id.label("token"), TOKEN.c.scope, TOKEN.c.used_at)
        query = query.join(USER, USER.c.id == TOKEN.c.user)
        valid = (TOKEN.c.digest == digest_of(secret)) & (TOKEN.c.expires_at > now) & TOKEN.c.revoked_at.is_(None)
        row = connection.execute(query.where(valid)).first()
    if row is None:
        return None
    if row.used_at is None or now - row.used_at > _SEEN_MS:
        with writing(engine) as connection:
            connection.execute(update(TOKEN).where(TOKEN.c.id == row.token).values(used_at=now))
    return Identity(row.id, row.name, may_write=row.scope == "write", via="token")


def revoke_tokens(engine: Engine, name: str, clock: Clock) -> int:
    """Revokes the tokens of this name; returns how many there were."""
    with writing(engine) as connection:
        mine = (TOKEN.c.name == name) & TOKEN.c.revoked_at.is_(None)
        return connection.execute(update(TOKEN).where(mine).values(revoked_at=clock())).rowcount
