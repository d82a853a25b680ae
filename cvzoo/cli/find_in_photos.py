"""Runs a detector on images, with progress on standard error."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from cvzoo.cli.load_detector import Finder
from cvzoo.cli.progress import Progress
from cvzoo.links.model.detections import AbstractInstances
from cvzoo.reporting.as_time import as_time


def find_in_photos(
    model: Finder, photos: Iterable[Any], total: int, args: argparse.Namespace
) -> Iterator[AbstractInstances]:
    """The predictions for each image; only `--batch-size` images are in memory. Raises ImageError that names it."""
    progress = Progress(None if args.quiet else sys.stderr, total=total)
    try:
        for found in model.predict_each(photos, batch_size=args.batch_size):
            progress.step()
            yield found
    finally:
        progress.clear()
    if not args.quiet:
        print(f"{progress.text()}, {as_time(progress.elapsed)} in all", file=sys.stderr)
