"""`cvzoo predict`: images in, a table, pictures and JSON out."""

import argparse
import os
import pathlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from cvzoo.cli.draw_style import check_crops, draw_style, wanted_labels
from cvzoo.cli.ending_signals import Ended, EndingSignals
from cvzoo.cli.json_records import json_lines
from cvzoo.cli.load_predictor import Predictor, load_predictor, with_inference_options
from cvzoo.cli.main import in_words
from cvzoo.cli.option_values import FrameRange
from cvzoo.cli.photo_sources import Frame, Photo, Trouble, photo_sources, read_photo
from cvzoo.cli.predict_output import PredictOutput, frame_text
from cvzoo.cli.predicted_set import PredictedSet
from cvzoo.cli.presentation import Predicted
from cvzoo.cli.presentations import presentation_of
from cvzoo.cli.progress import Progress
from cvzoo.cli.result_table import printable
from cvzoo.errors.exceptions import BackendError, ConfigError, CvzooError
from cvzoo.images.video_kind import video_kind
from cvzoo.reporting.as_time import as_time
from cvzoo.reporting.counted import counted

_LISTED_AGAIN = 20  # images that could not be used, in the closing lines


def run(args: argparse.Namespace) -> int:
    """The exit status. Raises CvzooError or OSError if the model or the place for the results cannot be used."""
    model = load_predictor(args, quiet=args.quiet)
    presentation = presentation_of(model)
    predictor = with_inference_options(model, args)
    labels = wanted_labels(args, model)
    style = draw_style(args, getattr(model, "label_names", None))
    check_crops(args, model)
    out = _out_folder(args.out)
    data_set = None
    if args.save_format is not None:
        if out is None:
            raise ConfigError("--save-format needs a folder for the data set", hint="--out DIR")
        data_set = PredictedSet(model, out, args.save_format)
    lines = args.json_lines if args.json_lines is not None or out is None else out / "results.jsonl"
    listed = sys.stdin.buffer if "-" in args.photos else ()
    images, total = photo_sources(args.photos, listed, frames=_wanted_frames(args), quiet=args.quiet, without=out)
    draws = presentation.draw is not None and not args.no_draw
    if out is not None and draws:
        images = _kept_apart(images, out)
        if total is not None and not any(map(video_kind, args.photos)):
            images = list(images)  # refused before the first image, not at the thousandth
    unit = "frame" if all(video_kind(word) for word in args.photos) else "image"
    progress = Progress(None if args.quiet else sys.stderr, total=total, unit=unit)
    troubles: list[Trouble] = []

    def report(trouble: Trouble) -> None:
        progress.clear()
        print(f"cvzoo predict: {printable(trouble.name)}: {trouble.why}", file=sys.stderr)
        troubles.append(trouble)
        for _ in range(trouble.n_image):
            progress.step()

    output = PredictOutput(
        presentation,
        out,
        draws=draws,
        save_frames=args.save_frames,
        data_set=data_set,
        style=style,
        crops="masks" if args.crop_masks else "boxes" if args.crop else None,
    )
    status = 0
    try:
        with (
            EndingSignals() as signals,
            json_lines(lines, keep_empty=args.json_lines is not None) as write_line,
            output,
        ):
            for each in predict_photos(predictor, images, batch_size=args.batch_size, report=report, labels=labels):
                with signals.held():
                    record = output.write(each)
                    write_line(record)
                if not args.quiet and args.json_lines != "-":
                    progress.clear()
                    print(frame_text(record) if "frame" in record else presentation.table(record), flush=True)
                progress.step()
    except Ended as end:
        status = 128 + end.number  # as shells count
    progress.clear()
    _print_closing(progress, troubles, interrupted=status != 0, quiet=args.quiet, unit=unit)
    for line in () if args.quiet else output.closing:
        print(printable(line), file=sys.stderr)
    return status or (1 if troubles else 0)


def _out_folder(name: str | None) -> pathlib.Path | None:
    """The folder of `--out`, made if it is not there. Raises ConfigError for a file, OSError."""
    if name is None:
        return None
    out = pathlib.Path(name)
    if out.exists() and not out.is_dir():
        raise ConfigError(f"--out {out} is a file", expected="a folder, which is made if it is not there")
    out.mkdir(parents=True, exist_ok=True)
    return out


def _wanted_frames(args: argparse.Namespace) -> FrameRange:
    if args.frames is None:
        return FrameRange(step=args.frame_step or 1)
    if args.frame_step is not None:
        raise ConfigError("--frames and --frame-step cannot be combined", hint="--frames A:B:STEP")
    wanted: FrameRange = args.frames
    return wanted


def predict_photos(
    model: Predictor,
    images: Iterable[Photo | Trouble],
    *,
    batch_size: int,
    report: Callable[[Trouble], None],
    labels: Sequence[int] | None = None,
) -> Iterator[Predicted]:
    """The images in order, each with what the model says of it, read only `batch_size` ahead.

    model: has `predict(imgs, batch_size=...)`
    report: called with each image that cannot be used; the others go on
    labels: only objects or pixels of these classes; None: all
    """
    batch: list[tuple[Photo, np.ndarray]] = []
    for image in images:
        if isinstance(image, Trouble):
            report(image)
            continue
        try:
            batch.append((image, read_photo(image)))
        except (CvzooError, OSError, ValueError) as error:  # ValueError: a zero byte in a path
            report(Trouble(str(image), _without_name(error, image)))
            continue
        if len(batch) == batch_size:
            yield from _predict_batch(model, batch, report, labels)
            batch = []
    if batch:
        yield from _predict_batch(model, batch, report, labels)


def _predict_batch(
    model: Predictor,
    batch: list[tuple[Photo, np.ndarray]],
    report: Callable[[Trouble], None],
    labels: Sequence[int] | None,
) -> Iterator[Predicted]:
    try:
        result = model.predict([img for _, img in batch], batch_size=len(batch))
    except (BackendError, ConfigError):
        raise  # no image's fault: the next one would fail as well
    except CvzooError as error:
        if len(batch) == 1:
            report(Trouble(str(batch[0][0]), str(error)))
        else:  # one image must not take the others along
            for each in batch:
                yield from _predict_batch(model, [each], report, labels)
        return
    if labels is not None:
        result = result.filter(classes=labels)
    for i, (path, img) in enumerate(batch):
        yield Predicted(path, img, result, i)


def _kept_apart(images: Iterable[Photo | Trouble], out: pathlib.Path) -> Iterator[Photo | Trouble]:
    """The images. Raises ConfigError for one in the folder `out`, which would be overwritten by its visualization."""
    checked = set()
    for image in images:
        path = pathlib.Path(image.video) if isinstance(image, Frame) else image
        if isinstance(path, pathlib.Path) and path.parent not in checked:
            checked.add(path.parent)
            if path.is_file() and os.path.samefile(path.parent, out):
                raise ConfigError(
                    f"--out {out} is the folder of {path}: pictures with boxes would replace the images",
                    hint="another folder, or --no-draw",
                )
        yield image


def _print_closing(progress: Progress, troubles: list[Trouble], *, interrupted: bool, quiet: bool, unit: str) -> None:
    if interrupted:
        print(f"cvzoo predict: interrupted after {counted(progress.n_done, unit)}", file=sys.stderr)
    elif not quiet and progress.n_done > 1:
        print(f"{progress.text()}, {as_time(progress.elapsed)} in all", file=sys.stderr)
    if len(troubles) > 1 or (troubles and progress.n_done > 1):
        print(f"cvzoo predict: {len(troubles)} could not be used:", file=sys.stderr)
        for trouble in troubles[:_LISTED_AGAIN]:
            print(f"  {printable(trouble.name)}", file=sys.stderr)
        if len(troubles) > _LISTED_AGAIN:
            print(f"  and {len(troubles) - _LISTED_AGAIN} more", file=sys.stderr)


def _without_name(error: Exception, image: Photo) -> str:
    """The error without the leading image name, which the report adds."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return in_words(error).removeprefix(f"{image}: ")
