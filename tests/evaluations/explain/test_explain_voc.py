import numpy as np
import pytest

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.evaluations.explain.explain_voc import explain_voc
from cvzoo.evaluations.explain.voc_rules import VOCCase, voc_rules


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(2)
    columns = [[] for _ in range(6)]
    for _ in range(25):
        low = rng.integers(0, 60, (5, 2)).astype(np.float64)
        bbox = np.concatenate((low, low + rng.integers(4, 25, (5, 2))), axis=1)
        label = rng.integers(0, 3, 5)
        of = rng.integers(0, 5, 12)
        moved = bbox[of] + rng.normal(0, 1.5, (12, 4))
        moved[:, 2:] = np.maximum(moved[:, 2:], moved[:, :2] + 1)
        moved[::4] = bbox[of[::4]]
        moved[::4, 2] = bbox[of[::4], 0] + (bbox[of[::4], 2] - bbox[of[::4], 0] + 1) / 2 - 1  # an overlap of one half
        for column, value in zip(
            columns, (moved, label[of], rng.integers(1, 20, 12) / 20, bbox, label, rng.random(5) < 0.2)
        ):
            column.append(value)
    return VOCCase(*columns)


@pytest.mark.parametrize(
    "name",
    [
        "use_07_metric",
        "plus",
        "difficult_as_objects",
        "difficult_dropped",
        "above_threshold",
        "ties_reversed",
        "score_0.25",
    ],
)
def test_the_rule_that_makes_the_difference_is_found(case, name):
    rule = next(rule for rule in voc_rules(case) if rule.name == name)
    found = explain_voc(case, {"map": rule.apply(case).score()["map"]})
    assert [each.name for each in found.found] == [name]
    assert rule.words in found.verdict


def test_the_same_map_needs_no_rule(case):
    assert explain_voc(case, {"AP50": round(case.score()["map"], 4)}).verdict.startswith("no difference")


def test_a_rule_says_what_the_other_does(case):
    words = {rule.name: rule.words for rule in voc_rules(case)}
    assert "11 recalls" in words["use_07_metric"]
    other = {rule.name: rule.words for rule in voc_rules(case._replace(use_07_metric=True, plus=0))}
    assert "area under the curve" in other["use_07_metric"]
    assert other["plus"] == "boxes count their last pixel"


def test_scores_without_a_map_are_refused(case):
    with pytest.raises(FileFormatError, match="not have a mAP"):
        explain_voc(case, {"AR1": 0.5})
