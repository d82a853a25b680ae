"""The rules that explain the difference between our VOC mAP and another program's, of the same results."""

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.evaluations.explain.explanation import Explanation, search_rules
from cvzoo.evaluations.explain.read_scores import OtherScores, ScoresSource, read_scores
from cvzoo.evaluations.explain.voc_rules import VOCCase, voc_rules


def explain_voc(case: VOCCase, other: ScoresSource | OtherScores) -> Explanation:
    """The rules that explain the difference between our mAP of these detections and another program's.

    case: the boxes of a data set and how they are scored
    other: argument of `read_scores`: a path, or a dictionary with the mAP under `AP50`, `map` or `AP`
    Raises FileFormatError if there is no mAP. See `search_rules` for the algorithm.
    """
    other = read_scores(other) if not isinstance(other, OtherScores) else other
    scores = [other.scores[key] for key in ("AP50", "AP") if key in other.scores]
    if not scores:
        raise FileFormatError("the other scores do not have a mAP", expected="map", got=" ".join(other.scores))
    return search_rules(
        case,
        voc_rules(case),
        other,
        {"map": scores[0]},
        change=lambda rule, each: rule.apply(each),
        score=lambda each: each.score(),
    )
