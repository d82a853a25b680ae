"""Which rule makes the difference between our scores and another program's, of the same results."""

import dataclasses
from collections.abc import Callable

import numpy as np

from cvzoo.errors.exceptions import CvzooError, FileFormatError
from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.evaluations.coco.evaluate import evaluate_coco
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.explain.coco_rules import coco_rules
from cvzoo.evaluations.explain.read_scores import OtherScores, read_scores

_MOST_RULES = 3  # together


@dataclasses.dataclass(frozen=True)
class TriedRule:
    """A rule that was tried: its name, words, the scores under it, and how far they are from the other's at most."""

    name: str
    words: str
    scores: dict[str, float]
    distance: float


@dataclasses.dataclass(frozen=True)
class Explanation:
    """Two scorings side by side.

    ours, other: scores by name, of the names that both have
    distance: how far they are apart at most; tolerance: how exactly the other's numbers are written
    tried: every rule that changes a score, alone, the nearest to the other first
    found: the rules that together give the other's scores; empty if there is no difference, or if none do
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
        """The answer in a sentence."""
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
        """What JSON can hold of it."""
        return {"verdict": self.verdict} | dataclasses.asdict(self)

    def __str__(self) -> str:
        keys = list(self.other)
        lines = [f"{'':24}" + "".join(f"{key:>8}" for key in keys), _row("ours", self.ours, keys)]
        lines.append(_row("the other", self.other, keys))
        if self.distance > self.tolerance:
            lines += [_row(rule.name, rule.scores, keys) for rule in self.tried[:8]]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes), self.verdict])


def explain_coco(
    gt: COCOGroundTruth,
    dt: COCODetections,
    other,
    parameters: COCOParameters | None = None,
    *,
    progress: Callable[[str], None] | None = None,
) -> Explanation:
    """What makes the difference between our scores of these detections and another program's.

    gt, dt, parameters: as for `evaluate_coco`
    other: what `read_scores` takes: a path, a dictionary, or a list of pycocotools' 12 numbers
    progress: called with the name of each rule that is tried
    Raises FileFormatError if no score has a name that ours have, too, and what `evaluate_coco` raises.

    Each rule is tried alone; while none gives the other's scores, the one that comes nearest is kept and a further one
    is added, up to three.
    """
    parameters = COCOParameters() if parameters is None else parameters
    other = read_scores(other) if not isinstance(other, OtherScores) else other
    ours = evaluate_coco(gt, dt, parameters).summary
    keys = [key for key in ours if key in other.scores]
    if not keys:
        raise FileFormatError("the two scorings share no score", expected=" ".join(ours), got=" ".join(other.scores))
    wanted = {key: other.scores[key] for key in keys}
    ours = {key: ours[key] for key in keys}
    distance = _distance(ours, wanted)
    tried: tuple[TriedRule, ...] = ()
    found: list[TriedRule] = []
    rules = coco_rules(parameters)
    if distance > other.tolerance:
        case, nearest = (gt, dt, parameters), distance
        for _ in range(_MOST_RULES):
            rows = _try_all(rules, case, found, keys, wanted, ours, progress)
            tried = tried or tuple(row for row, _ in rows)
            if not rows or rows[0][0].distance >= nearest:
                found = []
                break
            best, case = rows[0]
            found.append(best)
            nearest = best.distance
            if nearest <= other.tolerance:
                break
        else:
            found = []
    return Explanation(ours, wanted, distance, other.tolerance, tried, tuple(found), other.notes)


def _try_all(rules, case, used, keys, wanted, ours, progress):
    """The rules that change a score, nearest first, each with its case."""
    rows, names = [], {rule.name for rule in used}
    for rule in rules:
        if rule.name in names:
            continue
        if progress is not None:
            progress(rule.name)
        try:
            changed = rule.apply(*case)
            scores = evaluate_coco(*changed).summary
        except CvzooError:  # these data do not have what the rule is about
            continue
        scores = {key: scores[key] for key in keys}
        if scores != ours:
            rows.append((TriedRule(rule.name, rule.words, scores, _distance(scores, wanted)), changed))
    # sorted is stable: of rules with the same effect the likely one stays in front
    return sorted(rows, key=lambda row: row[0].distance)


def _distance(a, b):
    return float(np.max([abs(a[key] - b[key]) for key in b]))


def _row(name, scores, keys):
    return f"{name:24.24}" + "".join(f"{scores[key]:8.4f}" for key in keys)
