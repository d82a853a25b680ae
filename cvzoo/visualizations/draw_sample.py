"""Drawing of an image with whatever annotations or predictions it has, of any task."""

from collections.abc import Callable, Sequence

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.reporting.counted import counted
from cvzoo.transforms.sample.sample import Sample, settle
from cvzoo.typing.aliases import Array, ArrayLike, Image, LabelNames
from cvzoo.visualizations.draw_bbox import draw_bbox
from cvzoo.visualizations.draw_mask import draw_label_map, draw_mask
from cvzoo.visualizations.draw_point import draw_point

_N_NAMED = 3  # classes in a caption


def draw_sample(
    sample: Sample,
    score: ArrayLike | None = None,
    *,
    label_names: LabelNames | None = None,
    opacity: float = 0.5,
) -> Image:
    """The image with its label map, masks, boxes and visible points: (3, H, W) float32 of integers in [0, 255].

    sample: ground truth or predictions of any task, with img in [0, 255]; difficult and crowded objects are not drawn
    score: (R,) of the instances, or None
    label_names: names of the classes in order of label; without them the numbers are written
    opacity: of masks and label maps
    Raises ShapeError if score has another number of instances.
    """
    sample = settle(sample)
    drawn, scores = _drawn(sample, score)
    img = sample.img if len(sample.img) == 3 else sample.img.repeat(3, axis=0)
    if drawn.label_map is not None:
        img = draw_label_map(img, drawn.label_map, opacity=opacity)
    label = None if drawn.label is None or np.ndim(drawn.label) == 0 else drawn.label
    if drawn.mask is not None:
        img = draw_mask(img, drawn.mask, label, opacity=opacity)
    if drawn.bbox is not None:
        img = draw_bbox(img, drawn.bbox, label, scores, label_names=label_names)
    if drawn.point is not None:
        img = draw_point(img, drawn.point, drawn.visible)
    return np.rint(np.asarray(img, np.float32)).clip(0, 255)


def describe_sample(sample: Sample, score: ArrayLike | None = None, *, label_names: LabelNames | None = None) -> str:
    """A line about the annotations: "3 objects, 1 ignored", "road 61 %, sky 20 %, tree 9 %, 4 % ignored", "cat".

    sample, score, label_names: as for `draw_sample`; the score of a class label is written after its name
    """
    name: Callable[[int], str] = lambda label: str(label) if label_names is None else str(label_names[label])  # noqa: E731
    parts = []
    if sample.label is not None and np.ndim(sample.label) == 0:
        parts.append(name(int(sample.label)) + ("" if score is None else f" {float(np.asarray(score)):.2f}"))
    counts = {len(value) for value in sample.instances().values()}
    if counts:
        (count,) = counts
        ignored = int(_ignored(sample, count).sum())
        parts.append(counted(count - ignored, "object"))
        parts += [f"{ignored} ignored"] if ignored else []
    if sample.label_map is not None:
        parts += _classes_of_map(sample.label_map, name)
    return ", ".join(parts) or "no annotations"


def _drawn(sample: Sample, score: ArrayLike | None) -> tuple[Sample, Array | None]:
    """Without ignored instances; the scores of the others."""
    counts = [len(value) for value in sample.instances().values()]
    if not counts:
        return sample, None
    kept = ~_ignored(sample, counts[0])
    if score is not None and np.shape(score) != (counts[0],):
        raise ShapeError("score must have one value per instance", expected=(counts[0],), got=np.shape(score))
    return sample.take(kept), None if score is None else np.asarray(score)[kept]


def _ignored(sample: Sample, count: int) -> Array:
    ignored = np.zeros(count, bool)
    for flags in (sample.difficult, sample.crowded):
        if flags is not None:
            ignored |= flags
    return ignored


def _classes_of_map(label_map: Array, name: Callable[[int], str]) -> list[str]:
    labels, counts = np.unique(label_map, return_counts=True)
    shares: Sequence[tuple[float, int]] = sorted(zip((counts / counts.sum()).tolist(), labels.tolist()), reverse=True)
    parts = [f"{name(label)} {share:.0%}".replace("%", " %") for share, label in shares if label >= 0][:_N_NAMED]
    return parts + [f"{share:.0%} ignored".replace("%", " %") for share, label in shares if label < 0]
