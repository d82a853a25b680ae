"""`cvzoo data anchors`: suggests anchors for the boxes of a data set."""

import argparse
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.cli.check_target import check_target
from cvzoo.cli.data_spec_argument import spec_of
from cvzoo.cli.json_records import write_json
from cvzoo.cli.result_table import printable
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedSet
from cvzoo.datasets.layouts.read import read_annotated_set
from cvzoo.errors.exceptions import DatasetError, ImageError
from cvzoo.geometry.fit_anchors import best_anchor_iou, cluster_boxes, fit_anchors, iou_at_offset
from cvzoo.images.read_image_size import read_image_size
from cvzoo.links.model.preparation.resize_shortest_edge import fitted_size
from cvzoo.links.model.retinanet.config import RetinaNetSettings
from cvzoo.reporting.counted import counted

_THRESH = 0.5  # RetinaNet's IoU threshold of positive anchors


def run(args: argparse.Namespace) -> int:
    """Returns 0. Raises CvzooError or OSError if there are no boxes."""
    check_target(args.json)
    annotated = read_annotated_set(spec_of(args))
    max_size = round(args.size * 5 / 3) if args.max_size is None else max(args.max_size, args.size)
    bbox, label, n_left_out = _boxes(annotated, args.size, max_size)
    if not len(bbox):
        raise DatasetError(f"{args.spec} contains no boxes to fit anchors to", hint="cvzoo data check")
    record = _record(annotated.used_names(), bbox, label, args) | {
        "data": args.spec,
        "size": args.size,
        "max_size": max_size,
        "photos": len(annotated.images),
        "boxes": len(bbox),
        "boxes_left_out": n_left_out,
    }
    if args.json == "-":
        print(json.dumps(record))
        return 0
    if args.json is not None:
        write_json(record, args.json)
    print(anchors_text(record))
    return 0


def anchors_text(record: dict[str, Any]) -> str:
    """The record as text for a terminal."""
    sides = f"short side {record['size']}, long side at most {record['max_size']}"
    left_out = f", {record['boxes_left_out']} dropped" if record["boxes_left_out"] else ""
    counts = f"{counted(record['photos'], 'image')}, {counted(record['boxes'], 'box', 'boxes')}"
    lines = [
        f"{printable(record['data'])}: {counts}{left_out}; {sides}",
        "",
        f"{counted(len(record['groups']), 'cluster')} of shapes, height x width (mean IoU "
        f"{record['groups_mean_iou']:.3f}):",
        "  " + ", ".join(f"{height:.0f} x {width:.0f}" for height, width in record["groups"]),
        "",
        f"{'anchors':<12}recall at IoU {_THRESH}  mean best IoU",
    ]
    for name in ("default", "suggested"):
        row = record[name]
        lines.append(f"{name:<12}{row['recall']:>17.3f}  {row['mean_iou']:>13.3f}")
    width = max(len("class"), *(len(printable(each["name"])) for each in record["classes"]))
    lines += ["", f"{'class':<{width}}    boxes  default  suggested  (best possible recall)"]
    for each in record["classes"]:
        numbers = f"{each['boxes']:>7}  {each['default']:>7.3f}  {each['suggested']:>9.3f}"
        lines.append(f"{printable(each['name']):<{width}}  {numbers}")
    rows = record["suggested"]["anchor_sizes"]
    lines += ["", "suggested, for RetinaNetSettings:"]
    lines += ["    anchor_sizes=(", *(f"        ({', '.join(map(str, row))},)," for row in rows), "    ),"]
    lines.append(f"    anchor_ratios=({', '.join(map(str, record['suggested']['anchor_ratios']))},),")
    return "\n".join(lines)


def _record(names: Sequence[str], bbox: np.ndarray, label: np.ndarray, args: argparse.Namespace) -> dict[str, Any]:
    plain = RetinaNetSettings()
    levels = range(args.first_level, plain.last_level + 1)
    strides = [2**level for level in levels]
    default_strides = [2**level for level in range(plain.first_level, plain.last_level + 1)]
    fit = fit_anchors(bbox, strides, n_size=args.sizes, n_ratio=args.ratios, thresh=_THRESH, seed=args.seed)
    ious = {
        "default": best_anchor_iou(bbox, plain.anchor_sizes, plain.anchor_ratios, default_strides),
        "suggested": best_anchor_iou(bbox, fit.sizes, fit.ratios, strides),
    }
    settings = {"default": (plain.anchor_sizes, plain.anchor_ratios), "suggested": fit}
    side = bbox[:, 2:] - bbox[:, :2]
    groups = cluster_boxes(side, min(args.k, len(np.unique(side, axis=0))), seed=args.seed)
    return {
        "groups": groups.tolist(),
        "groups_mean_iou": float(iou_at_offset(side, groups).max(axis=1).mean()),
        **{
            name: {
                "anchor_sizes": [list(row) for row in settings[name][0]],
                "anchor_ratios": list(settings[name][1]),
                "recall": float((iou >= _THRESH).mean()),
                "mean_iou": float(iou.mean()),
            }
            for name, iou in ious.items()
        },
        "classes": [
            {
                "name": name,
                "boxes": int((label == i).sum()),
                **{which: float((iou[label == i] >= _THRESH).mean()) for which, iou in ious.items()},
            }
            for i, name in enumerate(names)
            if (label == i).any()
        ],
    }


def _boxes(annotated: AnnotatedSet, min_size: int, max_size: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Boxes in the network's pixels (R, 4), labels (R,), and how many could not be used; crowds do not count."""
    names = {name: i for i, name in enumerate(annotated.used_names())}
    rows, labels, n_left_out = [], [], 0
    for image in annotated.images:
        objects = [each for each in image.objects if not each.extra.get("iscrowd")]
        size = _size(image) if objects else None
        for each in objects:
            bb = np.array(each.bbox if each.bbox is not None else (np.nan,) * 4, np.float64)
            if size is None or each.name is None or not (bb[2:] > bb[:2]).all() or not np.isfinite(bb).all():
                n_left_out += 1
                continue
            rows.append(bb * np.tile(np.divide(fitted_size(size, min_size, max_size), size), 2))
            labels.append(names[each.name])
    return np.array(rows, np.float32).reshape(-1, 4), np.array(labels, np.int32), n_left_out


def _size(image: AnnotatedImage) -> tuple[int, int] | None:
    if image.size is None and image.path is not None:
        try:
            return read_image_size(image.path)
        except (ImageError, OSError):
            return None
    return image.size if image.size is not None and min(image.size) > 0 else None
