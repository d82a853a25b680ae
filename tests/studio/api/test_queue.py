"""The queue by REST and by forms: roles, races and the audit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.studio.access.audit import entries
from cvzoo.studio.access.tickets import new_ticket
from cvzoo.studio.access.tokens import new_token
from cvzoo.studio.access.users import add_user
from cvzoo.studio.jobs.forecast import starts
from cvzoo.studio.jobs.spec import TrainSpec
from cvzoo.studio.jobs.states import Facts

SPEC = TrainSpec("ssd300", "voc:shapes")


@pytest.fixture
def ada(studio, browser, clock):
    """Headers of a trainer, and her identifier."""
    user = add_user(studio.engine, "ada", "trainer", clock).id
    token = new_token(studio.engine, "ada's", "write", 1, clock, user)
    return {"authorization": f"Bearer {token}"}, user


@pytest.fixture
def jobs(studio, browser, ada, clock):
    """Two jobs of the administrator and two of ada, in turn: their identifiers."""
    mine = browser.get("/api/v1/me").json()["id"]
    return [studio.jobs.create(f"job {i}", SPEC, user).id for i, user in enumerate((mine, ada[1]) * 2)]


def names(client, **options):
    return [each["name"][-1] for each in client.get("/api/v1/queue", **options).json()["items"]]


def test_the_queue_says_what_may_be_moved_where(browser, stranger, jobs, ada):
    rows = browser.get("/api/v1/queue").json()["items"]
    assert [(each["position"], each["n"], each["lane"], each["user"]) for each in rows] == [
        (i + 1, 4, "long", ("admin", "ada")[i % 2]) for i in range(4)
    ]
    assert [(each["earlier"], each["later"]) for each in rows] == [
        *((None, jobs[2]), (jobs[0], jobs[3]), (jobs[1], ""), (jobs[2], None)),
    ]
    rows = stranger.get("/api/v1/queue", headers=ada[0]).json()["items"]
    assert [(each["earlier"], each["later"]) for each in rows] == [
        (None, None),
        (None, jobs[3]),
        (None, None),
        (None,) * 2,
    ]


def test_an_administrator_moves_any_job_and_a_trainer_her_own(browser, stranger, jobs, ada, studio):
    answer = browser.post("/api/v1/queue:reorder", json={"job": jobs[3], "before": jobs[0]})
    assert answer.status_code == 200
    assert names(browser) == ["3", "0", "1", "2"] == [each["name"][-1] for each in answer.json()["items"]]
    refused = stranger.post("/api/v1/queue:reorder", json={"job": jobs[1], "before": jobs[0]}, headers=ada[0])
    assert refused.status_code == 403
    assert "another user" in refused.json()["detail"]
    assert stranger.post("/api/v1/queue:reorder", json={"job": jobs[0]}, headers=ada[0]).status_code == 403
    assert stranger.post("/api/v1/queue:reorder", json={"job": jobs[1]}, headers=ada[0]).status_code == 200
    assert names(browser) == ["3", "0", "2", "1"]
    found = entries(studio.engine, before=None, action="queue.move", limit=10)
    assert [(each.user, each.object, each.to_json()["detail"]) for each in found] == [
        ("ada", jobs[1], {"before": None, "was": 3, "is": 4}),
        ("admin", jobs[3], {"before": jobs[0], "was": 4, "is": 1}),
    ]


def test_with_if_match_an_order_that_has_changed_is_not_changed_again(browser, jobs):
    etag = browser.get("/api/v1/queue").headers["etag"]
    moved = browser.post("/api/v1/queue:reorder", json={"job": jobs[3], "before": jobs[0]}, headers={"if-match": etag})
    assert moved.status_code == 200
    assert moved.headers["etag"] != etag
    again = browser.post("/api/v1/queue:reorder", json={"job": jobs[3], "before": None}, headers={"if-match": etag})
    assert again.status_code == 412
    assert names(browser) == ["3", "0", "1", "2"]


def test_a_job_that_does_not_wait_any_more_is_refused_with_those_that_do(browser, jobs):
    assert browser.post(f"/api/v1/jobs/{jobs[1]}:stop").status_code == 202
    for body in ({"job": jobs[1]}, {"job": jobs[3], "before": jobs[1]}, {"job": "x"}, {"job": jobs[0], "before": ""}):
        answer = browser.post("/api/v1/queue:reorder", json=body)
        assert answer.status_code == 409, body
        assert answer.json()["expected"] == ", ".join(each for each in jobs if each != jobs[1])
    assert names(browser) == ["0", "2", "3"]


@pytest.mark.parametrize("body", [{}, [], {"job": 3}, {"job": "a" * 41}, {"job": "a", "before": ["b"]}])
def test_malformed_requests_are_refused(browser, body):
    assert browser.post("/api/v1/queue:reorder", json=body).status_code == 422


def test_the_buttons_of_the_page_move_without_scripts(browser, jobs):
    page = browser.get("/jobs").text
    assert page.index("job 0") < page.index("job 1") < page.index("job 3")
    answer = browser.post(f"/jobs/{jobs[1]}/place", data={"before": jobs[0]})
    assert (answer.status_code, answer.headers["location"]) == (303, "/jobs#queue")
    browser.post(f"/jobs/{jobs[2]}/place", data={"before": ""})
    assert names(browser) == ["1", "0", "3", "2"]


def test_a_viewer_sees_the_queue_and_no_button(studio, stranger, jobs, clock):
    user = add_user(studio.engine, "carl", "viewer", clock).id
    stranger.headers["sec-fetch-site"] = "same-origin"
    stranger.post("/open", data={"ticket": new_ticket(studio.engine, clock, user)})
    page = stranger.get("/jobs").text
    assert "job 3" in page
    assert "/place" not in page
    assert stranger.post("/api/v1/queue:reorder", json={"job": jobs[0]}).status_code == 403


def test_the_order_is_that_of_the_next_server(browser, jobs, studio):
    from cvzoo.studio.database.migrate import ready_database
    from cvzoo.studio.jobs.queue import read_queue

    browser.post("/api/v1/queue:reorder", json={"job": jobs[3], "before": jobs[1]})
    engine = ready_database(studio.place)
    assert [job.id for job in read_queue(engine).jobs] == [jobs[i] for i in (0, 3, 1, 2)]
    engine.dispose()


def test_a_higher_priority_comes_first_and_moves_stay_within_it(browser, jobs):
    assert browser.patch(f"/api/v1/jobs/{jobs[2]}", json={"priority": 7}).status_code == 200
    assert browser.post(f"/jobs/{jobs[0]}/priority", data={"priority": "2"}).status_code == 303
    assert names(browser) == ["2", "1", "3", "0"]
    rows = browser.get("/api/v1/queue").json()["items"]
    assert [(row["priority"], row["position"]) for row in rows] == [(7, 1), (5, 2), (5, 3), (2, 4)]
    assert [(row["earlier"], row["later"]) for row in rows] == [
        (None, None),
        (None, ""),
        (jobs[1], None),
        (None, None),
    ]
    refused = browser.post("/api/v1/queue:reorder", json={"job": jobs[3], "before": jobs[2]})
    assert (refused.status_code, refused.json()["expected"]) == (409, "7")
    assert browser.post("/api/v1/queue:reorder", json={"job": jobs[3], "before": jobs[1]}).status_code == 200
    assert names(browser) == ["2", "3", "1", "0"]
    for wrong in (-1, 10, "x"):
        assert browser.patch(f"/api/v1/jobs/{jobs[2]}", json={"priority": wrong}).status_code == 422


def test_only_administrators_let_jobs_pass_others(studio, stranger, clock):
    user = add_user(studio.engine, "carl", "trainer", clock).id
    mine = studio.jobs.create("mine", TrainSpec("ssd300", "voc:shapes"), user).id
    stranger.headers["sec-fetch-site"] = "same-origin"
    stranger.post("/open", data={"ticket": new_ticket(studio.engine, clock, user)})
    assert stranger.patch(f"/api/v1/jobs/{mine}", json={"priority": 6}).status_code == 403
    assert stranger.patch(f"/api/v1/jobs/{mine}", json={"priority": 1}).status_code == 200
    assert stranger.patch(f"/api/v1/jobs/{mine}", json={"priority": 5}).status_code == 200
    assert stranger.post("/api/v1/queue:hold").status_code == 403
    assert stranger.post(f"/api/v1/jobs/{mine}:hold").status_code == 202
    page = stranger.get("/jobs").text
    assert "Release" in page
    assert "Hold the queue" not in page


def test_held_jobs_and_a_held_queue_are_not_started(browser, jobs, studio, monkeypatch):
    admitted = []
    monkeypatch.setattr(studio.conductor, "_admit", lambda job: admitted.append(job.id))
    monkeypatch.setattr(studio.conductor, "_free", lambda: 1 << 40)
    assert browser.post(f"/api/v1/jobs/{jobs[0]}:hold").status_code == 202
    studio.conductor.tick()
    assert admitted == [jobs[1]]
    assert studio.jobs.get(jobs[0]).detail == "Waits: it is held until it is released."
    assert browser.post(f"/api/v1/jobs/{jobs[0]}:hold").json()["expected"] == "pause, stop, kill, release"
    assert browser.post("/api/v1/queue:hold").json()["held_by"] == "admin"
    assert browser.post(f"/jobs/{jobs[0]}/actions", data={"action": "release"}).status_code == 303
    studio.conductor.tick()
    assert admitted == [jobs[1]]
    assert studio.jobs.get(jobs[0]).detail == "Waits: admin holds the whole queue."
    assert "holds the queue" in browser.get("/jobs").text
    assert browser.post("/queue/release").status_code == 303
    studio.conductor.tick()
    assert admitted == [jobs[1], jobs[0]]
    assert studio.jobs.get(jobs[0]).detail == ""


def test_the_start_is_forecast_by_what_such_jobs_took(browser, jobs, studio, write_run):
    assert [row["starts_in"] for row in browser.get("/api/v1/queue").json()["items"]] == [0.0, None, None, None]
    done = studio.jobs.create("done", TrainSpec("ssd300", "voc:shapes"), None).id
    run = studio.place.run(done)
    (run / "job.json").unlink()
    run.rmdir()
    write_run(run)  # 30 s of 4 epochs
    for event in ("admit", "begin", "exit"):
        studio.jobs.apply(studio.jobs.get(done), event, Facts(code=0, has_result=True))
    assert [row["starts_in"] for row in browser.get("/api/v1/queue").json()["items"]] == [0.0, 30.0, 60.0, 90.0]
    browser.post(f"/api/v1/jobs/{jobs[1]}:hold")
    assert [row["starts_in"] for row in browser.get("/api/v1/queue").json()["items"]] == [0.0, None, 30.0, 60.0]
    assert "Starts in about 1:00, by earlier runs" in browser.get("/jobs").text


def test_what_runs_at_an_unknown_pace_leaves_the_start_unknown(browser, jobs, studio):
    studio.jobs.apply(studio.jobs.get(jobs[0]), "admit")
    assert [row["starts_in"] for row in browser.get("/api/v1/queue").json()["items"]] == [None] * 3


@given(st.one_of(st.none(), st.floats(0, 1e6)), st.lists(st.one_of(st.none(), st.floats(0, 1e6)), max_size=8))
def test_forecasts_never_come_earlier_and_stay_unknown(left, durations):
    found = starts(left, durations)
    assert len(found) == len(durations)
    for i, at in enumerate(found):
        is_known = left is not None and None not in durations[:i]
        assert (at is not None) is is_known
        if is_known:
            assert at == pytest.approx(left + sum(durations[:i]))
