"""`cvzoo data split`: make train, val and test with the same mix of classes, without copying photos."""

import argparse

from cvzoo.cli.data_options import add_spec_argument


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Split a data set into train, val and perhaps test, each with the same mix of classes. Lists are written (of "
        "COCO: JSON files), no photo is copied; the same seed gives the same split."
    )
    add_spec_argument(parser)
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="the folder of the lists or JSON files; default: where the layout has them, for COCO beside FILE.json",
    )
    parser.add_argument("--val", type=_part, default=0.2, metavar="SHARE", help="share of the photos for val (0.2)")
    parser.add_argument("--test", type=_part, default=0.0, metavar="SHARE", help="share of the photos for test (0)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="random seed (0)")
    group = parser.add_argument_group("photos that stay together (they may be combined)")
    group.add_argument(
        "--group-by",
        metavar="REGEX",
        help="photos in whose names this finds the same text (that of its first group, if any): '^(video[0-9]+)_'",
    )
    group.add_argument(
        "--group-column", metavar="FIELD", help="photos with the same value in this field of their records: video_id"
    )
    group.add_argument(
        "--group-duplicates", action="store_true", help="duplicates and near-duplicates; decodes every photo"
    )
    parser.add_argument("--replace", action="store_true", help="replace lists that are there already")
    parser.add_argument("--quiet", action="store_true", help="no progress and no table")


def _part(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"a share from 0 to less than 1, not {text!r}")
    return value
