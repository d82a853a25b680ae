"""When a job whose attempt was lost is started again."""

import pytest

from cvzoo.studio.jobs import retry
from cvzoo.studio.jobs.conductor import Conductor
from cvzoo.studio.jobs.outcomes import End, judge
from cvzoo.studio.jobs.spec import TrainSpec
from cvzoo.studio.jobs.states import MAX_LOST, Facts

SPEC = TrainSpec("ssd300", "voc:shapes")


@pytest.fixture(autouse=True)
def back_off(monkeypatch, without_waiting_for_a_retry):
    monkeypatch.setattr(retry, "BACK_OFF_S", without_waiting_for_a_retry)


@pytest.fixture
def started(monkeypatch):
    """The identifiers of the jobs that were started, without processes."""
    found = []

    def admit(self, job):
        found.append(job.id)
        self._jobs.apply(job, "admit", attempt=job.attempt + 1)

    monkeypatch.setattr(Conductor, "_admit", admit)
    monkeypatch.setattr(Conductor, "_follow", lambda self, job: None)
    return found


def lose(studio, job, n_lost):
    """Loses the attempt that runs, as the conductor does; earlier ones were lost without progress."""
    outcome = judge(End(signal=9), None)
    facts = Facts(signal=9, n_lost=n_lost, lost=outcome.sentence)
    return studio.jobs.apply(studio.jobs.get(job), "exit", facts, n_lost=n_lost + 1, outcome=outcome)


def test_a_job_is_started_again_later_each_time_and_then_not_any_more(studio, clock, started):
    conductor, job = Conductor(studio.jobs, studio.place), studio.jobs.create("mine", SPEC, None).id
    conductor.tick()
    for n_lost, seconds in enumerate((5, 30, 120)):
        lose(studio, job, n_lost)
        conductor.tick()
        clock.now += 1000 * seconds - 1
        conductor.tick()
        assert len(started) == n_lost + 1
        clock.now += 1
        Conductor(studio.jobs, studio.place).tick()  # another server knows when it is time
        assert len(started) == n_lost + 2
        assert studio.jobs.get(job).detail == ""
    found = lose(studio, job, MAX_LOST - 1)
    assert (found.state, found.detail) == (
        "failed",
        "Its process was killed by signal 9. It was the 4th time without progress.",
    )


def test_why_and_until_when_a_job_waits_is_told(studio, clock, started, browser):
    conductor, job = Conductor(studio.jobs, studio.place), studio.jobs.create("mine", SPEC, None).id
    conductor.tick()
    lose(studio, job, 0)
    for _ in range(2):
        conductor.tick()
    found = studio.jobs.get(job)
    reason = "Its process was killed by signal 9. It is started again from its last snapshot at 08:00:05 UTC."
    assert found.detail == f"Waits: {reason}"
    assert retry.retry_at(found) == clock.now + 5000
    rank = found.rank
    conductor.tick()
    assert studio.jobs.get(job).rank == rank  # it is told once
    assert reason in browser.get(f"/jobs/{job}").text


def test_a_job_that_waits_for_its_next_attempt_keeps_its_turn(studio, clock, started):
    conductor, job = Conductor(studio.jobs, studio.place), studio.jobs.create("mine", SPEC, None).id
    second = studio.jobs.create("second", SPEC, None).id
    conductor.tick()
    lose(studio, job, 0)
    conductor.tick()
    assert started == [job]
    clock.now += 5000
    conductor.tick()
    assert started == [job, job]
    lose(studio, job, 1)
    studio.jobs.hold(studio.jobs.get(job), is_held=True)
    conductor.tick()
    assert started == [job, job, second]


def test_who_resumes_a_job_waits_for_nothing(studio, started):
    conductor, job = Conductor(studio.jobs, studio.place), studio.jobs.create("mine", SPEC, None).id
    conductor.tick()
    lose(studio, job, 0)
    for event in ("pause", "resume"):
        studio.jobs.apply(studio.jobs.get(job), event)
    conductor.tick()
    assert started == [job, job]


def test_a_clock_that_was_set_back_delays_no_attempt(studio, clock, started):
    conductor, job = Conductor(studio.jobs, studio.place), studio.jobs.create("mine", SPEC, None).id
    conductor.tick()
    lose(studio, job, 0)
    clock.now -= 3_600_000
    conductor.tick()
    assert started == [job, job]
