"""A data set as its files describe it, right or wrong, in one form for all layouts."""

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any

from cvzoo.datasets.doctor.finding import Finding

Box = tuple[float, float, float, float]


@dataclasses.dataclass(frozen=True, slots=True)
class AnnotatedObject:
    """One object of a photo.

    index: its number in its file, from 0; for YOLO and SROIE the number of the line, from 0
    name: its class, None if the file does not say
    bbox: y_min, x_min, y_max, x_max in pixels from 0, exact in decimals; may be NaN or upside down
    written: the box's numbers as the file has them
    class_number: what stands for the class in the file, where numbers do
    polygons: flat lists x0, y0, x1, y1 ... in pixels from 0; a quad of SROIE is one
    rle: COCO's dictionary of size and counts
    points: flat x, y, v, ... as in COCO's files
    extra: what else the file says and another may carry: difficult, truncated, pose, occluded, iscrowd, area, id, text
    """

    index: int
    name: str | None
    bbox: Box | None
    written: tuple[float, ...] = ()
    class_number: int | None = None
    polygons: tuple[tuple[float, ...], ...] = ()
    rle: Mapping[str, Any] | None = None
    points: tuple[float, ...] = ()
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class AnnotatedPhoto:
    """One photo and its objects.

    name: its path below the folder of photos, with "/" between; what findings call it
    path: where it lies; None if it is not there
    annotation_path: the file that describes it alone; None if it is not there, or if one file describes all
    size: (H, W) as the annotations have it, None if they do not say; for YOLO and SROIE the photo's own
    splits: the lists that it stands in: "train", "val" ...
    extra: what else the file says: id, source, segmented, depth, coco_url ...
    """

    name: str
    path: pathlib.Path | None
    annotation_path: pathlib.Path | None = None
    size: tuple[int, int] | None = None
    splits: tuple[str, ...] = ()
    objects: tuple[AnnotatedObject, ...] = ()
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class AnnotatedSet:
    """All photos of a data set.

    kind: "voc", "coco", "yolo" or "sroie"
    root: the folder, or COCO's file
    photo_dirs: the folders that the photos' names begin in
    names: the classes in their order; None if no file lists them
    numbers: what stands for each class in the files, in the order of names; () where names stand there themselves
    splits: the names of the lists there are
    base: what the files call the first pixel, 1 or 0
    findings: what could not be read, or was read with a guess
    extra: what else a file says of the whole: info, licenses, categories
    """

    kind: str
    root: pathlib.Path
    photos: tuple[AnnotatedPhoto, ...]
    names: tuple[str, ...] | None
    numbers: tuple[int, ...] = ()
    splits: tuple[str, ...] = ()
    base: int = 0
    findings: tuple[Finding, ...] = ()
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    photo_dirs: tuple[pathlib.Path, ...] = ()

    def used_names(self) -> tuple[str, ...]:
        """The classes in their order: those that are listed, then those that only occur, sorted."""
        listed = self.names or ()
        found = {each.name for photo in self.photos for each in photo.objects if each.name is not None}
        return (*listed, *sorted(found.difference(listed)))
