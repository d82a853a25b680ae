"""One-time links: who has one is signed in without a password, once, within ten minutes."""

from sqlalchemy import Connection, Engine, delete, insert, select, update

from cvzoo.studio.access.secret import digest_of, new_secret
from cvzoo.studio.clock import Clock
from cvzoo.studio.database.engine import writing
from cvzoo.studio.database.tables import TICKET, USER
from cvzoo.studio.ids import new_id

VALID_MS = 10 * 60 * 1000
_FIRST_USER = "admin"


def new_ticket(engine: Engine, clock: Clock, user: str | None = None) -> str:
    """The secret of a new link for a user; None: the first active administrator, who is created if there is none."""
    secret, now = new_secret(), clock()
    with writing(engine) as connection:
        if user is None:
            user = first_administrator(connection)
        if user is None:
            user = new_id("us")
            row = {"id": user, "name": _FIRST_USER, "role": "administrator", "is_active": True, "created_at": now}
            connection.execute(insert(USER).values(**row))
        connection.execute(delete(TICKET).where(TICKET.c.expires_at < now))
        connection.execute(insert(TICKET).values(digest=digest_of(secret), user=user, expires_at=now + VALID_MS))
    return secret


def first_administrator(connection: Connection) -> str | None:
    """The identifier of the oldest administrator who may sign in, if there is one."""
    mine = (USER.c.role == "administrator") & USER.c.is_active
    found: str | None = connection.execute(select(USER.c.id).where(mine).order_by(USER.c.created_at)).scalar()
    return found


def redeem(engine: Engine, secret: str, clock: Clock) -> str | None:
    """The user of the link, which is used up by this; None if it is unknown, used or expired."""
    now = clock()
    with writing(engine) as connection:
        mine = TICKET.c.digest == digest_of(secret)
        used = update(TICKET).where(mine, TICKET.c.used_at.is_(None), TICKET.c.expires_at > now).values(used_at=now)
        if connection.execute(used).rowcount != 1:
            return None
        return connection.execute(select(TICKET.c.user).where(mine)).scalar_one()
