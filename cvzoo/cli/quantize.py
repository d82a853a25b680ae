"""`cvzoo quantize IMAGE... --model NAME --to OUT.safetensors`: quantizes a model to int8 or bfloat16."""

import argparse
import contextlib
import io
import json
import pathlib
import sys
import tempfile
from collections.abc import Sequence

import numpy as np

from cvzoo.cli import evaluate
from cvzoo.cli.load_predictor import load_predictor
from cvzoo.cli.options.evaluate import add_arguments
from cvzoo.cli.photo_sources import Trouble, photo_sources, read_photo
from cvzoo.cli.result_table import printable
from cvzoo.cli.score_text import comparison_text
from cvzoo.errors.exceptions import ConfigError, CvzooError
from cvzoo.links.quantization.quantizable import AbstractQuantizable
from cvzoo.reporting.score_meanings import MEANINGS
from cvzoo.serializers.model_file import save_model


def run(args: argparse.Namespace) -> int:
    """Returns 0. Raises ConfigError for unusable models or images, UnsupportedError on CPUs without bfloat16."""
    to = pathlib.Path(args.to)
    if to.suffix.lower() != ".safetensors":
        raise ConfigError("--to must end in .safetensors, the extension of model files", got=args.to)
    if not to.parent.is_dir():
        raise ConfigError(f"--to {args.to}: the folder does not exist")
    if args.evaluate is None and (args.evaluate_photos is not None or args.evaluate_split is not None):
        raise ConfigError("--evaluate-photos and --evaluate-split need --evaluate")
    if args.limit < 1:
        raise ConfigError("--limit must be at least 1", got=args.limit)
    if args.device != "cpu":
        raise ConfigError("models are quantized on the CPU", got=f"--device {args.device}", hint="--device cpu")
    if args.dtype != "float32":
        raise ConfigError("models are quantized from float32", got=f"--dtype {args.dtype}", hint="--dtype float32")
    model = load_predictor(args)
    if not isinstance(model, AbstractQuantizable):
        raise ConfigError(f"a {type(model).__name__} cannot be quantized")
    images = _photos(args.photos, args.limit)
    # before anything is written, since data that cannot be evaluated are an error
    spec: str | None = args.evaluate
    before = None if spec is None else evaluated([*_model_words(args), *_data_words(args)])
    quantized = model.quantize(images, precision=args.precision, method=args.method, in_float=args.in_float)
    save_model(to, quantized)
    print(quantized.quantization_report)
    weights = sum(array.nbytes for array in model.state_arrays().values())
    print(f"\nwritten: {printable(str(to))}, {to.stat().st_size / 1e6:.1f} MB; in float32 {weights / 1e6:.1f} MB")
    if spec is None or before is None:
        print("the loss of accuracy was not measured: use --evaluate SPEC with annotated images")
    else:
        after = evaluated(["--model", str(to), *_threshold_words(args), *_data_words(args)])
        print(f"\non {printable(spec)}:")
        print(comparison_text({"float32": before, args.precision: after}))
    return 0


def _model_words(args: argparse.Namespace) -> list[str]:
    """The options of `cvzoo evaluate` for the model that is quantized."""
    clip = ["--clip"] if args.clip else []
    return [
        *_options(args, "model", "architecture", "cfg", "weights", "names", "resize"),
        *clip,
        *_threshold_words(args),
    ]


def _threshold_words(args: argparse.Namespace) -> list[str]:
    return _options(args, "score", "score_thresh", "nms_thresh")


def _data_words(args: argparse.Namespace) -> list[str]:
    named = {"--data": args.evaluate, "--photos": args.evaluate_photos, "--split": args.evaluate_split}
    return [word for option, value in named.items() if value is not None for word in (option, value)]


def _options(args: argparse.Namespace, *names: str) -> list[str]:
    values = [(f"--{name.replace('_', '-')}", vars(args)[name]) for name in names]
    return [word for option, value in values if value is not None for word in (option, str(value))]


def _photos(words: list[str], limit: int) -> list[np.ndarray]:
    """At most `limit` of the images. Raises ConfigError if one cannot be read."""
    paths, _ = photo_sources(words, sys.stdin.buffer if "-" in words else ())
    paths = list(paths)
    images = []
    for k in np.unique(np.linspace(0, len(paths) - 1, min(limit, len(paths))).round().astype(int)):
        path = paths[k]
        if isinstance(path, Trouble):
            raise ConfigError(f"{printable(path.name)} cannot be used: {path.why}")
        try:
            images.append(read_photo(path))
        except (CvzooError, OSError, ValueError) as error:
            raise ConfigError(f"{printable(str(path))} cannot be read: {error}") from error
    return images


def evaluated(words: Sequence[str]) -> dict[str, float]:
    """Scores by name, in the order in which `cvzoo evaluate` with these words prints them; progress on standard error.

    Raises what `cvzoo evaluate` raises.
    """
    parser = argparse.ArgumentParser(prog="cvzoo evaluate", allow_abbrev=False)
    add_arguments(parser)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        path = pathlib.Path(folder) / "scores.json"
        evaluate.run(parser.parse_args([*words, "--json", str(path)]))
        record = json.loads(path.read_bytes())
    return {key: record[key] for key in record if key in MEANINGS}
