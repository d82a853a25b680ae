"""Jobs made of ended ones, what is said of jobs, and the trash."""

import json
import os

import pytest

from cvzoo.studio.access.tickets import new_ticket
from cvzoo.studio.access.users import add_user
from cvzoo.studio.jobs import copies, recipe_helper
from cvzoo.studio.jobs.job import Jobs
from cvzoo.studio.jobs.outcomes import End, judge
from cvzoo.studio.jobs.spec import EvaluateSpec, TrainSpec
from cvzoo.studio.jobs.states import Facts
from cvzoo.studio.trash import KEPT_MS

SPEC = TrainSpec("ssd300", "voc:shapes", (("lr", "0.1"), ("epochs", "4")))
FIELDS = [
    {"name": name, "help": "", "unit": "", "group": "optimizer", "default": value, "expected": ""}
    for name, value in (("lr", "0.001"), ("epochs", "9"))
]
RECIPE = {"name": "ssd300", "task": "detection", "summary": "SSD", "fields": FIELDS}


@pytest.fixture(autouse=True)
def asked(monkeypatch, studio):
    """What the recipes' helper was asked, which finds data that are not shapes wrong."""
    found = []

    def ask(question):
        found.append(question)
        wrong = {} if question.get("data") in (None, "voc:shapes") else {"data": "there is no such folder"}
        return {"recipes": [RECIPE], "fields": wrong}

    monkeypatch.setattr(recipe_helper, "_ask", ask)
    monkeypatch.setattr(studio.models.zoo, "members", list)
    recipe_helper._listing.cache_clear()
    yield found
    recipe_helper._listing.cache_clear()


def trained(write_run, run, **more):
    """The files of a training, with whole fingerprints of its data."""
    write_run(run, **more)
    part = {"n_example": 10, "label_names": ["cat", "dog"], "keys": ["img"], "files": {}, "content": {"1": "a" * 64}}
    (run / "data.json").write_text(json.dumps({"train": part, "val": part}))


def ended(studio, write_run, spec=SPEC, *, code=0, user=None, name="mine"):
    """A job that has ended, with the files of a training."""
    job = studio.jobs.create(name, spec, user)
    run = studio.place.run(job.id)
    kept = (run / "job.json").read_bytes()
    (run / "job.json").unlink()
    run.rmdir()
    trained(write_run, run)
    (run / "job.json").write_bytes(kept)
    (run / "attempts" / "1").mkdir(parents=True)
    (run / "attempts" / "1" / "log.txt").write_text("trained")
    for event in ("admit", "begin", "exit"):
        facts = Facts(code=code, has_result=not code)
        studio.jobs.apply(studio.jobs.get(job.id), event, facts, attempt=1 if event == "admit" else None)
    return job.id


@pytest.fixture
def origin(studio, write_run):
    return ended(studio, write_run)


def test_a_clone_differs_in_what_is_named(browser, studio, origin):
    answer = browser.post(f"/api/v1/jobs/{origin}:clone", json={"settings": {"lr": "0.05"}})
    assert answer.status_code == 201
    job = studio.jobs.get(answer.json()["id"])
    assert job.spec == TrainSpec("ssd300", "voc:shapes", (("lr", "0.05"), ("epochs", "4")))
    assert (job.parent, job.relation, job.name, job.state) == (origin, "clone", "mine again", "queued")
    assert job.spec.differences(SPEC) == [("lr", "0.1", "0.05")]
    page = browser.get(f"/jobs/{job.id}").text
    assert f'Cloned from <a href="/jobs/{origin}">mine</a>' in page
    assert "0.05 here, 0.1 there" in page
    wrong = browser.post(f"/api/v1/jobs/{origin}:clone", json={"data": "voc:nowhere"})
    assert wrong.json()["fields"] == {"data": "there is no such folder"}


def test_the_form_of_a_clone_says_what_differs(browser, studio, origin):
    page = browser.get(f"/jobs/new?clone={origin}").text
    assert "A clone of" in page
    assert "without a difference yet" in page
    assert 'name="set:lr" value="0.1"' in page
    form = {"recipe": "ssd300", "data": "voc:nowhere", "clone": origin, "set:lr": "0.2", "set:epochs": "4"}
    refused = browser.post("/jobs/new", data=form)
    assert refused.status_code == 422
    assert "<code>data</code>: voc:nowhere here, voc:shapes there" in refused.text
    assert "<code>lr</code>: 0.2 here, 0.1 there" in refused.text
    assert "was 0.1" in refused.text
    made = browser.post("/jobs/new", data=form | {"data": "voc:shapes"}).headers["location"].split("/")[-1]
    job = studio.jobs.get(made)
    assert (job.parent, job.relation) == (origin, "clone")
    assert job.spec.differences(SPEC) == [("lr", "0.1", "0.2")]
    assert json.loads((studio.place.run(made) / "job.json").read_text())["parent"] == origin


@pytest.mark.parametrize("is_same", [True, False])
def test_a_rerun_tells_whether_it_has_the_same_bits(browser, studio, write_run, origin, is_same):
    job = browser.post(f"/api/v1/jobs/{origin}:rerun", json={}).json()["id"]
    assert studio.jobs.get(job).spec == SPEC
    assert browser.get(f"/api/v1/jobs/{job}").json()["repetition"] is None  # it has not finished
    run = studio.place.run(job)
    (run / "job.json").unlink()
    run.rmdir()
    trained(write_run, run, best=(0.2, 0.6, 0.5) if is_same else (0.2, 0.6, 0.4))
    for event in ("admit", "begin", "exit"):
        studio.jobs.apply(studio.jobs.get(job), event, Facts(code=0, has_result=True))
    found = browser.get(f"/api/v1/jobs/{job}").json()["repetition"]  # by the real `cvzoo rerun --compare`
    assert found["is_same"] is is_same
    assert ("0.5 was, 0.4 is" in found["text"]) is not is_same
    page = browser.get(f"/jobs/{job}").text
    assert "A rerun of" in page
    assert ("The same to the bit" in page) is is_same
    assert ("What differs" in page) is not is_same


def test_a_rerun_that_cannot_be_compared_says_nothing_of_its_bits(browser, studio, origin):
    job = browser.post(f"/api/v1/jobs/{origin}:rerun", json={}).json()["id"]
    for event in ("admit", "begin", "exit"):
        studio.jobs.apply(studio.jobs.get(job), event, Facts(code=0, has_result=True))
    (studio.place.run(origin) / "data.json").write_text('{"train": {}}')
    (studio.place.run(job) / "data.json").write_text('{"train": {}}')
    (studio.place.run(job) / "config.json").write_text("{}")
    assert browser.get(f"/api/v1/jobs/{job}").json()["repetition"] is None
    assert "The same to the bit" not in browser.get(f"/jobs/{job}").text


def test_only_what_succeeded_is_repeated(browser, studio, write_run):
    failed = ended(studio, write_run, code=1)
    assert browser.post(f"/api/v1/jobs/{failed}:rerun", json={}).status_code == 409
    assert browser.post("/api/v1/jobs/jb_" + "a" * 16 + ":rerun", json={}).status_code == 404
    evaluation = studio.jobs.create("e", EvaluateSpec("/m", "x", "", "voc:shapes"), None)
    assert browser.post(f"/api/v1/jobs/{evaluation.id}:rerun", json={}).status_code == 409


def test_a_training_is_extended_from_a_copy(browser, studio, origin):
    answer = browser.post(f"/jobs/{origin}/extend", data={"epochs": "3"})
    job = studio.jobs.get(answer.headers["location"].split("/")[-1])
    assert job.spec == TrainSpec("ssd300", "voc:shapes", (("lr", "0.1"), ("epochs", "7")), continues=origin)
    assert (job.parent, job.relation, job.name) == (origin, "extend", "mine, 7 epochs")
    run, before = studio.place.run(job.id), studio.place.run(origin)
    assert job.spec.words(run) == ["train", "--resume", str(run), "lr=0.1", "epochs=7"]
    for name in ("metrics.jsonl", "snapshot_iter_8.npz", "config.json", "images/predictions.jpg"):
        assert (run / name).read_bytes() == (before / name).read_bytes()
    with open(run / "metrics.jsonl", "a") as file:
        file.write("{}\n")
    assert not (before / "metrics.jsonl").read_text().endswith("{}\n")
    assert os.path.samefile(run / "snapshot_iter_8.npz", before / "snapshot_iter_8.npz")
    assert not (run / "attempts").exists()
    assert json.loads((run / "job.json").read_text())["continues"] == origin


def test_what_has_no_snapshot_or_has_not_ended_is_not_extended(browser, studio, origin):
    waits = studio.jobs.create("waits", SPEC, None).id
    (studio.place.run(origin) / "snapshot_iter_8.npz").unlink()
    for job in (waits, origin):
        assert browser.post(f"/api/v1/jobs/{job}:extend", json={"epochs": 1}).status_code == 409
    assert browser.post(f"/api/v1/jobs/{origin}:extend", json={"epochs": 0}).status_code == 422


def test_a_copy_follows_no_link_and_a_broken_one_leaves_nothing(studio, browser, origin, tmp_path, monkeypatch):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (studio.place.run(origin) / "environment.json").symlink_to(secret)
    job = browser.post(f"/api/v1/jobs/{origin}:extend", json={"epochs": 1}).json()["id"]
    assert not (studio.place.run(job) / "environment.json").exists()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(copies.shutil, "copyfileobj", full)
    before = sorted(studio.place.runs.iterdir())
    assert browser.post(f"/api/v1/jobs/{origin}:extend", json={"epochs": 2}).status_code == 507
    assert sorted(studio.place.runs.iterdir()) == before


def test_a_job_has_another_name_notes_and_tags(browser, studio, origin):
    etag = browser.get(f"/api/v1/jobs/{origin}").headers["etag"]
    body = {"name": "the best", "notes": "with <b>more</b> data", "tags": ["Paper", " Paper ", "x y"]}
    answer = browser.patch(f"/api/v1/jobs/{origin}", json=body, headers={"if-match": etag})
    assert answer.status_code == 200
    assert (answer.json()["name"], answer.json()["tags"]) == ("the best", ["Paper", "x y"])
    assert browser.patch(f"/api/v1/jobs/{origin}", json=body, headers={"if-match": etag}).status_code == 412
    assert browser.patch(f"/api/v1/jobs/{origin}", json={"notes": "n"}).json()["name"] == "the best"
    assert browser.get(f"/api/v1/jobs/{origin}").json()["notes"] == "n"
    page = browser.get(f"/jobs/{origin}").text
    assert '<a class="badge" href="/jobs?text=x%20y">x y</a>' in page
    assert [each["id"] for each in browser.get("/api/v1/jobs?text=paper").json()["items"]] == [origin]
    assert browser.get("/api/v1/jobs?text=papers").json()["items"] == []
    form = {"name": "again", "notes": "<script>", "tags": "a, b,"}
    assert browser.post(f"/jobs/{origin}/about", data=form).status_code == 303
    assert studio.jobs.get(origin).tags == ("a", "b")
    assert "&lt;script&gt;" in browser.get(f"/jobs/{origin}").text


def test_of_two_tabs_that_edit_notes_of_a_job_the_second_sees_both_texts(browser, studio, origin):
    seen = browser.get(f"/jobs/{origin}").text.partition('name="seen" value="')[2].partition('"')[0]
    form = {"name": "mine", "tags": "a", "seen": seen}
    assert browser.post(f"/jobs/{origin}/about", data=form | {"notes": "first"}).status_code == 303
    browser.patch(f"/api/v1/jobs/{origin}", json={"priority": 4})  # another rank, which the form does not show
    answer = browser.post(f"/jobs/{origin}/about", data=form | {"notes": "second"})
    assert answer.status_code == 412
    assert ">second</textarea>" in answer.text
    assert '<dd class="notes">first</dd>' in answer.text
    assert studio.jobs.get(origin).notes == "first"
    other = answer.text.partition('name="seen" value="')[2].partition('"')[0]
    browser.patch(f"/api/v1/jobs/{origin}", json={"priority": 3})
    assert browser.post(f"/jobs/{origin}/about", data=form | {"notes": "both", "seen": other}).status_code == 303
    assert studio.jobs.get(origin).notes == "both"


@pytest.mark.parametrize("wrong", [{"name": "x" * 121}, {"tags": "x" * 41}, {"notes": "x" * 10_001}, {"name": "a\x00"}])
def test_a_refused_form_of_a_job_has_what_was_typed(browser, origin, wrong):
    answer = browser.post(f"/jobs/{origin}/about", data={"name": "mine", "notes": "long work", "tags": "t"} | wrong)
    assert answer.status_code == 422
    assert ' class="error" role="alert">' in answer.text
    assert ("long work</textarea>" in answer.text) == ("notes" not in wrong)


@pytest.mark.parametrize("body", [{"name": "a\nb"}, {"tags": ["x" * 41]}, {"tags": ["x"] * 21}, {"notes": "x" * 10001}])
def test_what_cannot_be_said_is_refused(browser, studio, origin, body):
    assert browser.patch(f"/api/v1/jobs/{origin}", json=body).status_code == 422
    assert studio.jobs.get(origin).name == "mine"


def test_a_deleted_job_is_restored_from_the_trash(browser, studio, origin, clock):
    assert browser.post(f"/jobs/{origin}/delete").headers["location"] == "/trash"
    for path in (f"/api/v1/jobs/{origin}", f"/jobs/{origin}", f"/api/v1/models/{origin}"):
        assert browser.get(path).status_code == 404
    assert origin not in [each["id"] for each in browser.get("/api/v1/jobs").json()["items"]]
    (row,) = browser.get("/api/v1/trash").json()["items"]
    assert (row["id"], row["kind"], row["name"]) == (origin, "training", "mine")
    assert row["kept_until"] == clock.now + KEPT_MS
    assert "Restore mine" in browser.get("/trash").text
    assert browser.post(f"/api/v1/jobs/{origin}:rerun", json={}).status_code == 404
    assert browser.post(f"/trash/{origin}", data={"action": "restore"}).headers["location"] == f"/jobs/{origin}"
    assert browser.get(f"/api/v1/jobs/{origin}").json()["state"] == "succeeded"
    assert browser.get(f"/api/v1/models/{origin}").status_code == 200
    assert browser.get("/api/v1/trash").json()["items"] == []
    assert browser.post(f"/api/v1/trash/{origin}:restore").status_code == 404


def test_after_30_days_and_on_request_it_is_gone(browser, studio, origin, write_run, clock):
    second = ended(studio, write_run, name="second")
    for job in (origin, second):
        assert browser.delete(f"/api/v1/jobs/{job}").status_code == 204
        clock.now += 1000
    assert browser.delete(f"/api/v1/trash/{second}").status_code == 204
    assert not studio.place.run(second).exists()
    clock.now += KEPT_MS - 3000
    studio.trash.tick()
    assert studio.place.run(origin).exists()
    clock.now += 2000
    studio.trash.tick()
    assert not studio.place.run(origin).exists()
    assert list(studio.place.runs.iterdir()) == []
    assert studio.jobs.reindex() == 0


def test_a_server_that_was_killed_while_it_deleted_goes_on(browser, studio, origin, monkeypatch):
    browser.delete(f"/api/v1/jobs/{origin}")

    def killed(*_, **__):
        raise OSError("killed")

    with monkeypatch.context() as patched:
        patched.setattr("cvzoo.studio.jobs.job.shutil.rmtree", killed)
        with pytest.raises(OSError, match="killed"):
            studio.trash.purge(origin)
    assert studio.trash.restore(origin) is False
    studio.trash.purge(origin)
    assert list(studio.place.runs.iterdir()) == []
    assert studio.trash.items() == []


def test_what_runs_or_is_used_is_not_deleted(browser, studio, origin):
    waits = studio.jobs.create("waits", SPEC, None).id
    assert "stop it first" in browser.delete(f"/api/v1/jobs/{waits}").json()["try"]
    studio.jobs.create("an evaluation", EvaluateSpec("/m", origin, "", "voc:shapes"), None)
    refused = browser.delete(f"/api/v1/jobs/{origin}")
    assert (refused.status_code, refused.json()["detail"]) == (409, "the job is used by an evaluation")


def test_who_did_not_create_a_job_neither_deletes_nor_restores_it(browser, stranger, studio, clock, write_run, origin):
    user = add_user(studio.engine, "carla", "trainer", clock).id
    hers = ended(studio, write_run, user=user, name="hers")
    stranger.headers["sec-fetch-site"] = "same-origin"
    stranger.post("/open", data={"ticket": new_ticket(studio.engine, clock, user)})
    assert stranger.delete(f"/api/v1/jobs/{origin}").status_code == 403
    assert stranger.patch(f"/api/v1/jobs/{origin}", json={"name": "x"}).status_code == 403
    assert stranger.delete(f"/api/v1/jobs/{hers}").status_code == 204
    browser.delete(f"/api/v1/jobs/{origin}")
    page = stranger.get("/trash").text
    assert "Restore hers" in page
    assert "Restore mine" not in page
    assert stranger.post(f"/api/v1/trash/{origin}:restore").status_code == 403
    assert stranger.delete(f"/api/v1/trash/{origin}").status_code == 403
    assert stranger.post(f"/trash/{hers}", data={"action": "restore"}).status_code == 303


def test_a_database_that_is_built_again_knows_names_tags_and_the_trash(browser, studio, origin, write_run):
    from cvzoo.studio.database.migrate import ready_database

    second = browser.post(f"/api/v1/jobs/{origin}:clone", json={}).json()["id"]
    browser.patch(f"/api/v1/jobs/{second}", json={"name": "named", "notes": "n", "tags": ["t"]})
    browser.delete(f"/api/v1/jobs/{origin}")
    studio.engine.dispose()
    for path in studio.place.home.glob("studio.db*"):
        path.unlink()
    engine = ready_database(studio.place)
    jobs = Jobs(engine, studio.place, studio.clock)
    assert jobs.reindex() == 2
    (job,), (gone,) = jobs.all(), jobs.trashed()
    engine.dispose()
    assert (job.id, job.name, job.notes, job.tags) == (second, "named", "n", ("t",))
    assert (job.parent, job.relation, gone.id) == (origin, "clone", origin)


NAN = "cvzoo train: error: iteration 12 of training has NaN or infinite values:\n  first: Exp of /a\n"


def failed(studio, write_run, **end):
    """A job that has failed, whose outcome is judged."""
    job = ended(studio, write_run, code=1)
    settings = {"lr": 0.1, "batch_size": 4}
    outcome = judge(End(settings=settings, has_snapshot=True, **end), judge(End(signal=9, out_of_memory=True), None))
    for event in ("retry", "admit", "begin", "exit"):
        last = outcome if event == "exit" else None
        studio.jobs.apply(studio.jobs.get(job), event, Facts(code=1, reason=outcome.sentence), outcome=last)
    return job


def test_after_values_that_are_no_numbers_it_resumes_with_half_of_the_learning_rate(browser, studio, write_run):
    job = failed(studio, write_run, code=2, text=NAN)
    tree = browser.get(f"/api/v1/jobs/{job}").json()["outcome"]
    assert (tree["word"], tree["changes"], tree["is_resumed"]) == ("non-number", {"lr": "0.05"}, True)
    page = browser.get(f"/jobs/{job}").text
    assert "Retry from the last snapshot with lr 0.05" in page
    assert "<b>non-number</b>" in page
    assert "Try: resume from the last snapshot" in browser.get("/").text
    made = studio.jobs.get(browser.post(f"/jobs/{job}/remedy").headers["location"].split("/")[-1])
    assert (made.parent, made.relation, made.spec.continues) == (job, "remedy", job)
    run = studio.place.run(made.id)
    assert made.spec.words(run) == ["train", "--resume", str(run), "lr=0.05", "epochs=4"]


def test_without_memory_it_trains_with_half_of_the_batch(browser, studio, write_run):
    job = failed(studio, write_run, signal=9, out_of_memory=True, peak=3_000_000_000)
    page = browser.get(f"/jobs/{job}").text
    assert "Train again with batch_size 2" in page
    assert "at most 3 GB in RAM" in page
    made = studio.jobs.get(browser.post(f"/api/v1/jobs/{job}:remedy", json={}).json()["id"])
    assert (made.spec.continues, dict(made.spec.settings)["batch_size"]) == ("", "2")
    assert not (studio.place.run(made.id) / "config.json").exists()


def test_what_proposes_nothing_has_no_remedy(browser, studio, write_run, origin):
    killed = failed(studio, write_run, signal=11)
    for job in (origin, killed):
        assert browser.post(f"/api/v1/jobs/{job}:remedy", json={}).status_code == 409
    assert "/remedy" not in browser.get(f"/jobs/{killed}").text


def test_what_a_job_used_is_drawn(browser, studio, origin):
    rows = [{"elapsed_time": 2.0 * i, "cpu": 1.5, "memory": 10 + i, "read": 0, "written": 5} for i in range(100)]
    text = "".join(json.dumps(row) + "\n" for row in [*rows, {"cpu": "x"}, {}])
    (studio.place.run(origin) / "attempts" / "1" / "usage.jsonl").write_text(text)
    series = browser.get(f"/api/v1/jobs/{origin}/usage?points=10").json()["series"]
    assert [each["key"] for each in series] == ["cpu", "memory", "read", "written"]
    assert all(len(each["value"]) == len(each["elapsed_time"]) == 10 for each in series)
    assert series[1]["value"][-1] == 109
