import json

import numpy as np
import pytest

from cvzoo.errors.exceptions import ShapeError
from cvzoo.evaluations import analyze_classes

PROBS = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
NAMES, PHOTOS = ("a", "b", "c"), ("p", "q", "r", "s")


def test_confusions_and_worst_photos_by_hand():
    found = analyze_classes(PROBS, [0, 0, 2, 2], label_names=NAMES, photos=PHOTOS)
    assert found["confusion"] == {"names": ["a", "b", "c"], "counts": [[1, 1, 0], [0, 0, 0], [1, 0, 1]]}
    assert found["confused"] == [
        {"label": "a", "guess": "b", "count": 1, "share": 0.5},
        {"label": "c", "guess": "a", "count": 1, "share": 0.5},
    ]
    assert [(each["photo"], each["guess"], each["rank"]) for each in found["worst_photos"]] == [
        ("q", "b", 2),
        ("r", "a", 3),
    ]
    # guesses of 0.7, 0.8, 0.5, 0.6, of which the first and the last are right, each in a bin of its own
    assert found["reliability"]["ece"] == pytest.approx((0.3 + 0.8 + 0.5 + 0.4) / 4)
    json.dumps(found, allow_nan=False)


def test_logits_have_no_reliability_and_no_photos_are_no_trouble():
    assert analyze_classes(PROBS * 9, [0, 1, 2, 0], label_names=NAMES, images=PHOTOS)["reliability"] is None
    empty = analyze_classes(np.zeros((0, 3)), np.zeros(0, int), label_names=NAMES, photos=())
    assert (empty["confused"], empty["worst_photos"], empty["reliability"]["ece"]) == ([], [], None)


def test_names_and_photos_must_fit():
    with pytest.raises(ShapeError, match=r"\(images, classes\)"):
        analyze_classes(PROBS, [0, 0, 2, 2], label_names=NAMES, images=PHOTOS[:3])
    with pytest.raises(ShapeError):
        analyze_classes(PROBS, [0, 0, 2, 2], label_names=NAMES[:2], photos=PHOTOS)
