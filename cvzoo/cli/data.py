"""`cvzoo data`: check, convert, split and show data sets."""

import argparse

from cvzoo.cli import data_anchors, data_check, data_convert, data_show, data_split

_ACTIONS = {
    "anchors": data_anchors,
    "check": data_check,
    "convert": data_convert,
    "show": data_show,
    "split": data_split,
}
_SUMMARIES = {
    "anchors": "suggest a detector's anchors, and say how well the usual ones fit",
    "check": "find and name what is wrong with photos and annotations; perhaps write a corrected copy",
    "convert": "copy a data set into another layout: VOC, COCO or YOLO",
    "show": "draw photos with their boxes, masks and points into one picture",
    "split": "make train, val and test with the same mix of classes, without copying photos",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Look after data sets: check, convert, split, look at and measure them."
    actions = parser.add_subparsers(metavar="ACTION", title="actions", dest="action", required=True)
    for name, module in _ACTIONS.items():
        module.add_arguments(actions.add_parser(name, help=_SUMMARIES[name], allow_abbrev=False))


def run(args: argparse.Namespace) -> int:
    """The exit status of the action."""
    return _ACTIONS[args.action].run(args)
