"""Every route, asked by everybody: generated from the application's own routes and its OpenAPI description."""

import collections
import re

import pytest

from cvzoo.studio.access.tickets import new_ticket
from cvzoo.studio.access.tokens import new_token, revoke_tokens, tokens_of
from cvzoo.studio.access.users import add_user, all_users
from cvzoo.studio.app import API, PAGES
from cvzoo.studio.problems import Problem

PUBLIC = {("GET", "/open"), ("POST", "/open"), ("GET", "/sign-in"), ("POST", "/sign-in")}
PUBLIC |= {("GET", "/api/v1/health"), ("GET", "/api/v1/version")}
# a POST that changes nothing: tokens that only read may send it
READING_POSTS = {"/api/v1/predict", "/api/v1/predict/activations"}
ROUTES = sorted(
    (method, route.path) for router in (*API, *PAGES) for route in router.routes for method in route.methods
)
SAFE = ("GET", "HEAD", "OPTIONS")
PROCESSES = ("/events", "/recipes", "/recipes/{recipe}", "/jobs/new")  # streams, and questions to a process
ROLES = ("viewer", "annotator", "trainer", "administrator")
# who may ask for what: each route is listed, so that a new one is thought about; a line is a method and paths
TABLE = {
    ("viewer", "reads"): """
    GET /evaluations/{job}/images/{index}/correct /evaluations/{job}/diff /api/v1/evaluations/{job}/diff /help
    GET /predictions/{job} /api/v1/predictions/{job} /api/v1/predictions/{job}/images/{index}
    GET / /account /api/v1/datasets /api/v1/datasets/{dataset} /api/v1/datasets/{dataset}/classes
    GET /api/v1/datasets/{dataset}/findings /api/v1/datasets/{dataset}/images /api/v1/datasets/{dataset}/overview
    GET /data/{dataset}/overview
    GET /api/v1/datasets/{dataset}/images/{ordinal} /api/v1/datasets/{dataset}/images/{ordinal}/history
    GET /api/v1/datasets/{dataset}/revisions /api/v1/datasets/{dataset}/versions /api/v1/evaluations
    GET /api/v1/evaluations/{job} /api/v1/evaluations/{job}/images /api/v1/evaluations/{job}/images/{index}
    GET /api/v1/images/{sha256}/file /api/v1/images/{sha256}/thumbnail.jpg /api/v1/images/{sha256}/view
    GET /api/v1/datasets/{dataset}/suggestions
    GET /api/v1/jobs /api/v1/jobs/{job} /api/v1/jobs/{job}/events /api/v1/jobs/{job}/files/{name:path}
    GET /api/v1/jobs/{job}/metrics /api/v1/me /api/v1/models /api/v1/models/{model} /api/v1/models/{model}/facts
    GET /api/v1/models/{model}/file /api/v1/models/{model}/layers /api/v1/models/{model}/validation-images/{index}
    GET /api/v1/models/{model}/weights /api/v1/queue /api/v1/recipes /api/v1/tokens /api/v1/versions/{version}
    GET /api/v1/versions/{version}/files /api/v1/versions/{version}/files/{name:path}
    GET /api/v1/versions/{version}/layouts /api/v1/versions/{version}/layouts/{layout}
    GET /api/v1/versions/{version}/diff /compare /data /data/new /data/{dataset} /data/{dataset}/findings
    GET /queue /data/{dataset}/history /data/{dataset}/images /data/{dataset}/images/{ordinal} /evaluations
    GET /evaluations/{job} /jobs /jobs/new /jobs/{job} /jobs/{job}/facts /jobs/{job}/log /jobs/{job}/tables /models
    GET /api/v1/trash /trash /api/v1/jobs/{job}/usage /api/v1/jobs/{job}/log /api/v1/jobs/{job}/snapshots
    GET /api/v1/jobs/{job}/archive /api/v1/jobs/{job}/samples /api/v1/compare /api/v1/recipes/{recipe}
    GET /api/v1/zoo/{name}
    GET /models/{model} /models/{model}/network /try /versions/{version} /versions/{version}/diff
    HEAD /api/v1/uploads/{upload}
    OPTIONS /api/v1/uploads
    """,
    ("administrator", "reads"): """
    GET /admin /admin/audit /admin/audit.csv /api/v1/audit /api/v1/storage /api/v1/users
    GET /api/v1/backups /api/v1/metrics /api/v1/settings
    """,
    ("viewer", "changes"): """
    DELETE /api/v1/tokens/{token}
    POST /account/own /account/password /account/tokens /account/tokens/{token} /api/v1/predict
    POST /api/v1/predict/activations /api/v1/tokens /sign-out
    PATCH /api/v1/me
    PUT /api/v1/me/password
    """,
    ("annotator", "changes"): """
    POST /api/v1/datasets/{dataset}:import-again /data/{dataset}/import-again
    POST /api/v1/datasets/{dataset}:add /data/{dataset}/add
    POST /api/v1/datasets/{dataset}:fix /data/{dataset}/fix
    POST /api/v1/versions/{version}:layout /versions/{version}/layout
    DELETE /api/v1/datasets/{dataset} /api/v1/uploads/{upload}
    PATCH /api/v1/datasets/{dataset} /api/v1/datasets/{dataset}/findings /api/v1/datasets/{dataset}/images
    PATCH /api/v1/uploads/{upload}
    DELETE /api/v1/trash/{thing}
    POST /api/v1/trash/{thing}:restore /trash/{thing}
    POST /api/v1/datasets /api/v1/datasets/{dataset}/versions /api/v1/datasets/{dataset}:check
    POST /api/v1/datasets/{dataset}:revert /api/v1/datasets/{dataset}:split /api/v1/datasets/{dataset}:undo
    POST /api/v1/datasets/{dataset}:propose /api/v1/datasets/{dataset}:accept /api/v1/datasets/{dataset}:refuse
    POST /api/v1/uploads /data/new
    POST /data/{dataset}/about /data/{dataset}/classes /data/{dataset}/delete /data/{dataset}/findings
    POST /data/{dataset}/revert /data/{dataset}/propose /data/{dataset}/suggestions
    POST /data/{dataset}/split /data/{dataset}/versions
    PUT /api/v1/datasets/{dataset}/classes /api/v1/datasets/{dataset}/images/{ordinal}/labels
    """,
    ("trainer", "changes"): """
    DELETE /api/v1/models/{model}/aliases/{alias} /api/v1/models/{model}
    POST /models/{model}/delete /models/{model}/verify /api/v1/models/{model}:verify
    POST /models/{model}/fetch /api/v1/zoo/{name}:fetch
    PATCH /api/v1/models/{model}
    PUT /api/v1/models/{model}/aliases/{alias}
    POST /api/v1/models /models/{model}/about /api/v1/recipes/{recipe}:preview
    POST /api/v1/evaluations /api/v1/jobs /api/v1/jobs/{job}:{action} /api/v1/models/{model}/exports
    POST /api/v1/models/{model}/predictions /api/v1/queue:reorder /evaluations /jobs/new /jobs/{job}/actions
    DELETE /api/v1/jobs/{job}
    PATCH /api/v1/jobs/{job} /api/v1/jobs/{job}/snapshots/{iteration}
    POST /api/v1/jobs/{job}:clone /api/v1/jobs/{job}:extend /api/v1/jobs/{job}:rerun
    POST /api/v1/jobs/{job}:remedy /jobs/{job}/remedy
    POST /jobs/{job}/about /jobs/{job}/delete /jobs/{job}/extend /jobs/{job}/rerun
    POST /jobs/{job}/priority /jobs/{job}/snapshots/{iteration}
    POST /jobs/{job}/place /models/{model}/exports /models/{model}/predictions
    """,
    ("administrator", "changes"): """
    PATCH /api/v1/users/{user} /api/v1/settings
    POST /api/v1/queue:hold /api/v1/queue:release /queue/{action} /api/v1/storage:collect
    POST /admin/backups /admin/collect /admin/settings /api/v1/backups
    POST /admin/users /admin/users/{user} /api/v1/users /api/v1/users/{user}/link
    """,
}
ROLE_OF = {
    (line.split()[0], path): role
    for (role, _), text in TABLE.items()
    for line in text.split("\n")
    for path in line.split()[1:]
}
# what makes a way to sign in, or names who may: tokens of administrators cannot, either
SESSION_ONLY = {("PATCH", "/api/v1/users/{user}"), ("POST", "/api/v1/users"), ("POST", "/api/v1/users/{user}/link")}
SESSION_ONLY |= {("POST", "/api/v1/tokens"), ("PUT", "/api/v1/me/password"), ("POST", "/account/tokens")}
SESSION_ONLY |= {("POST", "/account/password"), ("POST", "/admin/users"), ("POST", "/admin/users/{user}")}
SESSION_ONLY |= {("PATCH", "/api/v1/settings"), ("POST", "/admin/settings")}


UNKNOWN = "jb_" + "a" * 16


def asked(ids):
    """The routes; with a known run only those that name it, as the others have been asked with the unknown one."""
    return [each for each in ROUTES if ids["job"] == UNKNOWN or "{job}" in each[1] or "{model}" in each[1]]


def filled(path, ids):
    """The path with an identifier of the right kind for each parameter, mostly of nothing that exists."""
    return re.sub(r"\{(\w+)(:\w+)?\}", lambda match: ids.get(match[1], "1"), path)


@pytest.fixture(params=["unknown", "known"])
def ids(request, run_id):
    """Whether a thing exists must not be learned by strangers, so that both are asked."""
    job = run_id if request.param == "known" else UNKNOWN
    return {"job": job, "model": job, "action": "pause", "name": "config.json"} | {
        "dataset": "ds_" + "a" * 16,
        "upload": "up_" + "a" * 16,
        "version": "ve_" + "a" * 16,
        "user": "us_" + "a" * 16,
        "token": "tk_" + "a" * 16,
    }


@pytest.fixture
def no_process_of_a_model(studio, monkeypatch):
    """What a process answers, which would be started in vain for each question about the weights of a known run."""

    def ask(*_):
        raise Problem(422, "no file of weights")

    monkeypatch.setattr(studio.inference, "ask", ask)


def status(client, method, path, headers):
    return client.request(method, path, headers=headers, json={} if method not in SAFE else None).status_code


def test_the_openapi_description_has_every_route_of_the_interface(browser):
    paths = browser.get("/api/v1/openapi.json").json()["paths"]
    described = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    own = {(method, re.sub(r":path\}", "}", path)) for method, path in ROUTES if path.startswith("/api/v1")}
    assert own <= described
    assert len(own) > 30


def test_each_route_has_its_place_in_the_table_and_no_other_has():
    assert {*ROLE_OF, *PUBLIC} == set(ROUTES)
    assert len(ROLE_OF) == sum(
        len(line.split()) - 1 for text in TABLE.values() for line in text.split("\n") if line.strip()
    )
    for (_, kind), text in TABLE.items():
        assert {line.split()[0] in SAFE for line in text.split("\n") if line.strip()} == {kind == "reads"}


def test_a_stranger_and_a_wrong_token_get_401_everywhere(stranger, studio, ids):
    new_ticket(studio.engine, studio.clock)
    revoked = new_token(studio.engine, "revoked", "write", 1, studio.clock)
    revoke_tokens(studio.engine, "revoked", studio.clock)
    kinds = [{}, {"authorization": "Bearer cvz_wrong"}, {"authorization": f"Bearer {revoked}"}]
    kinds += [{"authorization": "Basic YTpi"}, {"cookie": f"{studio.cookie}=wrong"}]
    for method, path in asked(ids):
        if (method, path) in PUBLIC:
            continue
        for headers in kinds:
            found = status(stranger, method, filled(path, ids), headers | {"sec-fetch-site": "same-origin"})
            assert found == 401, (method, path, headers, found)


def test_a_token_that_reads_changes_nothing(stranger, studio, ids):
    new_ticket(studio.engine, studio.clock)
    bearer = {"authorization": f"Bearer {new_token(studio.engine, 'reader', 'read', 1, studio.clock)}"}
    for method, path in asked(ids):
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
    for method, path in asked(ids):
        if method not in SAFE:
            found = status(browser, method, filled(path, ids), headers)
            assert found == 403, (method, path, found)
    assert browser.get("/api/v1/jobs").status_code == 200  # still signed in


def test_another_host_name_is_refused_everywhere(browser, ids):
    for method, path in asked(ids):
        found = status(browser, method, filled(path, ids), {"host": "evil.example.org"})
        assert found == 421, (method, path, found)


@pytest.mark.usefixtures("no_process_of_a_model")
@pytest.mark.parametrize("role", ROLES)
def test_each_role_may_do_what_the_table_says_and_nothing_more(stranger, studio, ids, role, monkeypatch):
    monkeypatch.setattr(studio.models.zoo, "members", list)
    new_ticket(studio.engine, studio.clock)
    user = add_user(studio.engine, "somebody", role, studio.clock).id
    stranger.headers["sec-fetch-site"] = "same-origin"
    assert stranger.post("/open", data={"ticket": new_ticket(studio.engine, studio.clock, user)}).status_code == 303
    n_forbidden = 0
    for method, path in asked(ids):
        if path.endswith(PROCESSES) or path == "/sign-out" or (method, path) in PUBLIC:
            continue
        answer = stranger.request(
            method, filled(path, ids), json={} if method not in SAFE else None, headers={"accept": "application/json"}
        )
        is_forbidden = "needs the role" in answer.text
        if ROLES.index(role) >= ROLES.index(ROLE_OF[method, path]):
            assert not is_forbidden, (method, path, answer.text)
        else:  # everybody may learn that there is no such thing
            assert is_forbidden or (answer.status_code == 404 and "{" in path), (method, path, answer.text)
            n_forbidden += is_forbidden
    few = 5 if role == "trainer" or ids["job"] != UNKNOWN else 10
    assert (n_forbidden > few) == (role != "administrator") or (role == "trainer" and ids["job"] != UNKNOWN)


@pytest.mark.usefixtures("no_process_of_a_model")
@pytest.mark.parametrize("scope", ["read", "write"])
@pytest.mark.parametrize("role", ROLES)
def test_a_token_may_do_what_its_scope_and_its_user_may(stranger, studio, ids, role, scope, monkeypatch):
    monkeypatch.setattr(studio.models.zoo, "members", list)
    new_ticket(studio.engine, studio.clock)
    user = add_user(studio.engine, "somebody", role, studio.clock).id
    bearer = {"authorization": f"Bearer {new_token(studio.engine, 'mine', scope, 1, studio.clock, user)}"}
    seen = collections.Counter()
    for method, path in asked(ids):
        if (method, path) in PUBLIC or path.endswith(PROCESSES) or path == "/sign-out":
            continue
        body = {"name": "x", "new": "a" * 12, "role": "viewer", "default_quota": {}} if method not in SAFE else None
        answer = stranger.request(method, filled(path, ids), json=body, headers=bearer | {"accept": "application/json"})
        has_role = ROLES.index(role) >= ROLES.index(ROLE_OF[method, path])
        only_reads = scope == "read" and method not in SAFE and path not in READING_POSTS
        if not has_role or only_reads:
            # who may not learn more may learn that there is no such thing
            assert answer.status_code == 403 or (answer.status_code == 404 and "{" in path), (method, path, answer.text)
        elif (method, path) in SESSION_ONLY:
            assert answer.status_code in (403, 404, 422), (method, path, answer.text)
        else:
            assert answer.status_code not in (401, 403), (method, path, answer.text)
            assert answer.status_code < 500
        seen[answer.status_code] += 1
    mostly_may = ids["job"] != UNKNOWN or (role, scope) in {("administrator", "write"), ("trainer", "write")}
    assert seen[403] > 10 or mostly_may
    assert {each.name for each in all_users(studio.engine)} == {"admin", "somebody"}
    assert len(tokens_of(studio.engine, user, studio.clock)) == 1


@pytest.mark.usefixtures("no_process_of_a_model")
def test_a_session_is_never_refused_nor_does_a_route_fail(browser, studio, ids, monkeypatch):
    monkeypatch.setattr(studio.models.zoo, "members", list)
    for method, path in asked(ids):
        if path.endswith(PROCESSES) or path == "/sign-out":
            continue  # the last one would end the session
        found = status(browser, method, filled(path, ids), {})
        assert found not in (401, 403) or (method, path) in PUBLIC, (method, path, found)
        assert found < 500, (method, path, found)
