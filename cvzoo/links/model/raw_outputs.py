"""Raw outputs and predictions of models of any task as named arrays, to compare models."""

from collections.abc import Iterable

import numpy as np

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.functions.array.dtypes import widened
from cvzoo.links.chain import Chain
from cvzoo.links.model.classifications import Classifications
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.detections import Detections
from cvzoo.links.model.detector import AbstractDetector, AbstractOneStageDetector
from cvzoo.links.model.instance_segmentations import InstanceSegmentations
from cvzoo.links.model.instance_segmenter import AbstractInstanceSegmenter
from cvzoo.links.model.keypoint_detections import KeypointDetections
from cvzoo.links.model.keypoint_detector import AbstractKeypointDetector
from cvzoo.links.model.label_maps import LabelMaps
from cvzoo.links.model.segmenter import AbstractSegmenter

# models with thresholds
Finder = AbstractDetector | AbstractInstanceSegmenter | AbstractKeypointDetector
Arrays = dict[str, np.ndarray]


def seeded_photo(size: tuple[int, int] = (240, 320), seed: int = 0) -> np.ndarray:
    """A test image (3, H, W) float32 RGB, integers in [0, 255]: colored squares of three sizes, summed.

    Its values are the same on every platform, since only integers are drawn, from NumPy's PCG64. The function's name
    stays, since files of expected outputs contain it.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    height, width = size
    img = np.zeros((3, height, width), np.float32)
    for step, weight in ((24, 0.6), (8, 0.3), (1, 0.1)):
        rows, columns = -(-height // step), -(-width // step)
        squares = rng.integers(0, 256, (3, rows, columns)).astype(np.float32)
        img += np.float32(weight) * squares.repeat(step, axis=1).repeat(step, axis=2)[:, :height, :width]
    return np.floor(img)


def seeded_page(size: tuple[int, int] = (400, 300)) -> np.ndarray:
    """A test image of a page (3, H, W) float32 RGB, integers in [0, 255]: lines of words of dark strokes on paper.

    Its values are the same on every platform, as for `seeded_photo`.
    """
    rng = np.random.Generator(np.random.PCG64(0))
    height, width = size
    page = 235 + rng.integers(0, 12, (height, width)).astype(np.float32)
    for top in range(height // 10, height - height // 10, 28):
        right = width // 10 + int(rng.integers(width // 3, width * 4 // 5))
        left = width // 10
        while left < min(right, width - width // 10 - 8):
            for _ in range(int(rng.integers(2, 8))):  # a word's letters: a stroke up, a stroke across
                across = top + int(rng.integers(0, 3)) * 5
                page[top : top + 12, left : left + 2] = 40
                page[across : across + 2, left : left + 6] = 40
                left += 8
            left += 7
    return np.repeat(page[None], 3, axis=0)


def named_results(result: object) -> list[Arrays]:
    """The results of `predict` for each image, by name: "probs", "label", or "bbox", "label", "score" and more.

    Masks are "mask", run-length encoded. Raises UnsupportedError for an unknown kind of result.
    """
    if isinstance(result, Classifications):
        return [{"probs": probs} for probs in result.probs]
    if isinstance(result, LabelMaps):
        return [{"label": label} for label in result]
    if isinstance(result, Detections):
        return [{"bbox": bbox, "label": label, "score": score} for bbox, label, score in zip(*result)]
    if isinstance(result, InstanceSegmentations):
        return [
            {"bbox": bbox, "label": label, "score": score, "mask": mask.counts}
            for mask, bbox, label, score in zip(result.masks, result.bboxes, result.labels, result.scores)
        ]
    if isinstance(result, KeypointDetections):
        return [
            {"bbox": bbox, "label": label, "score": score, "point": point}
            for point, bbox, label, score in zip(result.points, result.bboxes, result.labels, result.scores)
        ]
    raise UnsupportedError(f"a result of another kind: {type(result).__name__}")


def raw_outputs(model: Chain, img: np.ndarray) -> Arrays:
    """Raw outputs of the network for one image, by name, before thresholds and non-maximum suppression.

    A classifier's logits, a segmenter's probabilities, outputs of a one-stage detector's `forward`;
    for others, the results of `predict` with a score threshold of 0.
    img: (3, H, W) float32 RGB [0, 255]
    """
    with using_config("train", False), no_backprop_mode():
        if isinstance(model, AbstractClassifier):
            return {"scores": widened(model.scores(model.prepare(img)[None])).array}
        if isinstance(model, AbstractOneStageDetector):
            outputs = model.forward(model.prepare(img)[None])
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            return {f"head {i}": widened(output).array for i, output in enumerate(outputs)}
    if isinstance(model, AbstractSegmenter):
        probs = model.predict([img], with_probs=True).probs
        return {} if probs is None else {"probs": probs[0]}
    if isinstance(model, Finder):
        before, model.score_thresh = model.score_thresh, 0.0
        try:
            return named_results(model.predict([img]))[0]
        finally:
            model.score_thresh = before
    raise UnsupportedError(f"a {type(model).__name__} has no predict that is known here")


def greatest_difference(a: Arrays, b: Arrays) -> float:
    """The greatest difference between arrays of one name, relative to the greatest value of that array where this is
    above 1; infinity where shapes or names differ."""
    if a.keys() != b.keys() or any(np.shape(a[name]) != np.shape(b[name]) for name in a):
        return float("inf")
    differences = [0.0]
    for name in a:
        x, y = np.asarray(a[name], np.float64), np.asarray(b[name], np.float64)
        other = (x != y) & ~(np.isnan(x) & np.isnan(y))  # untrained networks may have infinite outputs
        if other.any():
            with np.errstate(invalid="ignore", over="ignore"):
                off = float(np.abs(x - y)[other].max() / max(1.0, np.abs(x).max()))
            differences.append(off if np.isfinite(off) else float("inf"))
    return max(differences)


def same_bits(a: Iterable[Arrays], b: Iterable[Arrays]) -> bool:
    """Whether two lists of named arrays agree in every bit."""
    a, b = list(a), list(b)
    return len(a) == len(b) and all(
        x.keys() == y.keys() and all(np.array_equal(x[name], y[name], equal_nan=True) for name in x)
        for x, y in zip(a, b)
    )
