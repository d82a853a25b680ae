"""Trainings that may hang: those without a sign of life."""

import os

import pytest

from cvzoo.studio.jobs.conductor import attempt_folder
from cvzoo.studio.jobs.run_record import longest_gap
from cvzoo.studio.jobs.spec import TrainSpec
from cvzoo.studio.worker.attempt import LOG
from cvzoo.training.run.run_status import folder_lock

MINUTE_MS = 60_000


def touch(folder, ms):
    """All files of the folder were changed then."""
    for path in folder.rglob("*"):
        os.utime(path, ns=(ms * 1_000_000, ms * 1_000_000))


@pytest.fixture
def training(watched, write_run, clock):
    """A run with a process, whose files have just been written."""
    folder = write_run(watched / "third", state="running")
    touch(folder, clock.now)
    with folder_lock(folder):
        yield folder


def of(studio, name):
    return next(each for each in studio.runs.records() if each.name == name)


@pytest.mark.parametrize(("minutes", "is_silent"), [(0, False), (9, False), (11, True)])
def test_a_run_without_a_sign_of_life_for_ten_minutes_may_hang(studio, browser, training, clock, minutes, is_silent):
    last = clock.now
    clock.now += minutes * MINUTE_MS
    found = of(studio, "third")
    assert (found.state, found.silent_since) == ("running", last if is_silent else None)
    assert studio.runs.record(found.id) == found
    assert browser.get(f"/api/v1/jobs/{found.id}").json()["silent_since"] == found.silent_since
    page = browser.get(f"/jobs/{found.id}/facts").text
    when = f'<time class="when" data-ms="{last}">2027-01-15 08:00 UTC</time>'
    assert (f"No sign of life since {when}: it may hang" in page) == is_silent
    assert ("--resume" in page) == is_silent


def test_a_run_whose_validations_take_long_is_waited_for(studio, training, clock):
    rows = "".join(f'{{"iteration": {i}, "elapsed_time": {400 * i}}}\n' for i in range(1, 5))
    (training / "live.jsonl").write_text(rows)
    touch(training, clock.now)
    clock.now += 19 * MINUTE_MS
    assert of(studio, "third").silent_since is None
    clock.now += 2 * MINUTE_MS
    assert of(studio, "third").silent_since is not None


def test_a_row_ends_the_silence(studio, training, clock):
    clock.now += 60 * MINUTE_MS
    assert of(studio, "third").silent_since is not None
    touch(training, clock.now)
    assert of(studio, "third").silent_since is None


def test_a_run_that_ended_is_not_silent(studio, clock):
    clock.now += 10**10
    assert [each.silent_since for each in studio.runs.records()] == [None, None]


def test_the_output_of_a_job_is_a_sign_of_life(studio, browser, clock):
    job = studio.jobs.create("mine", TrainSpec("ssd300", "voc:shapes"), None)
    job = studio.jobs.apply(job, "admit", attempt=1)
    clock.now += 11 * MINUTE_MS
    assert of(studio, "mine").silent_since is not None
    page = browser.get(f"/jobs/{job.id}/facts").text
    assert "kill it at once and resume it" in page
    folder = attempt_folder(studio.place.run(job.id), 1)
    folder.mkdir(parents=True)
    (folder / LOG).write_text("downloading")
    touch(folder, clock.now)
    assert of(studio, "mine").silent_since is None


def test_a_queued_job_is_not_silent(studio, clock):
    studio.jobs.create("mine", TrainSpec("ssd300", "voc:shapes"), None)
    clock.now += 60 * MINUTE_MS
    assert of(studio, "mine").silent_since is None


def test_the_longest_gap_is_of_known_times():
    rows = [{"iteration": 1, "elapsed_time": 2.0}, {"iteration": 2}, {"iteration": 3, "elapsed_time": 9.5}]
    assert longest_gap(rows) == 7.5
    assert longest_gap([]) == 0.0
