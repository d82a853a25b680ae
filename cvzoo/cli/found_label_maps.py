"""The predicted label maps to evaluate: stored files, or those of a semantic segmentation network."""

import argparse
import pathlib
from typing import NamedTuple

import numpy as np

from cvzoo.cli.load_predictor import compile_if_asked, load_predictor
from cvzoo.errors.exceptions import ConfigError
from cvzoo.images.read_label import read_label
from cvzoo.links.model.segmenter import AbstractSegmenter


class StoredMaps(NamedTuple):
    """Image files whose pixel values are labels.

    folder: of the files; names: of the classes, or None
    """

    folder: pathlib.Path
    names: list[str] | None

    def read(self, path: pathlib.Path) -> np.ndarray:
        """The label map (H, W) int32 in a file of the folder."""
        return read_label(path)


class PredictedMaps(NamedTuple):
    """Images for a semantic segmentation network.

    folder: of the images; names: of the classes, or None
    """

    folder: pathlib.Path
    names: list[str] | None
    model: AbstractSegmenter

    def read(self, path: pathlib.Path) -> np.ndarray:
        """The predicted label map (H, W) int32 of a file of the folder."""
        return self.model.predict([path])[0]


def predicted_maps(args: argparse.Namespace) -> PredictedMaps:
    """The predictions of the model of the options. Raises ConfigError if it is no semantic segmentation network."""
    if args.photos is None:
        raise ConfigError("the folder of the images is missing", hint="--photos DIR, with the label maps' file names")
    model = load_predictor(args)
    if not isinstance(model, AbstractSegmenter):
        raise ConfigError(
            f"{args.model or args.cfg} is not a semantic segmentation network",
            hint="cvzoo models list --task segmentation",
        )
    compile_if_asked(model, args)
    names = None if model.label_names is None else list(model.label_names)
    return PredictedMaps(pathlib.Path(args.photos), names, model)
