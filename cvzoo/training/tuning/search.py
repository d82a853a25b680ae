"""Scheduling of trials: random search and asynchronous successive halving."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.training.tuning.search_space import Space, draw_settings, n_combination

RUNNING, INTERRUPTED = "running", "interrupted"
PAUSED, FINISHED, FAILED = "paused", "finished", "failed"


@dataclasses.dataclass
class Trial:
    """One training with settings from the search space.

    settings: the drawn ones, by name
    state: running, interrupted (in the middle of a rung), paused (at the end of a rung),
        finished (all epochs) or failed
    scores: the best score so far at the end of each completed rung
    epochs: of training so far, at the end of the last completed rung; seconds: of training so far
    reason: why it failed, or ended early
    """

    number: int
    settings: dict[str, Any]
    state: str = RUNNING
    scores: list[float] = dataclasses.field(default_factory=list)
    epochs: float = 0
    seconds: float = 0.0
    reason: str = ""

    @property
    def n_rung(self) -> int:
        """The number of completed rungs."""
        return len(self.scores)

    @property
    def score(self) -> float:
        """The best score so far; NaN before the first rung."""
        return self.scores[-1] if self.scores else math.nan


class Job(NamedTuple):
    """A part of a trial's training: until its epochs reach those of a rung."""

    trial: Trial
    epochs: int


def rung_epochs(epochs: int, *, first: int, factor: int, every: int = 1) -> tuple[int, ...]:
    """The epochs at which rungs end: the full number, and it divided by `factor` repeatedly, down to `first`.

    every: epochs between validations, of which all but the last are multiples
    Raises ValueRangeError unless `factor` is at least 2.
    """
    if factor < 2:
        raise ValueRangeError("factor must be at least 2", got=factor)
    rungs = [epochs]
    length = epochs / factor
    while length >= first - 0.5:  # a rung is rounded up
        rung = math.ceil(length / every) * every
        if rung < rungs[0]:
            rungs.insert(0, rung)
        length /= factor
    return tuple(rungs)


class Search:
    """The trials of a search, and which one is trained next; processes are up to the caller.

    >>> search = Search(spaces, rungs=(3, 9, 27), factor=3, n_trial=20, seed=0)
    >>> while (job := search.next_job()) is not None:
    ...     score = train(job.trial.settings, until=job.epochs)
    ...     search.complete(job.trial, score)

    spaces: search spaces by the settings' names
    rungs: epochs at which trials are compared, ascending; one: random search
    factor: the best 1 / factor of a rung's trials are promoted to the next one
    n_trial: the number of trials; None: no limit
    trials: already made, of a search that is resumed

    A trial is promoted as soon as it is among the best of its rung so far; otherwise a new one begins. Settings of a
    trial depend on the seed and its number only. Failed trials count as the worst of their rung. If no more trials can
    arrive at a rung, its best one is promoted even if there are fewer than `factor`.
    Source: "A System for Massively Parallel Hyperparameter Tuning" (ASHA), Li et al., 2020; "Hyperband: A Novel
    Bandit-Based Approach to Hyperparameter Optimization", Li et al., 2018. Where we differ: the last sentence above.
    """

    def __init__(
        self,
        spaces: Mapping[str, Space],
        *,
        rungs: Sequence[int],
        factor: int = 3,
        n_trial: int | None = None,
        seed: int = 0,
        trials: Sequence[Trial] = (),
    ):
        self.spaces = dict(spaces)
        self.rungs = tuple(rungs)
        self.factor = factor
        self.n_trial = n_trial
        self.seed = seed
        self.trials = list(trials)
        for trial in self.trials:
            if trial.state == RUNNING:  # of a killed process
                trial.state = INTERRUPTED

    def next_job(self) -> Job | None:
        """The next training, whose trial is marked as running; None if there is none, perhaps until another ends."""
        trial = self._interrupted() or self._promoted() or self._drawn() or self._last_promoted()
        if trial is None:
            return None
        trial.state = RUNNING
        return Job(trial, self.rungs[trial.n_rung])

    def complete(self, trial: Trial, score: float, *, epochs: float | None = None, reason: str = "") -> None:
        """Notes the best score so far of a trial that has reached the end of its rung; NaN is a failure.

        epochs: of training, if different from the rung's; reason: why it ended before them, such as early stopping
        """
        if math.isnan(score):
            self.fail(trial, reason or "no validation gave a score")
            return
        trial.scores.append(float(score))
        trial.epochs = self.rungs[trial.n_rung - 1] if epochs is None else epochs
        trial.reason = reason
        trial.state = FINISHED if trial.n_rung == len(self.rungs) else PAUSED

    def fail(self, trial: Trial, reason: str) -> None:
        """Notes that a trial's training ended with an error."""
        trial.state, trial.reason = FAILED, reason

    def interrupt(self, trial: Trial) -> None:
        """Notes that a trial was stopped in the middle of its rung; it is resumed before others."""
        trial.state = INTERRUPTED

    @property
    def best(self) -> Trial | None:
        """The trial with the highest score, at whatever rung; None before the first score."""
        scored = [trial for trial in self.trials if trial.scores]
        return max(scored, key=lambda trial: (trial.score, -trial.number)) if scored else None

    def _interrupted(self) -> Trial | None:
        return next((trial for trial in self.trials if trial.state == INTERRUPTED), None)

    def _promoted(self) -> Trial | None:
        for rung in reversed(range(len(self.rungs) - 1)):
            trial = self._best_paused(rung, at_least=0)
            if trial is not None:
                return trial
        return None

    def _drawn(self) -> Trial | None:
        n = len(self.trials)
        most = [each for each in (self.n_trial, n_combination(self.spaces)) if each is not None]
        if most and n >= min(most):
            return None
        seen = [trial.settings for trial in self.trials]
        trial = Trial(n, draw_settings(self.spaces, seed=self.seed, number=n, seen=seen))
        self.trials.append(trial)
        return trial

    def _last_promoted(self) -> Trial | None:
        """The best of the lowest rung at which no more trials can arrive, if none of it was promoted."""
        for rung in range(len(self.rungs) - 1):
            if any(trial.state == RUNNING and trial.n_rung <= rung for trial in self.trials):
                return None
            trial = self._best_paused(rung, at_least=1)
            if trial is not None:
                return trial
        return None

    def _best_paused(self, rung: int, *, at_least: int) -> Trial | None:
        """The best trial that may be promoted from a rung, numbered from 0."""
        arrived = [trial for trial in self.trials if trial.n_rung > rung]
        n_failed = sum(trial.state == FAILED and trial.n_rung == rung for trial in self.trials)
        n = max((len(arrived) + n_failed) // self.factor, at_least)
        ranked = sorted(arrived, key=lambda trial: (-trial.scores[rung], trial.number))[:n]
        return next((trial for trial in ranked if trial.state == PAUSED and trial.n_rung == rung + 1), None)
