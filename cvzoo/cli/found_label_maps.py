"""The predicted label maps to evaluate: stored files, or those of a semantic segmentation network."""

import argparse
import pathlib
from typing import NamedTuple, TypeAlias

import numpy as np
from PIL import Image

from cvzoo.cli.label_map_truth import LabelMapTruth, MapValues, maps_by_stem
from cvzoo.cli.load_predictor import Predictor, load_predictor, with_inference_options
from cvzoo.cli.match_classes import class_indices
from cvzoo.errors.exceptions import ConfigError, DatasetError, FileFormatError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.images.read_label import read_label
from cvzoo.links.model.segmenter import AbstractSegmenter
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Array, ClassMap
from cvzoo.visualizations.colors import label_color


class StoredMaps(NamedTuple):
    """Image files whose pixel values are labels.

    paths: one per image; values: what the pixels mean; names: of the classes, or None
    """

    paths: list[pathlib.Path]
    values: MapValues
    names: tuple[str, ...] | None

    def read(self, i: int) -> ClassMap:
        """The label map (H, W) int32 of image `i`, -1 for pixels of no class."""
        return self.values.decoded(read_label(self.paths[i]))


class PredictedMaps(NamedTuple):
    """Images for a semantic segmentation network.

    paths: of the images; names: of the classes, or None; label_of: the ground truth's label of each of the model's
    """

    paths: list[pathlib.Path]
    names: tuple[str, ...] | None
    predictor: Predictor
    label_of: Array | None

    def read(self, i: int) -> ClassMap:
        """The predicted label map (H, W) int32 of image `i`, -1 for pixels of classes that the ground truth lacks."""
        label = self.predictor.predict([self.paths[i]])[0]
        return label if self.label_of is None else self.label_of[label].astype(np.int32)


Maps: TypeAlias = StoredMaps | PredictedMaps


def stored_maps(
    truth: LabelMapTruth, results: str, names: str | None, limit: int | None
) -> tuple[StoredMaps, list[str]]:
    """The label maps of a folder of results, and notes. Raises DatasetError for a missing one.

    names: a file with the classes of the ground truth, one per line; limit: None if all images are evaluated
    """
    if names is not None and truth.names is not None:
        raise ConfigError(f"--names cannot be combined with {truth.spec}, whose classes are known")
    files: dict[str, pathlib.Path] = {}
    for name, path in maps_by_stem(pathlib.Path(results)).items():
        key = truth.key_of(name)
        if files.setdefault(key, path) != path:
            raise DatasetError(f"{path}: another label map is of the same image", got=files[key])
    absent = [key for key in truth.keys if key not in files]
    if absent:
        raise DatasetError(
            f"{results}: no label map for {len(absent)} of {counted(len(truth.keys), 'image')}, first {absent[0]}",
            expected=f"the file names of {truth.spec}",
            hint="--limit N for only the first N",
        )
    maps = StoredMaps([files[key] for key in truth.keys], truth.values, truth.names or _names(names))
    return maps, _more(len(files) - len(truth.keys), "label maps in the results", limit)


def predicted_maps(args: argparse.Namespace, truth: LabelMapTruth) -> tuple[PredictedMaps, list[str]]:
    """The predictions of the model of the options, and notes.

    Raises ConfigError if it is no semantic segmentation network, DatasetError for a missing image.
    """
    images = truth.images
    notes: list[str] = []
    if images is None:
        if args.photos is None:
            raise ConfigError(
                "the folder of the images is missing", hint="--images DIR, with the label maps' file names"
            )
        paths = maps_by_stem(pathlib.Path(args.photos))
        absent = [key for key in truth.keys if key not in paths]
        if absent:
            raise DatasetError(
                f"{args.photos}: no image for {len(absent)} of {counted(len(truth.keys), 'label map')}, first "
                f"{absent[0]}",
                expected=f"the file names of {truth.spec}",
            )
        images = [paths[key] for key in truth.keys]
        notes = _more(len(paths) - len(images), "images", args.limit)
    elif args.photos is not None:
        raise ConfigError(f"--images cannot be combined with {truth.spec}, whose images are known")
    model = load_predictor(args, quiet=args.quiet)
    if not isinstance(model, AbstractSegmenter):
        raise ConfigError(
            f"{args.model or args.cfg} is not a semantic segmentation network",
            hint="cvzoo models list --task segmentation",
        )
    predictor = with_inference_options(model, args)
    own = None if model.label_names is None else tuple(model.label_names)
    if truth.names is None:
        return PredictedMaps(images, own, predictor, None), notes
    return PredictedMaps(images, truth.names, predictor, class_indices(own, model.n_class, truth.names)), notes


def _more(n: int, what: str, limit: int | None) -> list[str]:
    return [f"{n} more {what} were ignored"] if n > 0 and limit is None else []


def save_map(folder: pathlib.Path, key: str, label: ClassMap, values: MapValues) -> None:
    """Writes a label map in the data set's pixel values: a PNG with a palette, or gray of 16 bits for many classes."""
    pixels = values.encoded(label)
    path = folder / f"{key}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    if pixels.max(initial=0) > 255:
        picture = Image.fromarray(pixels.astype(np.uint16))
    else:
        picture = Image.fromarray(pixels.astype(np.uint8), mode="P")
        picture.putpalette([part for value in range(256) for part in label_color(value)])
    with atomic_write(path) as file:
        picture.save(file, format="PNG")


def _names(path: str | None) -> tuple[str, ...] | None:
    if path is None:
        return None
    try:
        lines = pathlib.Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path} is not a list of names in UTF-8") from error
    return tuple(line.strip() for line in lines if line.strip())
