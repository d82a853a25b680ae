"""Users: their roles, passwords and states."""

import dataclasses
import json
import re
from typing import Any

from sqlalchemy import Connection, Engine, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from cvzoo.errors.exceptions import ConfigError
from cvzoo.studio.access.passwords import MAX_LENGTH, MIN_LENGTH, hash_of, is_password
from cvzoo.studio.access.quotas import Quota, default_quota, quota_from_json
from cvzoo.studio.access.roles import Role
from cvzoo.studio.clock import Clock
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.tables import SESSION, TICKET, TOKEN, USER
from cvzoo.studio.ids import new_id

_NAME = re.compile(r"[\w.@+-]{1,80}")


@dataclasses.dataclass(frozen=True)
class User:
    """A user. is_active: false of one who may not sign in; created_at: milliseconds since 1970

    name: to sign in with; shown_name: what others read, never ""; has_keys: whether single letters are keys of pages
    """

    id: str
    name: str
    shown_name: str
    has_keys: bool
    role: Role
    is_active: bool
    has_password: bool
    created_at: int
    quota: Quota

    def to_json(self) -> dict[str, Any]:
        """For the REST interface."""
        return dataclasses.asdict(self) | {"quota": self.quota.to_json()}


def all_users(engine: Engine) -> list[User]:
    """All users by name."""
    with reading(engine) as connection:
        return [_user(row) for row in connection.execute(select(USER).order_by(USER.c.name))]


def find_user(engine: Engine, user: str) -> User | None:
    """The user of an identifier, or of a name."""
    mine = (USER.c.id == user) | (USER.c.name == user.casefold())
    with reading(engine) as connection:
        row = connection.execute(select(USER).where(mine)).first()
    return None if row is None else _user(row)


def add_user(engine: Engine, name: str, role: Role, clock: Clock) -> User:
    """A new user without a password, who signs in by a one-time link, with the default quota.

    Raises ConfigError for an odd name, and if another user is named or shown so.
    """
    name = name.strip().casefold()
    if not _NAME.fullmatch(name):
        raise ConfigError("a user cannot have this name", expected="letters, digits and . @ + - _, at most 80")
    quota = default_quota(engine)
    row: dict[str, Any] = {"id": new_id("us"), "name": name, "role": role, "is_active": True, "created_at": clock()}
    row |= {"quota": json.dumps(quota.to_json())} if quota.is_limited else {}
    try:
        with writing(engine) as connection:
            connection.execute(insert(USER).values(**row))
            _expect_unlike_others(connection, row["id"], name)
            return _user(connection.execute(select(USER).where(USER.c.id == row["id"])).one())
    except IntegrityError:
        raise ConfigError(f"there is a user {name} already", hint="another name") from None


def change_own(engine: Engine, user: str, *, shown_name: str | None = None, has_keys: bool | None = None) -> None:
    """What a user chooses; None stays. shown_name: "" is the name

    Raises ConfigError if another user is named or shown so.
    """
    given = {"shown_name": shown_name, "has_keys": has_keys}
    values = {key: value for key, value in given.items() if value is not None}
    if not values:
        return
    with writing(engine) as connection:
        _expect_unlike_others(connection, user, shown_name or "")
        connection.execute(update(USER).where(USER.c.id == user).values(**values))


def change_user(engine: Engine, user: str, *, role: Role | None = None, is_active: bool | None = None) -> None:
    """Another role, or whether the user may sign in; disabling ends the user's sessions and links.

    Raises ConfigError if no active administrator would be left.
    """
    given: dict[str, Any] = {} if role is None else {"role": role}
    given |= {} if is_active is None else {"is_active": is_active}
    if not given:
        return
    with writing(engine) as connection:
        connection.execute(update(USER).where(USER.c.id == user).values(**given))
        left = select(func.count()).select_from(USER).where(USER.c.role == "administrator", USER.c.is_active)
        if not connection.execute(left).scalar_one():
            raise ConfigError("no active administrator would be left", hint="make another user administrator first")
        if is_active is False:
            _sign_out(connection, user)


def forget_password(engine: Engine, user: str) -> None:
    """Ends the sessions and links of the user, revokes the tokens, and removes the password."""
    with writing(engine) as connection:
        connection.execute(update(USER).where(USER.c.id == user).values(password=None))
        connection.execute(delete(TOKEN).where(TOKEN.c.user == user))
        _sign_out(connection, user)


def set_password(engine: Engine, user: str, current: str, new: str) -> None:
    """A new password, which ends the user's other sessions.

    current: not looked at if the user has none yet
    Raises ConfigError if `current` is wrong, or `new` shorter than 10 characters.
    """
    if not MIN_LENGTH <= len(new) <= MAX_LENGTH:
        raise ConfigError(
            "the new password is too short" if len(new) < MIN_LENGTH else "the new password is too long",
            expected=f"{MIN_LENGTH} to {MAX_LENGTH} characters",
        )
    with reading(engine) as connection:
        before = connection.execute(select(USER.c.password).where(USER.c.id == user)).scalar_one()
    if before is not None and not is_password(current, before):
        raise ConfigError("the current password is wrong")
    stored = hash_of(new)
    with writing(engine) as connection:
        same = USER.c.password.is_(None) if before is None else USER.c.password == before
        if connection.execute(update(USER).where(USER.c.id == user, same).values(password=stored)).rowcount != 1:
            raise ConfigError("the password was changed meanwhile")
        _sign_out(connection, user)


def user_of_password(engine: Engine, name: str, password: str) -> str | None:
    """The identifier of the active user with this name and password, or None; as slow for unknown names."""
    with reading(engine) as connection:
        query = select(USER.c.id, USER.c.password).where(USER.c.name == name.strip().casefold(), USER.c.is_active)
        row = connection.execute(query).first()
    is_right = is_password(password[:MAX_LENGTH], None if row is None else row.password)
    return row.id if row is not None and is_right else None


def _expect_unlike_others(connection: Connection, user: str, name: str) -> None:
    others = connection.execute(select(USER.c.name, USER.c.shown_name).where(USER.c.id != user))
    if name and name.casefold() in {each.casefold() for row in others for each in row}:
        raise ConfigError(f"another user is shown as {name}", hint="another name")


def _sign_out(connection: Connection, user: str) -> None:
    for table in (SESSION, TICKET):
        connection.execute(delete(table).where(table.c.user == user))


def _user(row: Any) -> User:
    quota = quota_from_json(row.quota)
    own = (row.id, row.name, row.shown_name or row.name, row.has_keys, row.role, row.is_active)
    return User(*own, row.password is not None, row.created_at, quota)
