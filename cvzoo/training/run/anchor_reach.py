"""The fraction of training boxes that the network's anchors cover, measured before training."""

import html
import itertools
import json
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.geometry.bbox_iou import bbox_iou
from cvzoo.geometry.fit_anchors import iou_at_offset
from cvzoo.iterators.fetch import Task, fetch
from cvzoo.reporting.counted import counted
from cvzoo.training.output_folder import write_text
from cvzoo.typing.aliases import Array, FilePath
from cvzoo.visualizations.report.page import bar, table

FILENAME = "anchors.json"
_SIDES = (0.0, 16.0, 32.0, 64.0, 128.0, 256.0, np.inf)  # pixels of the network's input
_POOR = 0.9  # share of boxes that an anchor matches; below it the run warns


class Anchors(NamedTuple):
    """The anchors of a network, and how its loss matches them with boxes.

    boxes: of the input's size (H, W): (A, 4) float32, y_min x_min y_max x_max
    by_shape: boxes and anchors are compared as if they had one center, as YOLO does
    settings: suggests settings of the recipe for boxes (R, 4) of augmented images; None: it cannot
    """

    boxes: Callable[[Sequence[int]], Array]
    by_shape: bool = False
    settings: Callable[[Array], Mapping[str, Any]] | None = None


def anchor_reach(
    examples: AbstractSliceableDataset,
    anchors: Callable[[Sequence[int]], Array] | Anchors,
    *,
    label_names: Sequence[str],
    thresh: float = 0.5,
    n_image: int = 64,
) -> dict[str, Any]:
    """The number of ground-truth boxes that have an anchor with an IoU of at least `thresh`, as a JSON tree.

    examples: the augmented training set, (img, bbox, label) or (img, bbox, label, ignored), img (3, H, W) and bbox in
        pixels of the network's input
    anchors: of the input's size (H, W): (A, 4) float32; or Anchors
    label_names: names of the classes
    thresh: the IoU from which an anchor counts as reaching a box
    n_image: how many examples are read, spread evenly over the set

    The tree: thresh, n_image, n_box, reached (a fraction), mean_iou; by class in "classes", and by the square root of
    the boxes' area in "sizes"; in "suggested", where more than a tenth is not reached, settings of the recipe that fit
    these boxes. Ignored boxes do not count. Boxes that no anchor reaches are trained only if the loss takes the best
    anchor of each box.
    The data augmentation draws from generators of its own: the training that follows has the same bits without this.
    Raises ValueRangeError if n_image is not positive.
    """
    if n_image < 1:
        raise ValueRangeError("anchor_reach: n_image must be positive", got=n_image)
    match = anchors if isinstance(anchors, Anchors) else Anchors(anchors)
    index = np.unique(np.linspace(0, len(examples) - 1, min(n_image, len(examples))).round().astype(int))
    ious: list[Array] = [np.zeros(0, np.float32)]
    bboxes: list[Array] = [np.zeros((0, 4), np.float32)]
    labels: list[Array] = [np.zeros(0, np.int32)]
    for i in index.tolist():
        img, bbox, label, *flags = fetch(examples, Task(0, 0, i, (0, 0)))
        if flags:
            bbox, label = bbox[~flags[0]], label[~flags[0]]
        if len(bbox):
            ious.append(_best_iou(bbox, match.boxes(img.shape[1:]), by_shape=match.by_shape))
            labels.append(label)
            bboxes.append(bbox)
    iou, label, bbox = np.concatenate(ious), np.concatenate(labels), np.concatenate(bboxes)
    side = np.sqrt((bbox[:, 2:] - bbox[:, :2]).prod(axis=1))
    is_poor = len(iou) > 0 and float((iou >= thresh).mean()) < _POOR
    suggested = match.settings(bbox) if is_poor and match.settings is not None else {}
    bounds = list(itertools.pairwise(_SIDES))
    return {
        "thresh": thresh,
        "n_image": len(index),
        **_counts(iou, thresh),
        "classes": [{"name": name} | _counts(iou[label == i], thresh) for i, name in enumerate(label_names)],
        "sizes": [
            {"name": _range_name(low, high)} | _counts(iou[(side >= low) & (side < high)], thresh)
            for low, high in bounds
        ],
        "suggested": dict(suggested),
    }


def _best_iou(bbox: Array, anchor: Array, *, by_shape: bool) -> Array:
    if by_shape:
        return iou_at_offset(bbox[:, 2:] - bbox[:, :2], anchor[:, 2:] - anchor[:, :2]).max(axis=1)
    return bbox_iou(bbox, anchor).max(axis=1)


def write_anchor_reach(folder: FilePath, reach: dict[str, Any]) -> None:
    """Writes what `anchor_reach` returns into a run's folder, where its report finds it."""
    write_text(pathlib.Path(folder, FILENAME), json.dumps(reach, indent=2, ensure_ascii=False) + "\n")


def reach_section(reach: dict[str, Any] | None) -> str:
    """HTML of the tree of `anchor_reach`; "" for None."""
    if reach is None:
        return ""
    words = (
        f"{reach['reached']:.1%} of {counted(reach['n_box'], 'box', 'boxes')} in "
        f"{counted(reach['n_image'], 'augmented training image')} have an "
        f"anchor with an IoU of {reach['thresh']:g} or more; the mean of the best IoUs is {reach['mean_iou']:.2f}."
        if reach["n_box"]
        else f"There are no boxes in {counted(reach['n_image'], 'augmented training image')}."
    )
    suggested = reach.get("suggested") or {}
    if suggested:
        settings = " ".join(f"{name}={json.dumps(value, separators=(',', ':'))}" for name, value in suggested.items())
        words += f" These settings fit such boxes better: <code>{html.escape(settings)}</code>."
    elif reach["n_box"] and reach["reached"] < _POOR:
        words += " <code>cvzoo data anchors</code> suggests anchors that fit better."
    tables = []
    for title, rows in (("side, pixels", reach["sizes"]), ("class", reach["classes"])):
        lines = [(row["name"], row["n_box"], bar(row["reached"]), bar(row["mean_iou"])) for row in rows if row["n_box"]]
        tables.append(table([title, "boxes", "reached", "mean best IoU"], lines) if lines else "")
    return f"<p>{words}</p>{''.join(tables)}"


def _counts(iou: Array, thresh: float) -> dict[str, Any]:
    if not len(iou):
        return {"n_box": 0, "reached": None, "mean_iou": None}
    return {"n_box": len(iou), "reached": float((iou >= thresh).mean()), "mean_iou": float(iou.mean())}


def _range_name(low: float, high: float) -> str:
    return f"{low:.0f} or more" if np.isinf(high) else f"{low:.0f} to {high:.0f}"
