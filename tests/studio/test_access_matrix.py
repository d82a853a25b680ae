"""Every route, asked by everybody: generated from the application's own routes and its OpenAPI description."""

import re

import pytest

from cvzoo.studio.access.tickets import new_ticket
from cvzoo.studio.access.tokens import new_token, revoke_tokens
from cvzoo.studio.access.users import add_user
from cvzoo.studio.app import API, PAGES

PUBLIC = {("GET", "/open"), ("POST", "/open"), ("GET", "/sign-in"), ("POST", "/sign-in")}
PUBLIC |= {("GET", "/api/v1/health"), ("GET", "/api/v1/version")}
# a POST that changes nothing: tokens that only read may send it
READING_POSTS = {"/api/v1/predict", "/api/v1/predict/activations"}
ROUTES = sorted(
    (method, prefix + route.path)
    for prefix, routers in (("/api/v1", API), ("", PAGES))
    for router in routers
    for route in router.routes
    for method in route.methods
)
SAFE = ("GET", "HEAD", "OPTIONS")
ROLES = ("viewer", "annotator", "trainer", "administrator")
# what a request that changes something needs, by what its path begins with; all others may be made by viewers
NEEDED = (
    (("/api/v1/users", "/admin"), "administrator"),
    (("/api/v1/jobs", "/api/v1/evaluations", "/api/v1/models", "/api/v1/queue"), "trainer"),
    (("/jobs", "/evaluations", "/models"), "trainer"),
    (("/api/v1/uploads", "/api/v1/datasets", "/api/v1/versions", "/data"), "annotator"),
)
SEEN_BY_ADMINISTRATORS = {"/api/v1/users", "/api/v1/audit", "/api/v1/storage", "/admin"}


def filled(path, ids):
    """The path with an identifier of the right kind for each parameter, mostly of nothing that exists."""
    return re.sub(r"\{(\w+)(:\w+)?\}", lambda match: ids.get(match[1], "1"), path)


@pytest.fixture(params=["unknown", "known"])
def ids(request, run_id):
    """Whether a thing exists must not be learned by strangers, so that both are asked."""
    job = run_id if request.param == "known" else "jb_" + "a" * 16
    return {"job": job, "model": job, "action": "pause", "name": "config.json"} | {
        "dataset": "ds_" + "a" * 16,
        "upload": "up_" + "a" * 16,
        "version": "ve_" + "a" * 16,
        "user": "us_" + "a" * 16,
        "token": "tk_" + "a" * 16,
    }


def status(client, method, path, headers):
    return client.request(method, path, headers=headers, json={} if method not in SAFE else None).status_code


def test_the_openapi_description_has_every_route_of_the_interface(browser):
    paths = browser.get("/api/v1/openapi.json").json()["paths"]
    described = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    own = {(method, re.sub(r":path\}", "}", path)) for method, path in ROUTES if path.startswith("/api/v1")}
    assert own <= described
    assert len(own) > 30


def test_a_stranger_and_a_wrong_token_get_401_everywhere(stranger, studio, ids):
    new_ticket(studio.engine, studio.clock)
    revoked = new_token(studio.engine, "revoked", "write", 1, studio.clock)
    revoke_tokens(studio.engine, "revoked", studio.clock)
    kinds = [{}, {"authorization": "Bearer cvz_wrong"}, {"authorization": f"Bearer {revoked}"}]
    kinds += [{"authorization": "Basic YTpi"}, {"cookie": f"{studio.cookie}=wrong"}]
    for method, path in ROUTES:
        if (method, path) in PUBLIC:
            continue
        for headers in kinds:
            found = status(stranger, method, filled(path, ids), headers | {"sec-fetch-site": "same-origin"})
            assert found == 401, (method, path, headers, found)


def test_a_token_that_reads_changes_nothing(stranger, studio, ids):
    new_ticket(studio.engine, studio.clock)
    bearer = {"authorization": f"Bearer {new_token(studio.engine, 'reader', 'read', 1, studio.clock)}"}
    for method, path in ROUTES:
        if method in SAFE or (method, path) in PUBLIC or path == "/sign-out":
            continue
        found = status(stranger, method, filled(path, ids), bearer)
        # of what there is not, a reader may learn that
        expected = {404, 409, 415, 422} if path in READING_POSTS else {403, 404}
        assert found in expected, (method, path, found)
        if found == 404 and path not in READING_POSTS:
            assert "{" in path, path


@pytest.mark.parametrize(
    "headers",
    [{"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"origin": "https://evil.example.org"}, {}],
)
def test_a_page_of_another_site_changes_nothing_with_the_session(browser, ids, headers):
    del browser.headers["sec-fetch-site"]
    for method, path in ROUTES:
        if method not in SAFE:
            found = status(browser, method, filled(path, ids), headers)
            assert found == 403, (method, path, found)
    assert browser.get("/api/v1/jobs").status_code == 200  # still signed in


def test_another_host_name_is_refused_everywhere(browser, ids):
    for method, path in ROUTES:
        found = status(browser, method, filled(path, ids), {"host": "evil.example.org"})
        assert found == 421, (method, path, found)


def needed(method, path):
    """The role that a route asks for."""
    if method in SAFE:
        is_for_administrators = path in SEEN_BY_ADMINISTRATORS or path.startswith("/admin")
        return "administrator" if is_for_administrators else "viewer"
    return next((role for prefixes, role in NEEDED if path.startswith(prefixes)), "viewer")


@pytest.mark.parametrize("role", ROLES)
def test_each_role_may_do_what_the_table_says_and_nothing_more(stranger, studio, ids, role, monkeypatch):
    monkeypatch.setattr(studio.models.zoo, "members", list)
    new_ticket(studio.engine, studio.clock)
    user = add_user(studio.engine, "somebody", role, studio.clock).id
    stranger.headers["sec-fetch-site"] = "same-origin"
    assert stranger.post("/open", data={"ticket": new_ticket(studio.engine, studio.clock, user)}).status_code == 303
    n_forbidden = 0
    for method, path in ROUTES:
        if path.endswith(("/events", "/recipes", "/jobs/new")) or path in ("/sign-out", "/open", "/sign-in"):
            continue  # streams, and questions to a process
        answer = stranger.request(
            method, filled(path, ids), json={} if method not in SAFE else None, headers={"accept": "application/json"}
        )
        is_forbidden = "needs the role" in answer.text
        if ROLES.index(role) >= ROLES.index(needed(method, path)):
            assert not is_forbidden, (method, path, answer.text)
        else:  # everybody may learn that there is no such thing
            assert is_forbidden or (answer.status_code == 404 and "{" in path), (method, path, answer.text)
            n_forbidden += is_forbidden
    assert (n_forbidden > 10) == (role != "administrator") or (role == "trainer" and n_forbidden > 5)


def test_a_session_is_never_refused_nor_does_a_route_fail(browser, studio, ids, monkeypatch):
    monkeypatch.setattr(studio.models.zoo, "members", list)
    for method, path in ROUTES:
        if path.endswith(("/events", "/recipes", "/jobs/new")) or path == "/sign-out":
            continue  # streams, and questions to a process; the last one would end the session
        found = status(browser, method, filled(path, ids), {})
        assert found not in (401, 403) or (method, path) in PUBLIC, (method, path, found)
        assert found < 500, (method, path, found)
