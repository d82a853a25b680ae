"""Sessions of browsers, known by a cookie."""

from sqlalchemy import Engine, delete, insert, select, update

from cvzoo.studio.access.identity import OF_USER, Identity
from cvzoo.studio.access.secret import digest_of, new_secret
from cvzoo.studio.clock import Clock
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.tables import SESSION, USER

VALID_MS = 30 * 24 * 3600 * 1000
_SEEN_MS = 60 * 1000  # `seen_at` is not written more often


def open_session(engine: Engine, user: str, address: str, browser: str, clock: Clock) -> str:
    """The cookie of a new session."""
    cookie, now = new_secret(), clock()
    row = {"user": user, "created_at": now, "seen_at": now, "address": address[:64], "browser": browser[:200]}
    with writing(engine) as connection:
        connection.execute(delete(SESSION).where(SESSION.c.expires_at < now))
        connection.execute(insert(SESSION).values(digest=digest_of(cookie), expires_at=now + VALID_MS, **row))
    return cookie


def session_identity(engine: Engine, cookie: str, clock: Clock) -> Identity | None:
    """Who has the cookie; None if it is unknown or expired. A session that is used is prolonged."""
    digest, now = digest_of(cookie), clock()
    with reading(engine) as connection:
        query = select(*OF_USER, SESSION.c.seen_at, SESSION.c.expires_at).join(USER, USER.c.id == SESSION.c.user)
        valid = (SESSION.c.digest == digest) & (SESSION.c.expires_at > now) & USER.c.is_active
        row = connection.execute(query.where(valid)).first()
    if row is None:
        return None
    if now - row.seen_at > _SEEN_MS:
        with writing(engine) as connection:
            mine = update(SESSION).where(SESSION.c.digest == digest)
            connection.execute(mine.values(seen_at=now, expires_at=now + VALID_MS))
    until = min(row.expires_at, row.seen_at + _SEEN_MS)
    return Identity.of_row(row, may_write=True, via="session", until=until)


def close_session(engine: Engine, cookie: str) -> None:
    """Ends the session; an unknown one is no error."""
    with writing(engine) as connection:
        connection.execute(delete(SESSION).where(SESSION.c.digest == digest_of(cookie)))
