"""Snapshots: what there is, and that a kept one stays when the training removes its own."""

import json

import pytest

from cvzoo.studio.access.tickets import new_ticket
from cvzoo.studio.access.users import add_user
from cvzoo.studio.jobs import rows
from cvzoo.studio.jobs import snapshots as snapshots_module
from cvzoo.studio.jobs.copies import copy_run
from cvzoo.studio.jobs.spec import TrainSpec
from cvzoo.studio.jobs.use import Use


@pytest.fixture
def job(studio, write_run, tmp_path):
    """A training with snapshots of iterations 5 and 8; the log has the epochs of 2, 5 and 8."""
    job = studio.jobs.create("mine", TrainSpec("ssd300", "voc:shapes"), None).id
    run = studio.place.run(job)
    write_run(tmp_path / "trained")
    for path in (tmp_path / "trained").iterdir():
        path.rename(run / path.name)
    (run / "snapshot_iter_5.npz").write_bytes(b"older")
    return job


@pytest.fixture
def ask(browser, job):
    """Keeps a snapshot of the job or not; returns the answer."""

    def ask(iteration, kept):
        return browser.patch(f"/api/v1/jobs/{job}/snapshots/{iteration}", json={"kept": kept})

    return ask


def test_snapshots_are_listed_with_their_scores(browser, job):
    first, second = browser.get(f"/api/v1/jobs/{job}/snapshots").json()["items"]
    assert first == {"iteration": 5, "name": "snapshot_iter_5.npz", "size": 5, "epoch": 2, "kept": "best"} | {
        "scores": {"main/loss": 2.0, "validation/main/map": 0.6}
    }
    assert (second["iteration"], second["epoch"], second["kept"]) == (8, 3, "policy")


def test_a_page_reads_the_log_once(browser, job, monkeypatch):
    browser.get(f"/jobs/{job}")  # which reads what the list of jobs keeps
    read, real = [], rows.parts_of
    monkeypatch.setattr(rows, "parts_of", lambda path, *n_byte: read.append(path.name) or real(path, *n_byte))
    for path in ("", "/facts", "/tables"):
        assert browser.get(f"/jobs/{job}{path}").status_code == 200
        assert read.count("metrics.jsonl") == 1, path
        read.clear()


def test_a_kept_snapshot_stays_when_the_training_removes_its_own(browser, studio, job, ask):
    run = studio.place.run(job)
    for _ in range(2):
        assert ask(5, True).json()["kept"] == "person"
    (run / "snapshot_iter_5.npz").unlink()  # as the training does
    first, _ = browser.get(f"/api/v1/jobs/{job}/snapshots").json()["items"]
    assert (first["name"], first["kept"]) == ("kept/snapshot_iter_5.npz", "person")
    assert browser.get(f"/api/v1/jobs/{job}/files/{first['name']}").content == b"older"
    assert {"name": first["name"], "bytes": 5} in browser.get(f"/api/v1/jobs/{job}").json()["files"]
    for _ in range(2):
        assert ask(5, False).json() == {"iteration": 5, "kept": None}
    assert [each["iteration"] for each in browser.get(f"/api/v1/jobs/{job}/snapshots").json()["items"]] == [8]
    actions = [each["action"] for each in browser.get("/api/v1/audit").json()["items"]]
    assert actions.count("job.snapshot") == 4


def test_a_button_of_the_page_keeps_a_snapshot(browser, job):
    page = browser.get(f"/jobs/{job}").text
    assert "Keep the snapshot of iteration 8" in page
    answer = browser.post(f"/jobs/{job}/snapshots/8", data={"kept": "true"})
    assert (answer.status_code, answer.headers["location"]) == (303, f"/jobs/{job}#h-snapshots")
    assert "Keep no longer the snapshot of iteration 8" in browser.get(f"/jobs/{job}/tables").text


def test_a_kept_snapshot_counts_once_and_is_not_one_of_the_copies_of_a_run(studio, job, ask, tmp_path, clock):
    user = add_user(studio.engine, "carla", "trainer", clock).id
    mine = studio.jobs.create("hers", TrainSpec("ssd300", "voc:shapes"), user).id
    run = studio.place.run(mine)
    (run / "snapshot_iter_5.npz").write_bytes(b"x" * 10_000)
    before = Use(studio.engine, studio.jobs, studio.place).n_byte(user)
    snapshots_module.keep(run, 5)
    assert Use(studio.engine, studio.jobs, studio.place).n_byte(user) == before
    (run / "snapshot_iter_5.npz").unlink()
    assert Use(studio.engine, studio.jobs, studio.place).n_byte(user) == before
    ask(8, True)
    copy_run(studio.place.run(job), tmp_path / "copy")
    assert not (tmp_path / "copy" / "kept").exists()


def test_what_there_is_not_is_not_kept(browser, studio, job, ask, run_id):
    assert ask(6, True).status_code == 404
    assert browser.patch(f"/api/v1/jobs/{run_id}/snapshots/8", json={"kept": True}).status_code == 404  # only shown
    assert browser.patch(f"/api/v1/jobs/{job}/snapshots/-1", json={"kept": True}).status_code == 422
    assert browser.get(f"/api/v1/jobs/{run_id}/snapshots").json()["items"][0]["iteration"] == 8


def test_links_of_a_job_lead_nowhere(studio, job, ask, tmp_path):
    run, outside = studio.place.run(job), tmp_path / "outside"
    outside.mkdir()
    (outside / "snapshot_iter_8.npz").write_bytes(b"of others")
    (run / "kept").symlink_to(outside)
    for kept in (True, False):
        assert ask(8, kept).status_code == 404
    assert (outside / "snapshot_iter_8.npz").read_bytes() == b"of others"
    (run / "kept").unlink()
    (run / "snapshot_iter_3.npz").symlink_to(outside / "snapshot_iter_8.npz")
    assert ask(3, True).status_code == 404
    assert list((run / "kept").iterdir()) == []


def test_only_its_creator_keeps_a_snapshot(stranger, studio, job, clock):
    user = add_user(studio.engine, "carla", "trainer", clock).id
    stranger.headers["sec-fetch-site"] = "same-origin"
    stranger.post("/open", data={"ticket": new_ticket(studio.engine, clock, user)})
    assert stranger.patch(f"/api/v1/jobs/{job}/snapshots/8", json={"kept": True}).status_code == 403


def test_a_malformed_log_spoils_no_list(browser, studio, job):
    row = {"iteration": [8], "validation/main/map": {"a": 1}}
    (studio.place.run(job) / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    items = browser.get(f"/api/v1/jobs/{job}/snapshots").json()["items"]
    assert [each["scores"] for each in items] == [{}, {}]
