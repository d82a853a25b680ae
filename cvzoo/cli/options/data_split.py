"""`cvzoo data split`: split a data set into train, val and test, stratified by class, without copying images."""

import argparse

from cvzoo.cli.data_options import add_spec_argument


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Splits a data set into a training set, a validation set and optionally a test set, stratified by class. Lists "
        "(for COCO: JSON files) are written, no images are copied; the same seed gives the same split."
    )
    add_spec_argument(parser)
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="the folder of the lists or JSON files; default: that of the layout, for COCO the folder of FILE.json",
    )
    parser.add_argument("--val", type=_part, default=0.2, metavar="F", help="fraction of the images for val (0.2)")
    parser.add_argument("--test", type=_part, default=0.0, metavar="F", help="fraction of the images for test (0)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="random seed (0)")
    group = parser.add_argument_group("images to keep in the same part (options can be combined)")
    group.add_argument(
        "--group-by",
        metavar="REGEX",
        help="images whose names have the same match (of the first group, if any): '^(video[0-9]+)_'",
    )
    group.add_argument(
        "--group-column", metavar="FIELD", help="images with the same value of this field in their records: video_id"
    )
    group.add_argument(
        "--group-duplicates", action="store_true", help="duplicates and near-duplicates; decodes every image"
    )
    parser.add_argument("--replace", action="store_true", help="overwrite existing lists")
    parser.add_argument("--quiet", action="store_true", help="no progress and no table")


def _part(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"expected a fraction from 0 to less than 1, not {text!r}")
    return value
