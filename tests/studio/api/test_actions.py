"""Jobs by REST and by forms; recipes are asked of the real helper."""

import json
import types

import pytest

from cvzoo.errors.exceptions import ConfigError
from cvzoo.studio.access.tickets import new_ticket
from cvzoo.studio.access.tokens import new_token
from cvzoo.studio.access.users import add_user
from cvzoo.studio.api import actions
from cvzoo.studio.jobs import recipe_helper
from cvzoo.studio.jobs.spec import TrainSpec
from cvzoo.studio.pages import new_training

FIELDS = [
    {
        "name": "lr",
        "help": "learning rate",
        "unit": "",
        "group": "optimizer",
        "default": "0.001",
        "expected": "a number",
    },
    {"name": "model.insize", "help": "size", "unit": "pixels", "group": "model", "default": "300", "expected": ""},
]
RECIPE = {"name": "ssd300", "task": "detection", "summary": "SSD", "fields": FIELDS}


@pytest.fixture
def asked(monkeypatch):
    """What the helper was asked; its answers are those of a network with two settings."""
    found = []

    def ask(question):
        found.append(question)
        if not question:
            return {"recipes": [RECIPE]}
        wrong = {} if question["data"] == "voc:shapes" else {"data": "there is no such folder"}
        return {"fields": wrong | ({"lr": "lr is invalid"} if question["settings"].get("lr") == "x" else {})}

    monkeypatch.setattr(recipe_helper, "_ask", ask)
    recipe_helper._listing.cache_clear()
    yield found
    recipe_helper._listing.cache_clear()


def test_a_job_is_created_and_asked_to_pause(browser, asked, studio):
    body = {"recipe": "ssd300", "data": "voc:shapes", "settings": {"lr": "0.1"}}
    answer = browser.post("/api/v1/jobs", json=body)
    assert answer.status_code == 201
    job = answer.json()["id"]
    assert studio.jobs.get(job).spec == TrainSpec("ssd300", "voc:shapes", (("lr", "0.1"),))
    assert json.loads((studio.place.run(job) / "job.json").read_text())["settings"] == {"lr": "0.1"}
    assert browser.post(f"/api/v1/jobs/{job}:pause").json()["state"] == "paused"
    refused = browser.post(f"/api/v1/jobs/{job}:pause")
    assert refused.status_code == 409
    assert refused.json()["expected"] == "resume, stop, kill"
    assert browser.get(f"/jobs/{job}").status_code == 200
    assert "--recipe ssd300 --data=voc:shapes" in browser.get(f"/jobs/{job}").text


def test_what_is_wrong_is_told_by_field(browser, asked, studio):
    body = {"recipe": "ssd300", "data": "voc:nowhere", "settings": {"lr": "x"}}
    answer = browser.post("/api/v1/jobs", json=body)
    assert answer.status_code == 422
    assert answer.json()["fields"] == {"data": "there is no such folder", "lr": "lr is invalid"}
    assert studio.jobs.all() == []
    assert list(studio.place.runs.iterdir()) == []


def test_the_form_creates_a_job_with_what_was_changed(browser, asked, studio):
    page = browser.get("/jobs/new?recipe=ssd300").text
    assert 'name="set:model.insize" value="300"' in page
    form = {"recipe": "ssd300", "data": "voc:shapes", "name": "mine", "set:lr": "0.1", "set:model.insize": "300"}
    answer = browser.post("/jobs/new", data=form)
    assert answer.status_code == 303
    (job,) = studio.jobs.all()
    assert answer.headers["location"] == f"/jobs/{job.id}"
    assert (job.name, job.spec.settings) == ("mine", (("lr", "0.1"),))
    assert 'value="0.1"' in browser.get(f"/jobs/new?clone={job.id}").text


def test_the_form_shows_an_error_at_its_field_and_keeps_what_was_typed(browser, asked, studio):
    answer = browser.post("/jobs/new", data={"recipe": "ssd300", "data": "voc:shapes", "set:lr": "x"})
    assert answer.status_code == 422
    assert 'value="x"' in answer.text
    assert "lr is invalid" in answer.text
    assert answer.text.count('aria-invalid="true"') == 1
    assert browser.post("/jobs/new", data={"recipe": "none"}).status_code == 200
    assert studio.jobs.all() == []


def test_buttons_change_the_job(browser, asked, studio):
    job = studio.jobs.create("mine", TrainSpec("ssd300", "voc:shapes"), None)
    assert browser.post(f"/jobs/{job.id}/actions", data={"action": "stop"}).status_code == 303
    assert studio.jobs.get(job.id).state == "stopped"
    assert browser.post(f"/jobs/{job.id}/actions", data={"action": "admit"}).status_code == 422
    assert studio.jobs.get(job.id).state == "stopped"


def test_a_token_that_reads_starts_and_stops_nothing(stranger, asked, studio):
    job = studio.jobs.create("mine", TrainSpec("ssd300", "voc:shapes"), None)
    bearer = {"authorization": f"Bearer {new_token_of(studio)}"}
    assert stranger.get(f"/api/v1/jobs/{job.id}", headers=bearer).status_code == 200
    body = {"recipe": "ssd300", "data": "voc:shapes"}
    assert stranger.post("/api/v1/jobs", json=body, headers=bearer).status_code == 403
    assert stranger.post(f"/api/v1/jobs/{job.id}:stop", headers=bearer).status_code == 403
    assert studio.jobs.get(job.id).state == "queued"


def new_token_of(studio):
    from cvzoo.studio.access.tickets import new_ticket

    new_ticket(studio.engine, studio.clock)  # makes the user
    return new_token(studio.engine, "reader", "read", 1, studio.clock)


def test_a_run_of_a_watched_folder_is_not_changed(browser, run_id):
    assert browser.post(f"/api/v1/jobs/{run_id}:kill").status_code == 404


@pytest.mark.parametrize("body", [{}, {"recipe": 3, "data": []}, {"recipe": "a" * 300, "data": "b"}, [], "x"])
def test_malformed_bodies_are_refused(browser, body):
    assert browser.post("/api/v1/jobs", json=body).status_code == 422


def test_the_helper_lists_the_recipes():
    recipe_helper._listing.cache_clear()
    known = recipe_helper.recipes()
    assert {"ssd300", "retinanet_resnet18_small"} <= set(known)
    (lr,) = [field for field in known["ssd300"]["fields"] if field["name"] == "lr"]
    assert lr["help"] == "learning rate after the warm-up"
    assert lr["expected"].startswith("a number")


PREVIEW = {"sheet": "/9j/", "rates": [[0, 0.001], [9, 0.0]], "n_update": 10} | {
    "reach": {"n_box": 5, "n_image": 4, "thresh": 0.5, "reached": 0.4, "suggested": {"model.insize": [1, 2]}}
}


def test_the_form_shows_a_preview_and_keeps_what_was_typed(browser, asked, studio, monkeypatch):
    monkeypatch.setattr(new_training, "preview", lambda *_: {"fields": {}, "preview": PREVIEW})
    form = {"recipe": "ssd300", "data": "voc:shapes", "set:lr": "0.5", "action": "preview"}
    page = browser.post("/jobs/new", data=form).text
    assert "Learning rate, 10 updates" in page
    assert 'points="0.0,0.0 360.0,160.0"' in page
    assert "40.0 % of 5 boxes" in page
    assert "model.insize=[1, 2]" in page
    assert 'name="set:lr" value="0.5"' in page
    assert "cvzoo data check" in page
    monkeypatch.setattr(new_training, "preview", lambda *_: {"fields": {"lr": "lr is invalid"}})
    answer = browser.post("/jobs/new", data=form)
    assert answer.status_code == 422
    assert "lr is invalid" in answer.text
    assert studio.jobs.all() == []


def test_a_preview_is_had_by_rest(browser, asked, studio, monkeypatch):
    told = []

    def preview(*values):
        told.append(values)
        return {"fields": {"lr": "lr is invalid"}} if values[2].get("lr") == "x" else {"fields": {}, "preview": PREVIEW}

    monkeypatch.setattr(actions, "preview", preview)
    path, body = "/api/v1/recipes/ssd300:preview", {"data": "voc:shapes", "settings": {"lr": "0.1"}}
    assert browser.post(path, json=body).json() == PREVIEW | {"known": None}
    assert told == [("ssd300", "voc:shapes", {"lr": "0.1"})]
    refused = browser.post(path, json=body | {"settings": {"lr": "x"}})
    assert (refused.status_code, refused.json()["fields"]) == (422, {"lr": "lr is invalid"})
    assert browser.post("/api/v1/recipes/none:preview", json=body).status_code == 404
    assert browser.get("/api/v1/recipes/ssd300").json() == RECIPE
    assert browser.get("/api/v1/recipes/none").status_code == 404
    assert studio.jobs.all() == []


def test_the_form_tries_a_training_and_tells_why_it_could_not(browser, asked, studio, monkeypatch):
    form = {"recipe": "ssd300", "data": "voc:shapes", "action": "try"}
    monkeypatch.setattr(new_training, "tried", lambda spec: (" ".join(spec.trial_words()), "20 iterations: <1 s>"))
    page = browser.post("/jobs/new", data=form).text
    assert "train --recipe ssd300 --data=voc:shapes --try" in page
    assert "20 iterations: &lt;1 s&gt;" in page

    def fails(spec):
        raise ConfigError("20 iterations failed: out of memory")

    monkeypatch.setattr(new_training, "tried", fails)
    answer = browser.post("/jobs/new", data=form)
    assert answer.status_code == 422
    assert "out of memory" in answer.text
    assert studio.jobs.all() == []


@pytest.mark.parametrize("status", [0, 1])
def test_a_try_is_the_command_and_its_output(monkeypatch, status):
    done = types.SimpleNamespace(stdout=b"what it prints", returncode=status)
    monkeypatch.setattr(recipe_helper.subprocess, "run", lambda argv, **_: done)
    spec = TrainSpec("ssd300", "voc:a b", (("lr", "0.1"),))
    if status:
        with pytest.raises(ConfigError, match="failed: what it prints"):
            recipe_helper.tried(spec)
    command = "cvzoo train --recipe ssd300 '--data=voc:a b' --try lr=0.1"
    done.returncode = 0
    assert recipe_helper.tried(spec) == (command, "what it prints")


def test_two_trainings_are_not_tried_at_once(monkeypatch):
    def run(argv, **_):
        with pytest.raises(ConfigError, match="another training is being tried"):
            recipe_helper.tried(TrainSpec("ssd300", "voc:x"))
        return types.SimpleNamespace(stdout=b"", returncode=0)

    monkeypatch.setattr(recipe_helper.subprocess, "run", run)
    recipe_helper.tried(TrainSpec("ssd300", "voc:x"))


def test_a_draft_is_saved_as_it_is_and_checked_when_it_starts(browser, asked, studio):
    answer = browser.post("/api/v1/jobs", json={"recipe": "ssd300", "data": "voc:nowhere", "start": False})
    assert (answer.status_code, answer.json()["state"]) == (201, "draft")
    job = answer.json()["id"]
    assert browser.get("/api/v1/queue").json()["items"] == []
    refused = browser.post(f"/api/v1/jobs/{job}:start")
    assert (refused.status_code, refused.json()["fields"]) == (422, {"data": "there is no such folder"})
    assert browser.post(f"/api/v1/jobs/{job}:stop").json()["expected"] == "start"
    assert studio.jobs.get(job).state == "draft"
    assert "Start" in browser.get(f"/jobs/{job}").text
    form = browser.get(f"/jobs/new?draft={job}").text
    assert 'value="voc:nowhere"' in form
    fields = {"recipe": "ssd300", "data": "voc:shapes", "name": "better", "set:lr": "x", "draft": job}
    assert browser.post("/jobs/new", data=fields | {"action": "save"}).headers["location"] == f"/jobs/{job}"
    assert studio.jobs.get(job).spec == TrainSpec("ssd300", "voc:shapes", (("lr", "x"), ("model.insize", "300"))[:1])
    assert json.loads((studio.place.run(job) / "job.json").read_text())["data"] == "voc:shapes"
    assert browser.post("/jobs/new", data=fields).status_code == 422
    assert studio.jobs.get(job).state == "draft"
    assert browser.post("/jobs/new", data=fields | {"set:lr": "0.1"}).headers["location"] == f"/jobs/{job}"
    assert (studio.jobs.get(job).state, studio.jobs.get(job).name) == ("queued", "better")
    assert [each["id"] for each in browser.get("/api/v1/queue").json()["items"]] == [job]
    assert len(studio.jobs.all()) == 1
    assert browser.post("/jobs/new", data=fields | {"action": "save"}).status_code == 409  # it has started


def test_a_form_without_data_can_be_saved_and_deleted(browser, asked, studio):
    saved = browser.post("/jobs/new", data={"recipe": "ssd300", "action": "save"})
    job = saved.headers["location"].split("/")[-1]
    assert (studio.jobs.get(job).state, studio.jobs.get(job).spec.data) == ("draft", "")
    assert browser.post(f"/jobs/{job}/delete").status_code == 303
    assert studio.jobs.all() == []


def test_a_draft_starts_behind_what_was_queued_meanwhile(browser, asked, studio):
    body = {"recipe": "ssd300", "data": "voc:shapes"}
    draft = browser.post("/api/v1/jobs", json=body | {"start": False}).json()["id"]
    second = browser.post("/api/v1/jobs", json=body).json()["id"]
    first = browser.post("/api/v1/jobs", json=body | {"priority": 9}).json()["id"]
    assert browser.post(f"/api/v1/jobs/{draft}:start").json()["state"] == "queued"
    assert [each["id"] for each in browser.get("/api/v1/queue").json()["items"]] == [first, second, draft]


def test_a_draft_gives_no_right_to_the_folder_that_it_names(browser, stranger, asked, studio, clock):
    user = add_user(studio.engine, "carla", "trainer", clock).id
    stranger.headers["sec-fetch-site"] = "same-origin"
    stranger.post("/open", data={"ticket": new_ticket(studio.engine, clock, user)})
    body = {"recipe": "ssd300", "data": "voc:/private"}
    draft = stranger.post("/api/v1/jobs", json=body | {"start": False}).json()["id"]
    assert stranger.post(f"/api/v1/jobs/{draft}:start").status_code == 403
    assert stranger.post("/api/v1/jobs", json=body).status_code == 403
    assert studio.jobs.get(draft).state == "draft"
