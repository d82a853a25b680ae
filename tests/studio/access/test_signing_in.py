"""One-time links, sessions and tokens."""

import dataclasses

import pytest
from sqlalchemy import select, text

from cvzoo.studio.access import sessions, tickets, tokens
from cvzoo.studio.database.engine import reading
from cvzoo.studio.database.tables import AUDIT

MINUTE, DAY = 60_000, 86_400_000


def open_with(client, ticket):
    return client.post("/open", data={"ticket": ticket}, headers={"sec-fetch-site": "same-origin"})


def test_a_link_works_once(stranger, studio):
    ticket = tickets.new_ticket(studio.engine, studio.clock)
    assert stranger.get(f"/open?ticket={ticket}").status_code == 200  # looking at it does not use it up
    assert stranger.get("/api/v1/jobs").status_code == 401
    assert open_with(stranger, ticket).status_code == 303
    assert stranger.get("/api/v1/jobs").status_code == 200
    stranger.cookies.clear()
    assert open_with(stranger, ticket).status_code == 403


def test_a_link_expires_after_ten_minutes(stranger, studio, clock):
    ticket = tickets.new_ticket(studio.engine, studio.clock)
    clock.now += 10 * MINUTE
    assert open_with(stranger, ticket).status_code == 403


@pytest.mark.parametrize("ticket", ["", "x", "' OR 1=1 --", "\x00"])
def test_an_invented_link_is_refused(stranger, ticket):
    assert open_with(stranger, ticket).status_code in (403, 422)


def test_all_links_are_of_one_administrator(studio):
    users = {tickets.redeem(studio.engine, tickets.new_ticket(studio.engine, studio.clock), studio.clock) for _ in "ab"}
    assert len(users) == 1


def test_the_cookie_is_for_this_server_alone(stranger, studio):
    answer = open_with(stranger, tickets.new_ticket(studio.engine, studio.clock))
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith("cvzoo_studio_8700=")
    assert {"httponly", "samesite=strict", "path=/"} <= set(cookie.split("; "))


def test_the_cookie_needs_https_where_there_is_https(https):
    assert https.cookie == "__Host-cvzoo_studio_8700"
    assert dataclasses.replace(https.settings).is_https


def test_a_session_ends_when_it_is_not_used(browser, clock):
    clock.now += 29 * DAY
    assert browser.get("/api/v1/jobs").status_code == 200  # and is prolonged
    clock.now += 29 * DAY
    assert browser.get("/api/v1/jobs").status_code == 200
    clock.now += 30 * DAY
    assert browser.get("/api/v1/jobs").status_code == 401


def test_signing_out_ends_the_session_on_the_server(browser, studio):
    cookie = browser.cookies[studio.cookie]
    assert browser.post("/sign-out").status_code == 303
    assert sessions.session_identity(studio.engine, cookie, studio.clock) is None


def test_a_token_reads_and_is_revoked(browser, stranger, studio):
    secret = tokens.new_token(studio.engine, "script", "read", 90, studio.clock)
    bearer = {"authorization": f"Bearer {secret}"}
    assert secret.startswith("cvz_")
    assert stranger.get("/api/v1/jobs", headers=bearer).status_code == 200
    assert tokens.revoke_tokens(studio.engine, "script", studio.clock) == 1
    assert stranger.get("/api/v1/jobs", headers=bearer).status_code == 401


def test_a_token_expires(browser, stranger, studio, clock):
    secret = tokens.new_token(studio.engine, "script", "write", 2, studio.clock)
    clock.now += 2 * DAY
    assert stranger.get("/api/v1/jobs", headers={"authorization": f"Bearer {secret}"}).status_code == 401


def test_a_wrong_token_is_not_replaced_by_the_cookie(browser):
    assert browser.get("/api/v1/jobs", headers={"authorization": "Bearer cvz_wrong"}).status_code == 401
    assert browser.get("/api/v1/jobs", headers={"authorization": "Basic YTpi"}).status_code == 401


def test_no_secret_is_stored(studio, stranger):
    ticket = tickets.new_ticket(studio.engine, studio.clock)
    open_with(stranger, ticket)
    secret = tokens.new_token(studio.engine, "script", "read", 90, studio.clock)
    with reading(studio.engine) as connection:
        connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
    stored = b"".join(path.read_bytes() for path in studio.place.home.rglob("*") if path.is_file())
    assert b"script" in stored
    for each in (ticket, secret, stranger.cookies[studio.cookie]):
        assert each.encode() not in stored


def test_signing_in_is_audited(stranger, studio):
    open_with(stranger, "wrong")
    open_with(stranger, tickets.new_ticket(studio.engine, studio.clock))
    with reading(studio.engine) as connection:
        assert connection.execute(select(AUDIT.c.action).order_by(AUDIT.c.id)).scalars().all() == [
            "open.refused",
            "open",
        ]


def test_a_cookie_that_was_planted_before_signing_in_is_replaced(stranger, studio):
    stranger.cookies.set(studio.cookie, "planted")
    answer = open_with(stranger, tickets.new_ticket(studio.engine, studio.clock))
    assert "planted" not in answer.headers["set-cookie"]
    stranger.cookies.clear()
    assert stranger.get("/api/v1/jobs", headers={"cookie": f"{studio.cookie}=planted"}).status_code == 401


def test_no_secret_is_printed_or_answered(stranger, studio, capfd, caplog):
    caplog.set_level("DEBUG")
    ticket = tickets.new_ticket(studio.engine, studio.clock)
    secret = tokens.new_token(studio.engine, "script", "read", 90, studio.clock)
    bearer = {"authorization": f"Bearer {secret}"}
    answers = [open_with(stranger, ticket), open_with(stranger, ticket)]
    cookie = stranger.cookies[studio.cookie]
    answers += [stranger.get(path, headers=bearer) for path in ("/api/v1/jobs", "/nothing")]
    answers.append(stranger.post("/api/v1/jobs", headers=bearer, json={}))
    answers.append(stranger.get("/api/v1/jobs", headers={"authorization": f"Bearer {secret}x"}))
    logged = [record.getMessage() for record in caplog.records]
    said = "".join([*capfd.readouterr(), *logged, *(answer.text for answer in answers)])
    for each in (ticket, secret, cookie):
        assert each not in said


def test_a_cookie_that_was_planted_is_no_session_after_signing_in(studio, stranger):
    stranger.headers["sec-fetch-site"] = "same-origin"
    stranger.cookies.set(studio.cookie, "planted-by-an-attacker")
    answer = stranger.post("/open", data={"ticket": tickets.new_ticket(studio.engine, studio.clock)})
    fresh = answer.cookies[studio.cookie]
    assert "planted" not in fresh
    stranger.cookies.clear()
    for cookie, status in (("planted-by-an-attacker", 401), (fresh, 200)):
        assert stranger.get("/api/v1/me", headers={"cookie": f"{studio.cookie}={cookie}"}).status_code == status


def test_no_secret_is_in_a_file_or_in_what_is_printed(studio, stranger, capfd):
    stranger.headers["sec-fetch-site"] = "same-origin"
    secrets = {"ticket": tickets.new_ticket(studio.engine, studio.clock), "password": "correct horse battery"}
    answer = stranger.post("/open", data={"ticket": secrets["ticket"]}, headers={"user-agent": "a browser"})
    secrets["cookie"] = answer.cookies[studio.cookie]
    assert stranger.put("/api/v1/me/password", json={"new": secrets["password"]}).status_code == 204
    form = {"name": "admin", "password": secrets["password"]}
    secrets["second cookie"] = stranger.post("/sign-in", data=form).cookies[studio.cookie]
    secrets["token"] = stranger.post("/api/v1/tokens", json={"name": "mine"}).json()["token"]
    bearer = {"authorization": f"Bearer {secrets['token']}"}
    for path in (
        "/api/v1/me",
        "/api/v1/jobs/jb_x",
        f"/open?ticket={secrets['ticket']}",
        "/api/v1/jobs?limit=x",
        "/api/v1/audit",
    ):
        stranger.get(path, headers=bearer)
    stranger.post("/open", data={"ticket": secrets["ticket"]})  # refused, and in the audit
    stranger.post("/sign-in", data={"name": "admin", "password": secrets["password"] + "!"})
    with studio.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    printed = "".join(capfd.readouterr()).encode()
    files = {path: path.read_bytes() for path in studio.place.home.rglob("*") if path.is_file()}
    assert any(path.name == "studio.db" and b"sign-in.refused" in data for path, data in files.items())
    for name, secret in secrets.items():
        assert secret.encode() not in printed, name
        for path, data in files.items():
            assert secret.encode() not in data, (name, path)
