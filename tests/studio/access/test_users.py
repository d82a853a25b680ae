"""Users, their roles and passwords."""

import pytest

from cvzoo.cli.main import main
from cvzoo.errors.exceptions import ConfigError
from cvzoo.studio.access import attempts, passwords, tickets, tokens, users

SAME = {"sec-fetch-site": "same-origin"}
PASSWORD = "correct horse battery"


def opened(client, studio, user=None):
    """The client, signed in by a link."""
    client.headers.update(SAME)
    ticket = tickets.new_ticket(studio.engine, studio.clock, user)
    assert client.post("/open", data={"ticket": ticket}).status_code == 303
    return client


def sign_in(client, name, password=PASSWORD):
    return client.post("/sign-in", data={"name": name, "password": password}, headers=SAME)


def test_an_invited_user_sets_a_password_and_signs_in_with_it(browser, stranger):
    link = browser.post("/api/v1/users", json={"name": "Ada", "role": "annotator"}).json()["link"]
    stranger.headers.update(SAME)
    assert stranger.post("/open", data={"ticket": link.partition("=")[2]}).status_code == 303
    assert stranger.get("/api/v1/me").json()["role"] == "annotator"
    assert stranger.put("/api/v1/me/password", json={"new": PASSWORD}).status_code == 204
    assert stranger.get("/api/v1/me").status_code == 401  # all sessions ended
    assert sign_in(stranger, "ADA").status_code == 303
    assert stranger.get("/api/v1/me").json()["name"] == "ada"


def test_a_password_changes_only_with_the_current_one(browser):
    assert browser.put("/api/v1/me/password", json={"new": PASSWORD}).status_code == 204
    assert sign_in(browser, "admin").status_code == 303
    answer = browser.put("/api/v1/me/password", json={"new": "another password", "current": "wrong"})
    assert (answer.status_code, answer.json()["detail"]) == (409, "the current password is wrong")
    assert browser.put("/api/v1/me/password", json={"new": "short", "current": PASSWORD}).status_code == 409


def test_a_user_changes_the_name_that_is_shown_and_turns_keys_off(browser, stranger, studio):
    ada = users.add_user(studio.engine, "ada", "annotator", studio.clock)
    assert opened(stranger, studio, ada.id).get("/api/v1/me").json()["shown_name"] == "ada"
    answer = stranger.patch("/api/v1/me", json={"shown_name": " Ada  Lovelace ", "keys": False}).json()
    assert (answer["name"], answer["shown_name"], answer["keys"]) == ("ada", "Ada Lovelace", False)
    assert ">Ada Lovelace</a>" in stranger.get("/").text
    assert 'data-keys="off"' in stranger.get("/").text
    assert "Ada Lovelace" in browser.get("/admin").text
    entry = browser.get("/api/v1/audit").json()["items"][0]
    assert (entry["user"], entry["action"]) == ("ada", "user.own")
    assert entry["detail"] == {"shown_name": ["ada", "Ada Lovelace"], "keys": [True, False]}
    assert stranger.patch("/api/v1/me", json={"keys": True}).json()["shown_name"] == "Ada Lovelace"
    assert stranger.patch("/api/v1/me", json={"shown_name": ""}).json()["shown_name"] == "ada"


@pytest.mark.parametrize("name", ["ADMIN", "The  boss"])
def test_a_user_is_not_shown_as_another_one(browser, stranger, studio, name):
    assert browser.patch("/api/v1/me", json={"shown_name": "the boss"}).status_code == 200
    opened(stranger, studio, users.add_user(studio.engine, "ada", "viewer", studio.clock).id)
    assert stranger.patch("/api/v1/me", json={"shown_name": name}).status_code == 409
    answer = stranger.post("/account/own", data={"shown_name": name, "keys": "on"})
    assert answer.status_code == 422
    assert f'value="{name}"' in answer.text
    assert "another user is shown as" in answer.text


@pytest.mark.parametrize("name", ["a\u200d\u202e", "a\x00b", "a" * 81])
def test_a_name_that_cannot_be_shown_is_refused_beside_its_field(browser, name):
    assert browser.patch("/api/v1/me", json={"shown_name": name}).status_code == 422
    answer = browser.post("/account/own", data={"shown_name": name})
    assert answer.status_code == 422
    assert 'id="own-error"' in answer.text


def test_the_form_of_the_account_changes_the_name_and_the_keys(browser):
    assert browser.post("/account/own", data={"shown_name": "Root"}).status_code == 303
    me = browser.get("/api/v1/me").json()
    assert (me["shown_name"], me["keys"]) == ("Root", False)
    assert 'value="Root"' in browser.get("/account").text


@pytest.mark.parametrize(("name", "password"), [("admin", "wrong"), ("nobody", PASSWORD), ("admin", "")])
def test_a_wrong_name_or_password_is_refused_in_the_same_words(studio, stranger, name, password):
    tickets.new_ticket(studio.engine, studio.clock)
    answer = sign_in(stranger, name, password)
    assert answer.status_code == 403
    assert "the name or the password is wrong" in answer.text


def test_a_user_without_a_password_does_not_sign_in_with_an_empty_one(studio):
    tickets.new_ticket(studio.engine, studio.clock)
    assert users.user_of_password(studio.engine, "admin", "") is None
    assert not passwords.is_password("", None)


def test_guessing_waits_longer_and_longer(studio, stranger, clock):
    tickets.new_ticket(studio.engine, studio.clock)
    waits = [sign_in(stranger, "admin", f"guess {i}").status_code for i in range(7)]
    assert waits == [403] * 5 + [429] * 2
    clock.now += attempts.FIRST_MS
    assert [sign_in(stranger, "admin", "guess").status_code for _ in "ab"] == [403, 429]
    clock.now += attempts.FIRST_MS
    assert sign_in(stranger, "admin", "guess").status_code == 429  # now it is two minutes


def test_the_attempts_that_are_kept_are_bounded_and_rarely_looked_through(clock):
    class Kept(dict):
        n_look = 0

        def items(self):
            self.n_look += 1
            return super().items()

    kept = attempts.Attempts(clock)
    kept._failures = Kept()
    for i in range(25_000):
        kept.begin(f"name {i}", "10.0.0.1")
    assert len(kept._failures) <= 10_001
    assert kept._failures.n_look < 10


def test_failures_are_forgotten_an_hour_after_the_last_one(clock):
    kept = attempts.Attempts(clock)
    for _ in range(attempts.FREE):
        assert kept.begin("ada", "10.0.0.1") == 0
    assert kept.begin("ada", "10.0.0.1") > 0
    clock.now += attempts.FIRST_MS + attempts.LONGEST_MS + 1
    assert [kept.begin("ada", "10.0.0.1") for _ in range(attempts.FREE)] == [0] * attempts.FREE


def test_a_disabled_user_is_out_at_once_by_session_token_link_and_password(browser, stranger, studio):
    user = users.add_user(studio.engine, "ada", "trainer", studio.clock)
    opened(stranger, studio, user.id)
    secret = tokens.new_token(studio.engine, "script", "read", 9, studio.clock, user.id)
    ticket = tickets.new_ticket(studio.engine, studio.clock, user.id)
    assert browser.patch(f"/api/v1/users/{user.id}", json={"is_active": False}).json()["is_active"] is False
    assert stranger.get("/api/v1/me").status_code == 401
    assert stranger.get("/api/v1/me", headers={"authorization": f"Bearer {secret}"}).status_code == 401
    assert stranger.post("/open", data={"ticket": ticket}).status_code == 403
    assert sign_in(stranger, "ada").status_code == 403


def test_the_last_administrator_stays_one(browser, studio):
    me = browser.get("/api/v1/me").json()["id"]
    for change in ({"is_active": False}, {"role": "trainer"}):
        answer = browser.patch(f"/api/v1/users/{me}", json=change)
        assert (answer.status_code, answer.json()["detail"]) == (409, "no active administrator would be left")
    assert browser.get("/api/v1/me").json()["role"] == "administrator"


def test_a_new_link_forgets_the_password_the_sessions_and_the_tokens(browser, stranger, studio):
    user = users.add_user(studio.engine, "ada", "viewer", studio.clock)
    opened(stranger, studio, user.id)
    stranger.put("/api/v1/me/password", json={"new": PASSWORD})
    assert sign_in(stranger, "ada").status_code == 303
    assert browser.post(f"/api/v1/users/{user.id}/link").status_code == 201
    assert stranger.get("/api/v1/me").status_code == 401
    assert sign_in(stranger, "ada").status_code == 403


def test_a_user_is_not_named_as_another_one_is_shown(browser):
    assert browser.patch("/api/v1/me", json={"shown_name": "Boss"}).status_code == 200
    answer = browser.post("/api/v1/users", json={"name": "BOSS", "role": "viewer"})
    assert answer.status_code == 409
    assert "another user is shown as boss" in answer.text
    assert [each["name"] for each in browser.get("/api/v1/users").json()["items"]] == ["admin"]


@pytest.mark.parametrize("name", ["", "a b", "<b>", "x" * 81, "a/b", "a\x00", "a\n"])
def test_odd_names_are_refused(studio, name):
    with (
        pytest.raises(ConfigError, match="cannot have this name")
        if name != "a\n"
        else pytest.raises(ConfigError, match="already")
    ):
        users.add_user(studio.engine, "a", "viewer", studio.clock)
        users.add_user(studio.engine, name, "viewer", studio.clock)


def test_names_are_the_same_in_upper_and_lower_case(studio):
    users.add_user(studio.engine, "Ada", "viewer", studio.clock)
    with pytest.raises(ConfigError, match="a user ada already"):
        users.add_user(studio.engine, "ADA", "trainer", studio.clock)


def test_a_token_makes_no_users_passwords_or_tokens(browser, stranger, studio):
    secret = tokens.new_token(studio.engine, "script", "write", 9, studio.clock)
    bearer = {"authorization": f"Bearer {secret}"}
    requests = [("PUT", "/me/password", {"new": PASSWORD}), ("POST", "/tokens", {"name": "more", "scope": "write"})]
    requests += [("POST", "/users", {"name": "ada"})]
    for method, path, body in requests:
        answer = stranger.request(method, f"/api/v1{path}", json=body, headers=bearer)
        assert (answer.status_code, answer.json()["detail"]) == (403, "a token cannot do this")


def test_a_token_may_not_do_more_than_its_user(browser, stranger, studio):
    user = users.add_user(studio.engine, "ada", "viewer", studio.clock)
    secret = tokens.new_token(studio.engine, "script", "write", 9, studio.clock, user.id)
    answer = stranger.post(
        "/api/v1/datasets",
        json={"name": "new", "source": {"sample": 4}},
        headers={"authorization": f"Bearer {secret}"},
    )
    assert (answer.status_code, answer.json()["detail"]) == (403, "this needs the role annotator")


def test_tokens_are_made_and_revoked_by_their_user_alone(browser, stranger, studio):
    secret = browser.post("/api/v1/tokens", json={"name": "script"}).json()["token"]
    bearer = {"authorization": f"Bearer {secret}"}
    token = browser.get("/api/v1/tokens").json()["items"][0]["id"]
    assert stranger.get("/api/v1/me", headers=bearer).status_code == 200
    user = users.add_user(studio.engine, "ada", "administrator", studio.clock)
    opened(stranger, studio, user.id)
    assert stranger.delete(f"/api/v1/tokens/{token}").status_code == 404
    assert browser.delete(f"/api/v1/tokens/{token}").status_code == 204
    stranger.cookies.clear()
    assert stranger.get("/api/v1/me", headers=bearer).status_code == 401


def test_only_administrators_name_folders_of_the_machine(stranger, studio, tmp_path):
    user = users.add_user(studio.engine, "ada", "trainer", studio.clock)
    client = opened(stranger, studio, user.id)
    known = next(each.data for each in studio.runs.records())
    bodies = [
        ("/api/v1/datasets", {"name": "new", "source": {"spec": f"images:{tmp_path}"}}),
        ("/api/v1/jobs", {"recipe": "ssd300", "data": "voc:/etc"}),
        ("/jobs/new", None),
    ]
    for path, body in bodies:
        answer = (
            client.post(path, json=body)
            if body
            else client.post(path, data={"recipe": "ssd300", "data": f"{known}/../../etc"})
        )
        assert answer.status_code == 403, path
        assert answer.json()["detail"] == "only administrators name folders of this machine"


def test_only_the_creator_or_an_administrator_stops_a_job(browser, stranger, studio):
    from cvzoo.studio.jobs.spec import TrainSpec

    ada, bob = (users.add_user(studio.engine, name, "trainer", studio.clock) for name in ("ada", "bob"))
    job = studio.jobs.create("", TrainSpec("ssd300", "voc:shapes", ()), ada.id).id
    assert opened(stranger, studio, bob.id).post(f"/api/v1/jobs/{job}:stop").status_code == 403
    assert opened(stranger, studio, ada.id).post(f"/api/v1/jobs/{job}:stop").status_code == 202


def test_what_administrators_do_is_in_the_audit_with_before_and_after(browser, studio):
    user = browser.post("/api/v1/users", json={"name": "ada"}).json()["id"]
    browser.patch(f"/api/v1/users/{user}", json={"role": "trainer"})
    newest = browser.get("/api/v1/audit").json()["items"][0]
    assert (newest["action"], newest["user"], newest["object"]) == ("user.change", "admin", user)
    assert newest["detail"] == {"role": ["viewer", "trainer"]}
    assert [each["action"] for each in browser.get("/api/v1/audit?action=user.c").json()["items"]] == [
        "user.change",
        "user.create",
    ]
    table = browser.get("/admin/audit.csv").text.splitlines()
    assert table[0] == "id,at,user,address,action,object,detail"
    assert "user.change" in table[-1]


def test_pages_show_what_the_user_may_do(browser, stranger, studio):
    user = users.add_user(studio.engine, "ada", "viewer", studio.clock)
    opened(stranger, studio, user.id)
    assert 'href="/admin"' in browser.get("/").text
    assert 'href="/jobs/new"' in browser.get("/").text
    assert 'href="/admin"' not in stranger.get("/").text
    assert 'href="/jobs/new"' not in stranger.get("/").text
    for path in ("/account", "/admin", "/admin/audit"):
        assert browser.get(path).status_code == 200
        assert (stranger.get(path).status_code == 200) == (path == "/account")


def test_users_are_added_and_changed_on_the_command_line(studio, stranger, capsys):
    def studio_user(*words):
        status = main(["studio", "--home", str(studio.place.home), "user", *words])
        return status, capsys.readouterr()

    tickets.new_ticket(studio.engine, studio.clock)
    studio.place.open_url.write_text("http://127.0.0.1:8700\n")
    status, said = studio_user("add", "Ada", "--role", "annotator")
    assert status == 0
    assert said.out.startswith("http://127.0.0.1:8700/open?ticket=")
    assert studio_user("role", "ada", "trainer")[0] == 0
    assert studio_user("disable", "ada")[0] == 0
    assert studio_user("list")[1].out == "ada trainer disabled\nadmin administrator active\n"
    status, said = studio_user("role", "nobody", "viewer")
    assert (status, said.err.splitlines()[0]) == (2, "cvzoo studio: error: there is no user nobody")
    status, said = studio_user("disable", "admin")
    assert "no active administrator would be left" in said.err
