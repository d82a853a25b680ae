"""Ground truth of instance masks in Pascal VOC's folders and in the Semantic Boundaries Dataset (SBD)."""

import argparse
import pathlib

import numpy as np

from cvzoo.cli.truth import COCOTruth
from cvzoo.datasets.voc.sbd_dataset import SBDInstanceSegmentationDataset
from cvzoo.datasets.voc.segmentation_datasets import VOCInstanceSegmentationDataset
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.geometry.rle import RLEs


def means_voc_masks(args: argparse.Namespace) -> bool:
    """Whether the ground truth of a command line is `sbd:ROOT`, or `voc:ROOT` with --iou-type segm."""
    kind = (args.data or args.gt or "").partition(":")[0]
    return kind == "sbd" or (kind == "voc" and args.iou_type == "segm")


def load_mask_truth(args: argparse.Namespace) -> COCOTruth:
    """The objects of the images of --split, by default val, with their masks, as COCO's columns.

    The ids of images are the digits of their names, 2007000033 of 2007_000033, as in the usual conversions to COCO's
    format; the ids of classes are 1 to 20.
    Raises ConfigError for a malformed specification, DatasetError if files are missing.
    """
    if (args.data is None) == (args.gt is None):
        raise ConfigError(
            "evaluate needs one ground truth", hint="--data SPEC to run a model, or --gt SPEC for --results"
        )
    spec = args.data if args.gt is None else args.gt
    kind, _, root = spec.partition(":")
    if not root:
        raise ConfigError(f"{spec}: the folder of the data set is missing", expected=f"{kind}:FOLDER")
    dataset: VOCInstanceSegmentationDataset | SBDInstanceSegmentationDataset
    if kind == "sbd":
        dataset = SBDInstanceSegmentationDataset(root, args.split or "val")
    else:
        dataset = VOCInstanceSegmentationDataset(root, args.split or "val")
    n = len(dataset) if args.limit is None else min(args.limit, len(dataset))
    objects = dataset.slice[:n, ("mask", "label")]
    masks, labels, sizes = [], [], []
    for mask, label in (objects[i] for i in range(n)):
        masks.append(RLEs.from_masks(mask))
        labels.append(label)
        sizes.append(mask.shape[1:])
    paths = [pathlib.Path(dataset.name(i)) for i in range(n)]
    ids = _ids([path.stem for path in paths])
    rle = RLEs.concatenate(masks)
    y_min, x_min, y_max, x_max = rle.to_bbox().astype(np.float64).reshape(-1, 4).T
    gt = COCOGroundTruth(
        img_ids=ids,
        cat_ids=np.arange(1, len(dataset.label_names) + 1),
        image_id=np.repeat(ids, [len(label) for label in labels]),
        category_id=np.concatenate([np.zeros(0, np.int64), *labels]) + 1,
        bbox=np.stack((x_min, y_min, x_max - x_min, y_max - y_min), axis=1),
        area=rle.area().astype(np.float64),
        crowd=np.zeros(len(rle), bool),
        masks=rle,
        img_sizes=np.array(sizes, np.int64).reshape(-1, 2),
        cat_names=dataset.label_names,
    )
    names = dict(zip(ids.tolist(), (path.name for path in paths)))
    return COCOTruth(pathlib.Path(root), gt, names, paths, has_own_ids=True)


def _ids(names: list[str]) -> np.ndarray:
    """(I,) int64: the digits of the names, or 1, 2, 3 ... if that is ambiguous."""
    digits = ["".join(letter for letter in name if letter in "0123456789")[:18] for name in names]
    if len(set(digits)) < len(digits) or "" in digits:
        return np.arange(1, len(names) + 1)
    return np.array(digits, np.int64)
