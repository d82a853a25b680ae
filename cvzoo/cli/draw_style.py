"""How `cvzoo predict` draws, and what of an object it writes as an image of its own."""

import argparse
import pathlib

import numpy as np
from PIL import Image as PILImage

from cvzoo.cli.picture_names import plain_name
from cvzoo.errors.exceptions import ConfigError, ValueRangeError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.images.write_image import to_pil, write_image
from cvzoo.links.chain import Chain
from cvzoo.links.model.detections import AbstractInstances
from cvzoo.links.model.instance_segmentations import InstanceSegmentations
from cvzoo.links.model.instance_segmenter import AbstractInstanceSegmenter
from cvzoo.links.model.result import label_of
from cvzoo.links.model.segmenter import AbstractSegmenter
from cvzoo.links.model.thresholds import AbstractThresholds
from cvzoo.typing.aliases import LabelNames
from cvzoo.visualizations.colors import class_color
from cvzoo.visualizations.draw_bbox import DrawStyle
from cvzoo.visualizations.voc_colormap import voc_colormap

_N_VOC = 256  # colors of VOC's palette


def draw_style(args: argparse.Namespace, label_names: LabelNames | None) -> DrawStyle:
    """The style of the options. Raises ValueRangeError for a color or a class that does not exist."""
    colors = args.colors
    if colors == "voc":
        # label 0 is the first class here, in VOC's palette the background
        colors = [tuple(each) for each in voc_colormap(range(1, _N_VOC)).tolist()]
    class_color(colors, label_names)
    return DrawStyle(args.line_width, colors, not args.no_labels, not args.no_scores)


def wanted_labels(args: argparse.Namespace, model: Chain) -> list[int] | None:
    """The labels of `--classes`, names or numbers; None without the option.

    Raises ConfigError for an image classifier, ValueRangeError for a class that the model lacks, or no class.
    """
    if args.classes is None:
        return None
    if not isinstance(model, AbstractThresholds | AbstractSegmenter):
        raise ConfigError("--classes applies to objects and label maps, not to the classes of whole images")
    if not args.classes:
        raise ValueRangeError("--classes names no class", expected="names or numbers, comma-separated")
    names: LabelNames | None = getattr(model, "label_names", None)
    n_class = model.n_class if isinstance(model, AbstractSegmenter) else model.n_fg_class
    labels = []
    for each in args.classes:
        is_number = each.isdecimal() and (names is None or each not in names)
        labels.append(int(each) if is_number else label_of(each, names))
        if labels[-1] >= n_class:
            raise ValueRangeError(f"there is no class {each}", expected=f"numbers from 0 to {n_class - 1}, or names")
    return labels


def check_crops(args: argparse.Namespace, model: Chain) -> None:
    """Raises ConfigError if `--crop` or `--crop-masks` does not apply."""
    for option, is_given, kind, what in (
        ("--crop", args.crop, AbstractThresholds, "models that detect objects"),
        ("--crop-masks", args.crop_masks, AbstractInstanceSegmenter, "instance segmentation"),
    ):
        if is_given and not isinstance(model, kind):
            raise ConfigError(f"{option} applies to {what}, which a {type(model).__name__} is not for")
        if is_given and args.out is None:
            raise ConfigError(f"{option} needs a folder", hint="--out DIR")


def write_crops(
    result: AbstractInstances, i: int, img: np.ndarray, folder: pathlib.Path, name: str, *, masked: bool
) -> list[str]:
    """Writes the part of image `i` in each box to CLASS/NAME_NUMBER.jpg, and returns these names.

    masked: as .png whose pixels outside of the object's mask are transparent
    """
    written = []
    masks = result.masks[i] if masked and isinstance(result, InstanceSegmentations) else None
    for number, crop in enumerate(result.crops(i, img=img)):
        if crop is None:
            continue
        label = int(result.labels[i][number])
        words = plain_name(str(label) if result.label_names is None else result.label_names[label])
        (folder / words).mkdir(parents=True, exist_ok=True)
        file = f"{words}/{name}_{number}{'.jpg' if masks is None else '.png'}"
        if masks is None:
            write_image(crop, folder / file)
        else:
            y, x = (max(round(float(value)), 0) for value in result.bboxes[i][number][:2])
            mask = masks[[number]].to_masks()[0, y : y + crop.shape[1], x : x + crop.shape[2]]
            _write_transparent(crop, mask, folder / file)
        written.append(file)
    return written


def _write_transparent(img: np.ndarray, mask: np.ndarray, path: pathlib.Path) -> None:
    pil = to_pil(img).convert("RGB")
    pil.putalpha(PILImage.fromarray(np.where(mask, 255, 0).astype(np.uint8)))
    with atomic_write(path) as file:
        pil.save(file, format="PNG")
