"""Requests that are sent twice, at once and one after the other, have one effect and one answer."""

import asyncio
import json

import httpx2
import pytest

from cvzoo.errors.exceptions import ConfigError
from cvzoo.studio.access import idempotency
from cvzoo.studio.access.tokens import new_token
from cvzoo.studio.access.users import add_user
from cvzoo.studio.app import API, create_app
from cvzoo.studio.jobs import recipe_helper
from cvzoo.studio.jobs.spec import TrainSpec
from cvzoo.studio.jobs.states import Facts

KEY = {"idempotency-key": "0b5a-1"}
JOB = {"recipe": "ssd300", "data": "voc:shapes"}


@pytest.fixture(autouse=True)
def asked(monkeypatch, studio):
    """Recipes without a process, and a zoo without members."""
    monkeypatch.setattr(recipe_helper, "_ask", lambda question: {"fields": {}, "recipes": []})
    monkeypatch.setattr(studio.models.zoo, "members", list)
    recipe_helper._listing.cache_clear()
    yield
    recipe_helper._listing.cache_clear()


@pytest.fixture
def program(studio, browser, client_of):
    """A program with an administrator's token."""
    client = client_of(studio)
    client.headers["authorization"] = f"Bearer {new_token(studio.engine, 'mine', 'write', 1, studio.clock)}"
    return client


def at_once(studio, program, path, body, n=2):
    """The answers to n requests with the same key that arrive together."""

    async def send():
        transport = httpx2.ASGITransport(create_app(studio))
        headers = {**KEY, "authorization": program.headers["authorization"]}
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8700") as client:
            return await asyncio.gather(*(client.post(path, json=body, headers=headers) for _ in range(n)))

    return asyncio.run(send())


def jobs_of(studio):
    return {job.id: (job.state, job.rank, job.place) for job in studio.jobs.all()}


def queued(studio, n=2):
    return [studio.jobs.create(f"job {i}", TrainSpec("ssd300", "voc:shapes"), None).id for i in range(n)]


def failed(studio):
    (job,) = queued(studio, 1)
    for event in ("admit", "begin", "exit"):
        studio.jobs.apply(studio.jobs.get(job), event, Facts(code=1))
    return job


POSTS = {
    "jobs": lambda studio, run_id, tmp_path: ("/jobs", JOB),
    "evaluations": lambda studio, run_id, tmp_path: ("/evaluations", {"model": run_id, "data": "voc:shapes"}),
    "exports": lambda studio, run_id, tmp_path: (f"/models/{run_id}/exports", {"form": "onnx"}),
    "predictions": lambda studio, run_id, tmp_path: (f"/models/{run_id}/predictions", {"images": str(tmp_path)}),
    "pause": lambda studio, run_id, tmp_path: (f"/jobs/{queued(studio)[0]}:pause", {}),
    "stop": lambda studio, run_id, tmp_path: (f"/jobs/{queued(studio)[0]}:stop", {}),
    "kill": lambda studio, run_id, tmp_path: (f"/jobs/{queued(studio)[0]}:kill", {}),
    "retry": lambda studio, run_id, tmp_path: (f"/jobs/{failed(studio)}:retry", {}),
    "reorder": lambda studio, run_id, tmp_path: ("/queue:reorder", {"job": queued(studio)[1], "before": None}),
}


@pytest.mark.parametrize("name", POSTS)
def test_a_post_of_a_job_that_is_sent_twice_at_once_has_one_effect(studio, program, run_id, tmp_path, name):
    path, body = POSTS[name](studio, run_id, tmp_path)
    n = len(studio.jobs.all())
    first, second = at_once(studio, program, f"/api/v1{path}", body)
    assert first.status_code in (200, 201, 202), first.text
    assert (second.status_code, second.content) == (first.status_code, first.content)
    assert ("idempotent-replayed" in first.headers) + ("idempotent-replayed" in second.headers) == 1
    assert len(studio.jobs.all()) == n + (name in ("jobs", "evaluations", "exports", "predictions"))
    before = jobs_of(studio)
    again = program.post(f"/api/v1{path}", json=body, headers=KEY)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert jobs_of(studio) == before


def test_without_a_key_each_request_counts(studio, program):
    for _ in range(2):
        assert program.post("/api/v1/jobs", json=JOB).status_code == 201
    assert len(studio.jobs.all()) == 2


def test_the_routes_that_take_no_key_say_so(program, run_id):
    """Of the application's own routes, so that one whose answer has secrets is not forgotten."""
    posts = [route.path for router in API for route in router.routes if "POST" in route.methods]
    taken = [path for path in posts if not path.startswith(idempotency._OTHERS)]
    assert len(taken) > 12
    for path in sorted(set(posts) - set(taken)):
        refused = program.post(path.replace("{user}", "x"), json={}, headers=KEY)
        assert (refused.status_code, "takes no Idempotency-Key" in refused.text) == (400, True), path


def test_another_body_with_the_same_key_is_refused(studio, program):
    assert program.post("/api/v1/jobs", json=JOB, headers=KEY).status_code == 201
    for path, body in (("/api/v1/jobs", JOB | {"name": "x"}), ("/api/v1/evaluations", JOB), ("/api/v1/jobs?a=1", JOB)):
        refused = program.post(path, json=body, headers=KEY)
        assert refused.status_code == 422
        assert "another request" in refused.json()["detail"]
    assert len(studio.jobs.all()) == 1


def test_a_refused_request_is_corrected_with_the_same_key(studio, program, monkeypatch):
    wrong = {"fields": {"data": "there is no such folder"}, "recipes": []}
    with monkeypatch.context() as patched:
        patched.setattr(recipe_helper, "_ask", lambda question: wrong)
        assert program.post("/api/v1/jobs", json=JOB, headers=KEY).status_code == 422
    assert program.post("/api/v1/jobs", json=JOB | {"data": "voc:other"}, headers=KEY).status_code == 201
    assert len(studio.jobs.all()) == 1


def test_an_answer_is_forgotten_after_a_day(studio, program, clock):
    first = program.post("/api/v1/jobs", json=JOB, headers=KEY).json()["id"]
    clock.now += idempotency.KEPT_MS - 1
    assert program.post("/api/v1/jobs", json=JOB, headers=KEY).json()["id"] == first
    clock.now += 1
    # the token is of the same day
    headers = {"authorization": f"Bearer {new_token(studio.engine, 'second', 'write', 1, clock)}"}
    assert program.post("/api/v1/jobs", json=JOB, headers=KEY | headers).json()["id"] != first


def test_keys_are_those_of_a_user(studio, program, clock, client_of):
    user = add_user(studio.engine, "carla", "trainer", clock).id
    bearer = {"authorization": f"Bearer {new_token(studio.engine, 'hers', 'write', 1, clock, user)}"}
    first = program.post("/api/v1/evaluations", json={"model": "jb_x", "data": "x"}, headers=KEY)
    second = client_of(studio).post("/api/v1/queue:reorder", json={"job": "x"}, headers=KEY | bearer)
    assert (first.status_code, second.status_code) == (404, 409)


def test_who_may_not_write_learns_no_answer(studio, program, clock, client_of):
    assert program.post("/api/v1/jobs", json=JOB, headers=KEY).status_code == 201
    reads = {"authorization": f"Bearer {new_token(studio.engine, 'reads', 'read', 1, clock)}"}
    stranger = client_of(studio)
    assert stranger.post("/api/v1/jobs", json=JOB, headers=KEY | reads).status_code == 403
    assert stranger.post("/api/v1/jobs", json=JOB, headers=KEY).status_code == 401


@pytest.mark.parametrize("key", ["", "a b", "a" * 81, "\u00e4"])
def test_a_malformed_key_is_refused(studio, program, key):
    refused = program.post("/api/v1/jobs", json=JOB, headers={"idempotency-key": key.encode()})
    assert refused.status_code == 400
    assert studio.jobs.all() == []


def test_a_server_that_failed_in_the_middle_does_nothing_twice(studio, program, monkeypatch):
    create = studio.jobs.create

    def broken(*args, **options):
        create(*args, **options)
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(studio.jobs, "create", broken)
        with pytest.raises(ZeroDivisionError):
            program.post("/api/v1/jobs", json=JOB, headers=KEY)
    for _ in range(2):  # as after a kill of the server, too
        refused = program.post("/api/v1/jobs", json=JOB, headers=KEY)
        assert refused.status_code == 409
        assert "may have taken effect" in refused.json()["detail"]
    assert len(studio.jobs.all()) == 1


def test_an_error_of_cvzoo_is_a_refusal(studio, program, monkeypatch):
    def refuse(*_, **options):
        raise ConfigError("not now")

    with monkeypatch.context() as patched:
        patched.setattr(studio.jobs, "create", refuse)
        assert program.post("/api/v1/jobs", json=JOB, headers=KEY).status_code == 409
    assert program.post("/api/v1/jobs", json=JOB, headers=KEY).status_code == 201


def test_a_body_that_is_too_large_is_refused(program):
    refused = program.post("/api/v1/jobs", content=iter([b"x" * (1 << 20), b"x"]), headers=KEY)
    assert refused.status_code == 413


def test_no_answer_is_kept_of_a_request_without_a_key(studio, program):
    program.post("/api/v1/jobs", json=JOB)
    with studio.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM seen_key").scalar() == 0
    program.post("/api/v1/jobs", json=JOB, headers=KEY)
    with studio.engine.connect() as connection:
        (answer,) = connection.exec_driver_sql("SELECT answer FROM seen_key").scalars()
    assert json.loads(answer)[0] == 201
