"""Runs a detector on images, with progress on standard error."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from cvzoo.cli.load_detector import Finder
from cvzoo.cli.progress import Progress
from cvzoo.images.read_image import ImageSource
from cvzoo.links.model.detections import AbstractInstances
from cvzoo.reporting.as_time import as_time


def find_in_photos(
    model: Finder, images: Iterable[ImageSource | Any], total: int, args: argparse.Namespace
) -> Iterator[AbstractInstances]:
    """The predictions for each image; only `--batch-size` images are in memory. Raises ImageError that names it."""
    progress = Progress(None if args.quiet else sys.stderr, total=total)
    try:
        for result in model.predict_each(images, batch_size=args.batch_size):
            progress.step()
            yield result
    finally:
        progress.clear()
    if not args.quiet:
        print(f"{progress.text()}, {as_time(progress.elapsed)} in all", file=sys.stderr)
