"""What the server runs with, and the quota of new users."""

import json

from cvzoo.studio.access.tokens import new_token
from cvzoo.studio.access.users import add_user

LIMITS = {"running": 2, "queued": None, "bytes": 10**9}


def test_the_settings_are_those_of_the_command_line_without_secrets(browser, studio, watched):
    tree = browser.get("/api/v1/settings").json()
    assert (tree["host"], tree["port"], tree["has_tls"], tree["watch"]) == ("127.0.0.1", 8700, False, [str(watched)])
    assert tree["hosts"] == ["127.0.0.1", "[::1]", "localhost"]
    assert not {"key", "secret", "token", "password"} & set(json.dumps(tree).replace('"', " ").split())
    page = browser.get("/admin").text
    assert str(watched) in page
    assert "without TLS" in page


def test_new_users_get_the_default_quota_and_others_keep_theirs(browser, studio, clock):
    before = add_user(studio.engine, "ada", "trainer", clock)
    tree = browser.patch("/api/v1/settings", json={"default_quota": {"running": 2, "bytes": 10**9}}).json()
    assert tree["default_quota"] == LIMITS
    carla = browser.post("/api/v1/users", json={"name": "carla", "role": "trainer"}).json()
    assert carla["quota"] == LIMITS
    quotas = {each["name"]: each["quota"] for each in browser.get("/api/v1/users").json()["items"]}
    assert quotas["carla"] == LIMITS
    assert quotas[before.name]["running"] is None
    (entry,) = browser.get("/api/v1/audit?action=settings").json()["items"]
    assert entry["detail"]["after"] == LIMITS


def test_a_token_changes_no_quota(browser, stranger, studio, clock):
    user = browser.get("/api/v1/me").json()["id"]
    bearer = {"authorization": f"Bearer {new_token(studio.engine, 'mine', 'write', 1, clock, user)}"}
    for path, body in ((f"users/{user}", {"quota": LIMITS}), ("settings", {"default_quota": LIMITS})):
        answer = stranger.patch(f"/api/v1/{path}", json=body, headers=bearer)
        assert (answer.status_code, answer.json()["expected"]) == (403, "a session")
    assert browser.get("/api/v1/settings").json()["default_quota"]["running"] is None


def test_the_page_sets_the_default_quota_and_refuses_other_texts(browser, studio):
    assert browser.post("/admin/settings", data={"queued": "7", "gigabytes": "1.5"}).status_code == 303
    assert browser.get("/api/v1/settings").json()["default_quota"] == {"running": None, "queued": 7, "bytes": 1.5e9}
    assert 'value="1.5"' in browser.get("/admin").text
    assert browser.post("/admin/settings", data={"queued": "x"}).status_code == 409
    browser.post("/admin/settings")
    assert browser.get("/api/v1/settings").json()["default_quota"]["queued"] is None
    assert browser.patch("/api/v1/settings", json={"default_quota": {"running": -1}}).status_code == 422
