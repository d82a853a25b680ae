"""Search for the rules by which two evaluations of the same results differ."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from cvzoo.errors.exceptions import CvzooError
from cvzoo.evaluations.explain.read_scores import OtherScores

_Case = TypeVar("_Case")
_MOST_RULES = 3  # in combination


@dataclasses.dataclass(frozen=True)
class TriedRule:
    """A rule that was tried: its name, words, the scores under it, and their largest difference from the other's."""

    name: str
    words: str
    scores: dict[str, float]
    distance: float


@dataclasses.dataclass(frozen=True)
class Explanation:
    """Two evaluations side by side.

    ours, other: scores by name, for the names in common
    distance: their largest difference; tolerance: the precision of the other's numbers
    tried: every single rule that changes a score, the nearest to the other first
    found: the rules that together give the other's scores; empty if there is no difference, or no explanation
    notes: remarks
    """

    ours: dict[str, float]
    other: dict[str, float]
    distance: float
    tolerance: float
    tried: tuple[TriedRule, ...]
    found: tuple[TriedRule, ...]
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The explanation in a sentence."""
        if self.distance <= self.tolerance:
            return f"no difference: all {len(self.other)} scores agree as far as the other's are written"
        if self.found:
            together = " and ".join(f"{rule.name} ({rule.words})" for rule in self.found)
            return f"the difference comes from: {together}"
        if self.tried and self.tried[0].distance < self.distance:
            near = self.tried[0]
            return (
                f"no rule that is known here gives the other's scores; {near.name} ({near.words}) comes nearest: "
                f"{near.distance:.4f} apart instead of {self.distance:.4f}"
            )
        return "no rule that is known here explains the difference; the results or the objects may not be the same"

    def to_dict(self) -> dict:
        """The explanation for JSON."""
        return {"verdict": self.verdict} | dataclasses.asdict(self)

    def __str__(self) -> str:
        keys = list(self.other)
        lines = [f"{'':24}" + "".join(f"{key:>8}" for key in keys), _row("ours", self.ours, keys)]
        lines.append(_row("the other", self.other, keys))
        if self.distance > self.tolerance:
            lines += [_row(rule.name, rule.scores, keys) for rule in self.tried[:8]]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes), self.verdict])


def search_rules(
    case: _Case,
    rules: Sequence[Any],
    other: OtherScores,
    wanted: Mapping[str, float],
    *,
    change: Callable[[Any, _Case], _Case],
    score: Callable[[_Case], Mapping[str, float]],
    progress: Callable[[str], None] | None = None,
) -> Explanation:
    """The rules that explain the difference between the scores of a case and the wanted ones.

    rules: with name and words; change(rule, case): the case under a rule; score(case): scores by name
    wanted: the other's scores, with our names; other: their precision, and remarks
    progress: called with the name of each rule that is tried

    A greedy search: each rule is tried alone; while none gives the other's scores, the nearest one is kept and another
    one is added, up to three. Rules that do not apply to the data (CvzooError) are left out.
    """
    ours = _chosen(score(case), wanted)
    distance = nearest = _distance(ours, wanted)
    tried: tuple[TriedRule, ...] = ()
    tried_rules: list[TriedRule] = []
    for _ in range(_MOST_RULES):
        if nearest <= other.tolerance:
            break
        used = {rule.name for rule in tried_rules}
        rows = []
        for rule in rules:
            if rule.name in used:
                continue
            if progress is not None:
                progress(rule.name)
            try:
                changed = change(rule, case)
                scores = _chosen(score(changed), wanted)
            except CvzooError:
                continue
            if scores != ours:
                rows.append((TriedRule(rule.name, rule.words, scores, _distance(scores, wanted)), changed))
        # the sort is stable: of rules with the same effect, the likely one stays first
        rows.sort(key=lambda row: row[0].distance)
        tried = tried or tuple(row for row, _ in rows)
        if not rows or rows[0][0].distance >= nearest:
            break
        best, case = rows[0]
        tried_rules.append(best)
        nearest = best.distance
    if nearest > other.tolerance:
        tried_rules = []
    return Explanation(ours, dict(wanted), distance, other.tolerance, tried, tuple(tried_rules), other.notes)


def _chosen(scores: Mapping[str, float], wanted: Mapping[str, float]) -> dict[str, float]:
    return {key: scores[key] for key in wanted}


def _distance(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    return float(np.max([abs(a[key] - b[key]) for key in b]))


def _row(name: str, scores: Mapping[str, float], keys: Sequence[str]) -> str:
    return f"{name:24.24}" + "".join(f"{scores[key]:8.4f}" for key in keys)
