"""Quotas of users: jobs wait with the number, and a queue that is full is said at once."""

import pytest

from cvzoo.studio.access.tokens import new_token
from cvzoo.studio.access.users import add_user
from cvzoo.studio.jobs import recipe_helper
from cvzoo.studio.jobs.spec import EvaluateSpec, TrainSpec
from cvzoo.studio.jobs.states import Facts

SPEC = TrainSpec("ssd300", "voc:shapes")


@pytest.fixture
def ada(studio, browser, clock):
    """The identifier of a trainer."""
    return add_user(studio.engine, "ada", "trainer", clock).id


@pytest.fixture
def program(studio, ada, client_of, clock, monkeypatch):
    """A program of ada's."""
    monkeypatch.setattr(recipe_helper, "_ask", lambda question: {"fields": {}, "recipes": []})
    monkeypatch.setattr(studio.models.zoo, "members", list)
    client = client_of(studio)
    client.headers["authorization"] = f"Bearer {new_token(studio.engine, 'hers', 'write', 1, clock, ada)}"
    return client


@pytest.fixture
def tick(studio, monkeypatch):
    """Brings jobs a step further, without processes: what is admitted runs."""
    conductor = studio.conductor
    monkeypatch.setattr(conductor, "_admit", lambda job: studio.jobs.apply(studio.jobs.get(job.id), "admit"))
    monkeypatch.setattr(conductor, "_follow", lambda job: None)
    monkeypatch.setattr(conductor, "_free", lambda: 1 << 40)
    return conductor.tick


def test_a_job_above_the_quota_of_running_ones_waits_and_says_so(browser, studio, ada, tick):
    assert browser.patch(f"/api/v1/users/{ada}", json={"quota": {"running": 1}}).json()["quota"]["running"] == 1
    jobs = [studio.jobs.create("long", SPEC, ada), studio.jobs.create("short", EvaluateSpec("/m", "x", "", "d"), ada)]
    jobs = [job.id for job in jobs]
    for _ in range(2):
        tick()
    assert sorted(studio.jobs.get(job).state for job in jobs) == ["queued", "starting"]
    (waits,) = [job for job in jobs if studio.jobs.get(job).state == "queued"]
    (runs,) = [job for job in jobs if job != waits]
    assert studio.jobs.get(waits).detail == "Waits: 1 of at most 1 jobs of ada are running."
    assert "at most 1 jobs of ada" in browser.get("/jobs").text
    studio.jobs.apply(studio.jobs.get(runs), "exit", Facts(code=0, has_result=True))
    tick()
    assert studio.jobs.get(waits).state == "starting"


def test_others_pass_a_user_who_is_over_the_quota(browser, studio, ada, tick):
    browser.patch(f"/api/v1/users/{ada}", json={"quota": {"running": 0}})
    hers = studio.jobs.create("hers", SPEC, ada).id
    other = studio.jobs.create("other", SPEC, None).id
    tick()
    assert (studio.jobs.get(hers).state, studio.jobs.get(other).state) == ("queued", "starting")


def test_bytes_of_jobs_are_counted_with_the_trash(browser, studio, ada, tick, monkeypatch):
    browser.patch(f"/api/v1/users/{ada}", json={"quota": {"bytes": 1_000_000}})
    done = studio.jobs.create("done", SPEC, ada)
    (studio.place.run(done.id) / "best.safetensors").write_bytes(b"x" * 2_000_000)
    for event in ("admit", "begin", "exit"):
        studio.jobs.apply(studio.jobs.get(done.id), event, Facts(code=0, has_result=True))
    studio.jobs.trash(studio.jobs.get(done.id))
    job = studio.jobs.create("next", SPEC, ada).id
    tick()
    assert studio.jobs.get(job).detail.startswith("Waits: the jobs of ada have 0.0 of at most 0.0 GB")
    studio.trash.purge(done.id)
    studio.use._bytes.clear()  # a minute later
    tick()
    assert studio.jobs.get(job).state == "starting"


def test_a_full_queue_is_refused_before_any_work(browser, studio, ada, program):
    browser.patch(f"/api/v1/users/{ada}", json={"quota": {"queued": 1}})
    body = {"recipe": "ssd300", "data": "voc:shapes"}
    studio.jobs.create("known", SPEC, None)  # whose data others may name, too
    first = program.post("/api/v1/jobs", json=body)
    assert first.status_code == 201
    refused = program.post("/api/v1/jobs", json=body)
    assert (refused.status_code, refused.json()["detail"]) == (409, "1 jobs of yours wait, of at most 1")
    draft = program.post("/api/v1/jobs", json=body | {"start": False})
    assert draft.status_code == 201
    assert program.post(f"/api/v1/jobs/{draft.json()['id']}:start").status_code == 409
    assert program.post(f"/api/v1/jobs/{first.json()['id']}:pause").status_code == 202
    assert program.post(f"/api/v1/jobs/{draft.json()['id']}:start").status_code == 202


def test_the_form_of_the_page_sets_and_removes_limits(browser, studio, ada):
    form = {"action": "quota", "running": "2", "queued": "", "gigabytes": "1.5"}
    assert browser.post(f"/admin/users/{ada}", data=form).status_code == 303
    (user,) = [each for each in browser.get("/api/v1/users").json()["items"] if each["id"] == ada]
    assert user["quota"] == {"running": 2, "queued": None, "bytes": 1_500_000_000}
    assert 'value="1.5"' in browser.get("/admin").text
    for wrong in ("x", "-1", "nan", "1e99"):
        assert browser.post(f"/admin/users/{ada}", data=form | {"gigabytes": wrong}).status_code == 409
    browser.post(f"/admin/users/{ada}", data={"action": "quota"})
    assert "limited" not in browser.get("/admin").text
    assert browser.patch(f"/api/v1/users/{ada}", json={"quota": {"running": -1}}).status_code == 422
