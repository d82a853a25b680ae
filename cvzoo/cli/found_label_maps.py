"""The label maps to score: those in files, or those that a segmenter gives photos."""

import argparse
import pathlib
from typing import NamedTuple

import numpy as np

from cvzoo.cli.load_predictor import compile_if_asked, load_predictor
from cvzoo.errors.exceptions import ConfigError
from cvzoo.images.read_label import read_label
from cvzoo.links.model.segmenter import AbstractSegmenter


class StoredMaps(NamedTuple):
    """Files whose pixels are class numbers.

    folder: of the files; names: of the classes, or None
    """

    folder: pathlib.Path
    names: list[str] | None

    def read(self, path: pathlib.Path) -> np.ndarray:
        """The map (H, W) int32 that belongs to a file of the folder."""
        return read_label(path)


class PredictedMaps(NamedTuple):
    """Photos that a segmenter looks at.

    folder: of the photos; names: of the classes, or None
    """

    folder: pathlib.Path
    names: list[str] | None
    model: AbstractSegmenter

    def read(self, path: pathlib.Path) -> np.ndarray:
        """The map (H, W) int32 that belongs to a file of the folder."""
        return self.model.predict([path])[0]


def predicted_maps(args: argparse.Namespace) -> PredictedMaps:
    """The maps of the model and the photos that the options name. Raises ConfigError if it is no segmenter."""
    if args.photos is None:
        raise ConfigError("which photos belong to the label maps?", hint="--photos DIR, files named as the maps")
    model = load_predictor(args)
    if not isinstance(model, AbstractSegmenter):
        raise ConfigError(f"{args.model or args.cfg} gives no label maps", hint="cvzoo models list --task segmentation")
    compile_if_asked(model, args)
    names = None if model.label_names is None else list(model.label_names)
    return PredictedMaps(pathlib.Path(args.photos), names, model)
