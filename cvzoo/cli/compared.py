"""Two sets of predictions on the same images, ready to be compared."""

import argparse
import dataclasses
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.cli.load_predictor import means_file
from cvzoo.cli.zoo_member import zoo_member
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.comparison.bootstrap import Scores
from cvzoo.typing.aliases import Array
from cvzoo.visualizations.report.detection_report import ReportPicture
from cvzoo.weights.model_header import read_model_header

_RESULTS = (".json", ".csv", ".tsv", ".txt")
_OF_EVALUATE: Mapping[str, Any] = {
    "plus": None,
    "explain": None,
    "find_thresholds": None,
    "save_results": None,
    "max_dets": None,
    "score": None,
    "score_thresh": None,
    "nms_thresh": None,
    "cfg": None,
    "weights": None,
    "resize": None,
    "clip": None,
}


@dataclasses.dataclass(frozen=True, eq=False)
class Compared:
    """Two sets of predictions on the same images.

    scores: of A and of B under weights of the images; summary: names of the first scores
    classes: names of the other scores, one per class; n_objects: (K,) int, what each class has in the ground truth
    counted: what n_objects counts ("objects", "images", "pixels")
    photos: names of the images
    of_images: (2, I) float64, a number of each image for A and B; NaN: without
    measure: what that number is; is_error: whether less is better
    pictures: from indices of images, pictures of both predictions
    notes: remarks for the reader
    """

    scores: tuple[Scores, Scores]
    summary: tuple[str, ...]
    classes: tuple[str, ...]
    n_objects: Array
    counted: str
    images: Sequence[str]
    of_images: Array
    measure: str
    is_error: bool
    pictures: Callable[[Sequence[int]], Iterator[ReportPicture]]
    notes: Sequence[str]

    def changed(self, most: int) -> tuple[list[int], list[int]]:
        """The images that are better with B, and those that are worse, each the largest change first."""
        change = np.nan_to_num(self.of_images[1] - self.of_images[0]) * (-1 if self.is_error else 1)
        # stable, so that equal changes stay in the order of the images on every machine
        better, worse = (np.argsort(sign * change, kind="stable")[:most] for sign in (-1, 1))
        return [int(i) for i in better if change[i] > 0], [int(i) for i in worse if change[i] < 0]


def side(args: argparse.Namespace, word: str) -> argparse.Namespace:
    """The options of `cvzoo evaluate` for a model or results, which are opened, but not read.

    Raises ConfigError if a file does not exist, ValueRangeError for no model of the zoo, FileFormatError for a file
    whose header is damaged: both sides are made first, so that neither is evaluated in vain.

    word: a model's name or file, or a file or folder of results
    """
    path = pathlib.Path(word)
    is_results = path.is_dir() or path.suffix.lower() in _RESULTS
    if (is_results or means_file(word)) and not path.exists():
        raise ConfigError(f"{word} does not exist", expected="a model or results")
    if (best := path / "best.safetensors").is_file():
        raise ConfigError(f"{word} is the folder of a run, not a model or results", hint=str(best))
    given = dict(_OF_EVALUATE) | vars(args)
    chosen = {"model": None, "results": word} if is_results else {"model": word, "results": None}
    if not is_results and args.data is None:
        raise ConfigError(f"{word} is a model and needs images to predict on", hint="--data SPEC instead of --gt")
    if not is_results and means_file(word):
        read_model_header(word)
    elif not is_results:
        zoo_member(word)
    return argparse.Namespace(**(given | chosen))
