"""Random search and successive halving, without trainings."""

import math

import pytest

from cvzoo.training.tuning.search import FAILED, FINISHED, INTERRUPTED, PAUSED, RUNNING, Search, rung_epochs
from cvzoo.training.tuning.search_space import Choices, Range

SPACES = {"lr": Range(0.0, 1.0)}


def run(search, score, *, processes=1):
    """Trains as `processes` at a time would that take equally long; returns (number, epochs) of the jobs in order."""
    jobs, running = [], []
    while True:
        while len(running) < processes and (job := search.next_job()) is not None:
            jobs.append((job.trial.number, job.epochs))
            running.append(job)
        if not running:
            return jobs
        job = running.pop(0)
        search.complete(job.trial, score(job.trial))


@pytest.mark.parametrize(
    ("epochs", "first", "factor", "every", "rungs"),
    [
        (27, 1, 3, 1, (1, 3, 9, 27)),
        (27, 3, 3, 1, (3, 9, 27)),
        (50, 5, 3, 2, (6, 18, 50)),
        (50, 6, 3, 2, (6, 18, 50)),
        (6, 1, 3, 1, (1, 2, 6)),
        (10, 10, 3, 1, (10,)),
        (16, 2, 4, 1, (4, 16)),
        (4, 1, 3, 4, (4,)),
        (10, 1, 3, 1, (2, 4, 10)),
    ],
)
def test_rungs_divide_the_epochs_and_are_validated(epochs, first, factor, every, rungs):
    assert rung_epochs(epochs, first=first, factor=factor, every=every) == rungs


def test_random_search_trains_each_trial_to_its_end():
    search = Search(SPACES, rungs=(5,), n_trial=4)
    assert run(search, lambda trial: trial.settings["lr"]) == [(0, 5), (1, 5), (2, 5), (3, 5)]
    assert {trial.state for trial in search.trials} == {FINISHED}
    assert search.best.settings["lr"] == max(trial.settings["lr"] for trial in search.trials)


@pytest.mark.parametrize("processes", [1, 2, 4])
def test_the_best_third_of_a_rung_is_promoted(processes):
    search = Search(SPACES, rungs=(1, 3, 9), factor=3, n_trial=9)
    jobs = run(search, lambda trial: trial.settings["lr"], processes=processes)
    epochs = [epochs for _, epochs in jobs]
    assert epochs.count(1) == 9
    assert 3 <= epochs.count(3) <= 5  # a trial among the best so far may be overtaken after its promotion
    assert 1 <= epochs.count(9) <= 2
    best = max(search.trials, key=lambda trial: trial.settings["lr"])
    assert search.best is best
    assert (best.state, best.epochs) == (FINISHED, 9)
    assert all(trial.state in (PAUSED, FINISHED) for trial in search.trials)


def test_a_promotion_does_not_wait_for_the_whole_rung():
    search = Search(SPACES, rungs=(1, 3), factor=3, n_trial=None)
    scores = iter([0.1, 0.5, 0.2, 0.9, 0.3])
    order = []
    for _ in range(5):
        job = search.next_job()
        order.append((job.trial.number, job.epochs))
        search.complete(job.trial, next(scores))
    assert order == [(0, 1), (1, 1), (2, 1), (1, 3), (3, 1)]


def test_fewer_trials_than_the_factor_still_reach_the_last_rung():
    search = Search(SPACES, rungs=(1, 3, 9), factor=4, n_trial=2)
    assert [epochs for _, epochs in run(search, lambda trial: trial.settings["lr"])] == [1, 1, 3, 9]


def test_nothing_is_promoted_early_while_a_trial_may_still_arrive():
    search = Search(SPACES, rungs=(1, 3), factor=3, n_trial=2)
    first, second = search.next_job(), search.next_job()
    search.complete(first.trial, 0.5)
    assert search.next_job() is None
    search.complete(second.trial, 0.7)
    assert search.next_job().trial is second.trial


def test_a_failed_trial_is_the_worst_of_its_rung_and_ends_nothing():
    search = Search(SPACES, rungs=(1, 3), factor=3, n_trial=4)
    for score in (math.nan, 0.2, 0.1):
        search.complete(search.next_job().trial, score)
    failed = search.trials[0]
    assert (failed.state, failed.reason) == (FAILED, "no validation gave a score")
    promoted = search.next_job()
    assert (promoted.trial.number, promoted.epochs) == (1, 3)
    search.fail(promoted.trial, "main/loss is nan")
    assert search.next_job().trial.number == 3
    assert search.best is search.trials[1]  # its model of the first rung


def test_a_search_of_a_killed_process_resumes_its_running_trials_first():
    search = Search(SPACES, rungs=(1, 3), n_trial=5, seed=2)
    search.complete(search.next_job().trial, 0.3)
    running, stopped = search.next_job().trial, search.next_job().trial
    search.interrupt(stopped)
    assert (running.state, stopped.state) == (RUNNING, INTERRUPTED)
    again = Search(SPACES, rungs=(1, 3), n_trial=5, seed=2, trials=search.trials)
    assert [again.next_job().trial.number for _ in range(3)] == [1, 2, 3]


def test_settings_of_a_trial_do_not_depend_on_the_order_of_the_others():
    one, other = (Search(SPACES, rungs=(1, 3), n_trial=6, seed=5) for _ in range(2))
    run(one, lambda trial: trial.settings["lr"])
    run(other, lambda trial: -trial.settings["lr"], processes=3)
    assert [trial.settings for trial in one.trials] == [trial.settings for trial in other.trials]


def test_a_search_ends_when_all_combinations_are_tried():
    search = Search({"depth": Choices((1, 2)), "flip": Choices((True, False))}, rungs=(2,), n_trial=None)
    assert len(run(search, lambda trial: trial.settings["depth"])) == 4


def test_the_first_of_equal_trials_is_the_best():
    search = Search(SPACES, rungs=(1,), n_trial=3)
    run(search, lambda trial: 0.5)
    assert search.best.number == 0
