"""Who asks is known without the database until that changes, by any process."""

import asyncio
import sqlite3

import pytest
from sqlalchemy import event

from cvzoo.studio.access import identities
from cvzoo.studio.access.sessions import close_session, open_session
from cvzoo.studio.access.tickets import new_ticket, redeem
from cvzoo.studio.access.tokens import new_token, revoke_tokens
from cvzoo.studio.access.users import add_user, change_user

MINUTE, DAY = 60_000, 86_400_000


@pytest.fixture
def admin(studio):
    """The identifier of the first user."""
    return redeem(studio.engine, new_ticket(studio.engine, studio.clock), studio.clock)


@pytest.fixture
def user(studio, admin):
    """Another one, a trainer."""
    return add_user(studio.engine, "ada", "trainer", studio.clock).id


@pytest.fixture
def cookie(studio, user):
    return open_session(studio.engine, user, "", "", studio.clock)


@pytest.fixture
def token(studio, user):
    """A token that was used."""
    secret = new_token(studio.engine, "mine", "read", 90, studio.clock, user)
    who(studio, "token", secret)
    return secret


@pytest.fixture
def statements(studio):
    """What was asked of the database so far."""
    found = []
    event.listen(studio.engine, "before_cursor_execute", lambda *args: found.append(args[2]))
    return found


def who(studio, via, secret):
    return asyncio.run(studio.identities.of(via, secret))


@pytest.mark.parametrize("via", ["session", "token"])
def test_the_database_is_asked_once_while_nothing_changes(studio, cookie, token, statements, via):
    secret = cookie if via == "session" else token
    first = who(studio, via, secret)
    assert (first.name, first.role, first.via, first.may_write) == ("ada", "trainer", via, via == "session")
    n = len(statements)
    assert n
    assert who(studio, via, secret) is first
    assert len(statements) == n


def test_the_end_of_a_session_is_known_at_once(studio, cookie):
    assert who(studio, "session", cookie)
    close_session(studio.engine, cookie)
    assert who(studio, "session", cookie) is None


def test_a_revoked_token_is_refused_at_once(studio, token):
    assert who(studio, "token", token)
    revoke_tokens(studio.engine, "mine", studio.clock)
    assert who(studio, "token", token) is None


@pytest.mark.parametrize("via", ["session", "token"])
def test_another_role_and_the_end_of_a_user_are_known_at_once(studio, user, cookie, token, via):
    secret = cookie if via == "session" else token
    assert who(studio, via, secret).role == "trainer"
    change_user(studio.engine, user, role="viewer")
    assert who(studio, via, secret).role == "viewer"
    change_user(studio.engine, user, is_active=False)
    assert who(studio, via, secret) is None


def test_what_another_process_changes_is_known_at_once(studio, cookie):
    assert who(studio, "session", cookie)
    with sqlite3.connect(studio.place.database) as other:
        other.execute("DELETE FROM session")
    other.close()
    assert who(studio, "session", cookie) is None


def test_a_cookie_is_no_token(studio, cookie, token):
    assert who(studio, "session", cookie)
    assert who(studio, "token", cookie) is None
    assert who(studio, "session", token) is None


def test_a_known_session_expires_and_is_prolonged_by_use(studio, cookie, clock):
    assert who(studio, "session", cookie)
    clock.now += 29 * DAY
    assert who(studio, "session", cookie)  # and is prolonged
    clock.now += 29 * DAY
    assert who(studio, "session", cookie)
    clock.now += 30 * DAY
    assert who(studio, "session", cookie) is None


def test_a_known_token_expires(studio, token, clock):
    clock.now += 90 * DAY - MINUTE // 2
    assert who(studio, "token", token)
    assert who(studio, "token", token)
    clock.now += MINUTE // 2
    assert who(studio, "token", token) is None


def test_a_change_while_the_database_is_asked_is_not_missed(studio, cookie, monkeypatch):
    ask = identities._FIND["session"]

    def slow(*args):
        found = ask(*args)
        close_session(studio.engine, cookie)
        return found

    monkeypatch.setitem(identities._FIND, "session", slow)
    assert who(studio, "session", cookie)
    monkeypatch.setitem(identities._FIND, "session", ask)
    assert who(studio, "session", cookie) is None


def test_invented_secrets_are_not_kept(studio, admin):
    for i in range(20):
        assert who(studio, "session", f"invented {i}") is None
    assert not studio.identities._known


def test_what_is_known_is_bounded(studio, user, monkeypatch):
    monkeypatch.setattr(identities, "_MAX_KNOWN", 5)
    cookies = [open_session(studio.engine, user, "", "", studio.clock) for _ in range(12)]
    assert all(who(studio, "session", each) for each in cookies)
    assert len(studio.identities._known) <= 5


def test_without_a_number_of_changes_the_database_is_asked_each_time(studio, cookie, statements, monkeypatch):
    monkeypatch.setattr(studio.identities._changes, "number", lambda: None)
    assert who(studio, "session", cookie)
    n = len(statements)
    assert who(studio, "session", cookie)
    assert len(statements) > n
