"""`cvzoo predict`: images in, a table, pictures and JSON out."""

import argparse
import os
import pathlib
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from cvzoo.cli.json_records import json_lines, write_json
from cvzoo.cli.load_predictor import load_predictor, with_inference_options
from cvzoo.cli.main import INTERRUPTED, in_words
from cvzoo.cli.photo_sources import Photo, Trouble, path_of, photo_sources, read_photo
from cvzoo.cli.picture_names import PictureNames
from cvzoo.cli.presentation import Presentation
from cvzoo.cli.presentations import presentation_of
from cvzoo.cli.progress import Progress
from cvzoo.cli.result_table import printable
from cvzoo.errors.exceptions import BackendError, ConfigError, CvzooError
from cvzoo.images.write_image import write_image
from cvzoo.reporting.as_time import as_time

_LISTED_AGAIN = 20  # images that could not be used, in the closing lines


class Predicted(NamedTuple):
    """An image that went through the model: its path or address, its pixels, its place in what `predict` gave."""

    path: Photo
    img: np.ndarray
    found: Any
    i: int


def run(args: argparse.Namespace) -> int:
    """The exit status. Raises CvzooError or OSError if the model or the place for the results cannot be used."""
    model = load_predictor(args)
    presentation = presentation_of(model)
    predictor = with_inference_options(model, args)
    out = None if args.out is None else pathlib.Path(args.out)
    if out is not None:
        if out.exists() and not out.is_dir():
            raise ConfigError(f"--out {out} is a file", expected="a folder, which is made if it is not there")
        out.mkdir(parents=True, exist_ok=True)
    lines = args.json_lines if args.json_lines is not None or out is None else out / "results.jsonl"
    listed = sys.stdin.buffer if "-" in args.photos else ()
    photos, total = photo_sources(args.photos, listed, frame_step=args.frame_step)
    draws = presentation.draw is not None and not args.no_draw
    if out is not None and draws:
        photos = _kept_apart(photos, out)
        if total is not None:
            photos = list(photos)  # refused before the first image, not at the thousandth
    progress = Progress(None if args.quiet else sys.stderr, total=total)
    names = PictureNames()
    troubles: list[Trouble] = []

    def report(trouble: Trouble) -> None:
        progress.clear()
        print(f"cvzoo predict: {printable(trouble.name)}: {trouble.why}", file=sys.stderr)
        troubles.append(trouble)
        progress.step()

    status = 0
    try:
        with json_lines(lines) as write_line:
            for each in predict_photos(predictor, photos, batch_size=args.batch_size, report=report):
                record = _written(each, presentation, out, names, draws=draws)
                write_line(record)
                if not args.quiet and args.json_lines != "-":
                    progress.clear()
                    print(presentation.table(record), flush=True)
                progress.step()
    except KeyboardInterrupt:
        status = INTERRUPTED
    progress.clear()
    _print_closing(progress, troubles, interrupted=status == INTERRUPTED, quiet=args.quiet)
    return status or (1 if troubles else 0)


def predict_photos(
    model: Any,
    photos: Iterable[Photo | Trouble],
    *,
    batch_size: int,
    report: Callable[[Trouble], None],
) -> Iterator[Predicted]:
    """The images in order, each with what the model says of it, read only `batch_size` ahead.

    model: has `predict(imgs, batch_size=...)`
    report: called with each image that cannot be used; the others go on
    """
    batch: list[tuple[Photo, np.ndarray]] = []
    for photo in photos:
        if isinstance(photo, Trouble):
            report(photo)
            continue
        try:
            batch.append((photo, read_photo(photo)))
        except (CvzooError, OSError, ValueError) as error:  # ValueError: a zero byte in a path
            report(Trouble(str(photo), _without_name(error, photo)))
            continue
        if len(batch) == batch_size:
            yield from _predict_batch(model, batch, report)
            batch = []
    if batch:
        yield from _predict_batch(model, batch, report)


def _predict_batch(
    model: Any, batch: list[tuple[Photo, np.ndarray]], report: Callable[[Trouble], None]
) -> Iterator[Predicted]:
    try:
        found = model.predict([img for _, img in batch], batch_size=len(batch))
    except (BackendError, ConfigError):
        raise  # no image's fault: the next one would fail as well
    except CvzooError as error:
        if len(batch) == 1:
            report(Trouble(str(batch[0][0]), str(error)))
        else:  # one image must not take the others along
            for each in batch:
                yield from _predict_batch(model, [each], report)
        return
    for i, (path, img) in enumerate(batch):
        yield Predicted(path, img, found, i)


def _written(
    each: Predicted, presentation: Presentation, out: pathlib.Path | None, names: PictureNames, *, draws: bool
) -> dict:
    """Writes the image with its predictions and its JSON to `out`, and returns the record."""
    size = each.img.shape[1:]
    if out is None:
        return presentation.record(str(each.path), size, each.found, each.i, None)
    name, ending = names.of(path_of(each.path))
    picture = f"{name}{ending}" if draws else None
    if picture is not None and presentation.draw is not None:
        write_image(presentation.draw(each.found, each.i, each.img), out / picture)
    record = presentation.record(str(each.path), size, each.found, each.i, picture)
    if presentation.write_more is not None:
        record |= presentation.write_more(each.found, each.i, out, name)
    write_json(record, out / f"{name}.json")
    return record


def _kept_apart(photos: Iterable[Photo | Trouble], out: pathlib.Path) -> Iterator[Photo | Trouble]:
    """The images; ConfigError at one that lies in `out`, since a picture with boxes would take its place."""
    checked = set()
    for photo in photos:
        if isinstance(photo, pathlib.Path) and photo.parent not in checked:
            checked.add(photo.parent)
            if photo.parent.is_dir() and os.path.samefile(photo.parent, out):
                raise ConfigError(
                    f"--out {out} is the folder of {photo}: pictures with boxes would replace the images",
                    hint="another folder, or --no-draw",
                )
        yield photo


def _print_closing(progress: Progress, troubles: list[Trouble], *, interrupted: bool, quiet: bool) -> None:
    if interrupted:
        print(f"cvzoo predict: interrupted after {progress.n_done} images", file=sys.stderr)
    elif not quiet and progress.n_done > 1:
        print(f"{progress.text()}, {as_time(progress.elapsed)} in all", file=sys.stderr)
    if len(troubles) > 1 or (troubles and progress.n_done > 1):
        print(f"cvzoo predict: {len(troubles)} could not be used:", file=sys.stderr)
        for trouble in troubles[:_LISTED_AGAIN]:
            print(f"  {printable(trouble.name)}", file=sys.stderr)
        if len(troubles) > _LISTED_AGAIN:
            print(f"  and {len(troubles) - _LISTED_AGAIN} more", file=sys.stderr)


def _without_name(error: Exception, photo: Photo) -> str:
    """What is wrong, without the image's name in front, which the report puts there."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return in_words(error).removeprefix(f"{photo}: ")
