"""Converts a data set to another layout."""

import dataclasses
import pathlib
from collections.abc import Callable

from cvzoo.datasets.convert.losses import Loss, is_left_out, losses
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage
from cvzoo.datasets.layouts.data_spec import TARGETS, DataSpec
from cvzoo.datasets.layouts.new_folder import check_new
from cvzoo.datasets.layouts.read import read_annotated_set
from cvzoo.datasets.layouts.write import check_apart, write_annotated_set
from cvzoo.datasets.layouts.write_voc import box_in_voc
from cvzoo.errors.exceptions import ConfigError, ImageError
from cvzoo.images.read_image_size import read_image_size
from cvzoo.typing.aliases import FilePath

LOG = "conversion-log.txt"


@dataclasses.dataclass(frozen=True)
class Conversion:
    """The result of `convert_dataset`: numbers of written images and objects, losses, and problems of the original."""

    n_image: int
    n_object: int
    losses: tuple[Loss, ...]
    findings: tuple[Finding, ...]

    @property
    def n_photo(self) -> int:
        """The former name of `n_image`."""
        return self.n_image


def convert_dataset(
    spec: DataSpec,
    out: FilePath,
    *,
    kind: str,
    keep_crowds: bool = False,
    keep_polygons: bool = True,
    start: Callable[[int], None] | None = None,
    step: Callable[[], None] | None = None,
) -> Conversion:
    """Writes a copy of the data set in another layout to `out`, with conversion-log.txt, and returns a report.

    Boxes, classes and their order, names of images, sizes and lists are preserved exactly, except for the last pixel of
    boxes that end with the image in VOC's layout; what the layout cannot represent is listed in `losses`. Images are
    copied bit for bit.
    out: a folder that does not exist or is empty; kind: "coco", "voc", "yolo" or "labelme"
    keep_crowds: convert crowds (COCO's iscrowd) to ordinary objects in YOLO's files, to difficult ones in VOC's;
        otherwise they are dropped there, since a group that is labeled as one object impairs training
    keep_polygons: write polygons to YOLO's files in the segment format, whose box is that around the polygons;
        otherwise all lines are boxes
    start: called with the number of images; step: called after each
    Raises ConfigError for an invalid `out` or kind, DatasetError if there is nothing to read, OSError.
    """
    if kind not in TARGETS:
        raise ConfigError(f"data sets cannot be converted to {kind!r}", expected=", ".join(TARGETS))
    check_apart(spec.path, out)
    check_new(out)
    annotated = read_annotated_set(spec)
    annotated = dataclasses.replace(annotated, images=tuple(map(_with_size, annotated.images)))
    lost = losses(annotated, kind, keep_crowds=keep_crowds, keep_polygons=keep_polygons)
    present = [image for image in annotated.images if image.path is not None]
    chosen = [_chosen(image, annotated.kind, kind, keep_crowds, keep_polygons) for image in present]
    ready = dataclasses.replace(annotated, images=tuple(chosen))
    if start is not None:
        start(len(ready.images))

    def add_log(folder: pathlib.Path) -> None:
        lines = [f"# {annotated.kind}:{annotated.root} as {kind}", "# not carried"]
        lines += map(str, lost or ("nothing was lost",))
        lines += ["# not understood", *(f"{each.where}: {each.message}" for each in annotated.findings)]
        (folder / LOG).write_text("\n".join(lines) + "\n", encoding="utf-8", errors="backslashreplace")

    write_annotated_set(ready, out, kind=kind, finish=add_log, step=step)
    n_object = sum(each.name is not None and each.bbox is not None for image in ready.images for each in image.objects)
    return Conversion(len(ready.images), n_object, lost, annotated.findings)


def _chosen(image: AnnotatedImage, source: str, kind: str, keep_crowds: bool, keep_polygons: bool) -> AnnotatedImage:
    """The image with those objects and fields that the copy has."""
    objects = []
    for each in image.objects:
        if is_left_out(each, kind, keep_crowds=keep_crowds):
            continue
        if kind == "voc" and source != "voc" and each.bbox is not None:
            bbox = box_in_voc(each.bbox, image.size)
            if bbox is None:
                continue
            each = dataclasses.replace(each, bbox=bbox)
        if kind == "voc" and each.extra.get("iscrowd"):
            each = dataclasses.replace(each, extra={**each.extra, "difficult": 1})
        if kind == "yolo" and not keep_polygons:
            each = dataclasses.replace(each, polygons=())
        objects.append(each)
    return dataclasses.replace(image, objects=tuple(objects))


def _with_size(image: AnnotatedImage) -> AnnotatedImage:
    """The image; a missing or invalid size of an existing file is read from its header."""
    if image.path is None or (image.size is not None and min(image.size) >= 1):
        return image
    try:
        return dataclasses.replace(image, size=read_image_size(image.path))
    except (OSError, ImageError):
        return dataclasses.replace(image, size=None)
