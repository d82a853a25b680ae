"""The rules that explain the difference between our COCO scores and another program's, of the same results."""

from collections.abc import Callable

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.evaluations.coco.evaluate import evaluate_coco
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.explain.coco_rules import coco_rules
from cvzoo.evaluations.explain.explanation import Explanation, search_rules
from cvzoo.evaluations.explain.read_scores import OtherScores, ScoresSource, read_scores


def explain_coco(
    gt: COCOGroundTruth,
    dt: COCODetections,
    other: ScoresSource | OtherScores,
    parameters: COCOParameters | None = None,
    *,
    progress: Callable[[str], None] | None = None,
) -> Explanation:
    """The rules that explain the difference between our scores of these detections and another program's.

    gt, dt, parameters: as for `evaluate_coco`
    other: argument of `read_scores`: a path, a dictionary, or a list of pycocotools' 12 scores
    progress: called with the name of each rule that is tried
    Raises FileFormatError if the scores have no name in common, and the errors of `evaluate_coco`.
    See `search_rules` for the algorithm.
    """
    parameters = COCOParameters() if parameters is None else parameters
    other = read_scores(other) if not isinstance(other, OtherScores) else other
    names = evaluate_coco(gt, dt, parameters).summary
    wanted = {key: other.scores[key] for key in names if key in other.scores}
    if not wanted:
        raise FileFormatError(
            "the two evaluations have no score in common", expected=" ".join(names), got=" ".join(other.scores)
        )
    return search_rules(
        (gt, dt, parameters),
        coco_rules(parameters),
        other,
        wanted,
        change=lambda rule, case: rule.apply(*case),
        score=lambda case: evaluate_coco(*case).summary,
        progress=progress,
    )
