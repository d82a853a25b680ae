"""Golden outputs: a model's outputs for two synthetic images, stored next to its weights for regression tests."""

import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from cvzoo.cli.load_predictor import Predictor
from cvzoo.errors.exceptions import FileFormatError
from cvzoo.links.chain import Chain
from cvzoo.links.model.raw_outputs import named_results, seeded_page, seeded_photo

VERSION = 1
TOLERANCE = {"bbox": 0.05, "point": 0.05, "score": 1e-3, "probs": 1e-4}  # pixels and fractions; others must be equal
LARGE = 5000  # elements beyond which an array is subsampled


def golden_path(weights: pathlib.Path) -> pathlib.Path:
    """The path of the golden outputs of a file of weights."""
    return weights.with_name(f"{weights.stem}.golden.json")


def golden_record(model: Predictor) -> dict[str, Any]:
    """The model's outputs for `seeded_page()` and `seeded_photo()` with its current thresholds, ready for JSON."""
    images = [seeded_page(), seeded_photo()]
    return {
        "golden": VERSION,
        "photos": ["seeded_page", "seeded_photo"],
        "seen": [
            {name: _plain(array) for name, array in each.items()} for each in named_results(model.predict(images))
        ],
    }


def golden_complaint(record: object, model: Chain) -> str:
    """A description of the first difference to the record; empty if there is none.

    Raises FileFormatError if the record is damaged.
    """
    stored = _checked(record)
    now = golden_record(model)["seen"]
    for image, (before, after) in enumerate(zip(stored, now)):
        if before.keys() != after.keys():
            return f"image {image}: {', '.join(after)} instead of {', '.join(before)}"
        for name in before:
            then, here = _array(before[name]), _array(after[name])
            if then.shape != here.shape:
                return f"image {image}: {name} {here.shape} instead of {then.shape}"
            off = float(np.abs(then - here).max()) if then.size else 0.0
            if not off <= TOLERANCE.get(name, 0.0):
                return f"image {image}: {name} differs by {off:.3g}, more than {TOLERANCE.get(name, 0.0):g}"
    return ""


def _checked(record: Any) -> list[dict]:
    right = isinstance(record, dict) and record.get("golden") == VERSION and isinstance(record.get("seen"), list)
    if not right or len(record["seen"]) != 2 or not all(isinstance(each, dict) for each in record["seen"]):
        raise FileFormatError("the stored golden outputs are damaged, or of a later version")
    return record["seen"]


def _array(stored: Mapping[str, Any]) -> np.ndarray:
    try:
        return np.asarray(stored["values"], np.float64).reshape(stored["shape"])
    except (TypeError, ValueError, LookupError) as error:
        raise FileFormatError(f"the stored golden outputs are damaged: {str(error)[:80]}") from error


def _plain(array: np.ndarray) -> dict[str, list]:
    if array.size > LARGE:
        array = array.ravel()[:: array.size // LARGE + 1]
    return {"shape": list(array.shape), "values": [float(f"{value:.7g}") for value in array.ravel()]}
