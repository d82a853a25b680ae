"""The annotations of a data set, with all faults, in one representation for all layouts."""

import dataclasses
import marshal
import operator
import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

from cvzoo.datasets.doctor.finding import Finding

Box = tuple[float, float, float, float]


@dataclasses.dataclass(frozen=True, slots=True)
class AnnotatedObject:
    """One annotated object of an image.

    index: its 0-based index in its file; for YOLO and SROIE that of its line
    name: its class, None if the file does not state it
    bbox: y_min, x_min, y_max, x_max in 0-based pixels, exact in decimals; may be NaN or inverted
    written: the box's values as in the file
    class_number: the id of the class in the file, in layouts with ids
    polygons: flat lists x0, y0, x1, y1 ... in 0-based pixels; a quadrilateral of SROIE is one
    rle: COCO's dictionary of size and counts
    points: flat x, y, v, ... as in COCO's files
    extra: other fields that another layout may have, too: difficult, truncated, pose, occluded, iscrowd, area, id, text
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


_in_order = operator.attrgetter(*(each.name for each in dataclasses.fields(AnnotatedObject)))


def packed(each: AnnotatedObject) -> bytes | AnnotatedObject:
    """The object for `PackedObjects`."""
    try:
        return marshal.dumps(_in_order(each))
    except ValueError:  # a value that is nested 2,000 deep
        return each


class PackedObjects(Sequence[AnnotatedObject]):
    """Objects in a quarter of the memory, made anew each time they are asked for: a file may have a million.

    parts: as of `packed`
    """

    __slots__ = ("_parts",)

    def __init__(self, parts: Iterable[bytes | AnnotatedObject]):
        self._parts = tuple(parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __iter__(self) -> Iterator[AnnotatedObject]:
        return (AnnotatedObject(*marshal.loads(part)) if isinstance(part, bytes) else part for part in self._parts)

    @overload
    def __getitem__(self, i: int) -> AnnotatedObject: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[AnnotatedObject, ...]: ...
    def __getitem__(self, i: int | slice) -> AnnotatedObject | tuple[AnnotatedObject, ...]:
        return tuple(self)[i]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == (tuple(other) if isinstance(other, PackedObjects) else other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


@dataclasses.dataclass(frozen=True, slots=True)
class AnnotatedImage:
    """One image and its annotated objects.

    name: its path relative to the image folder, with "/", which findings refer to
    path: its path; None if it does not exist
    annotation_path: its own annotation file; None if it does not exist, or if one file annotates all images
    size: (H, W) as stated in the annotations, None if they do not; for YOLO and SROIE the image's own
    splits: the splits that it is in: "train", "val" ...
    extra: other fields of the file: id, source, segmented, depth, coco_url ...
    """

    name: str
    path: pathlib.Path | None
    annotation_path: pathlib.Path | None = None
    size: tuple[int, int] | None = None
    splits: tuple[str, ...] = ()
    objects: Sequence[AnnotatedObject] = ()
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)


AnnotatedPhoto = AnnotatedImage  # its former name


@dataclasses.dataclass(frozen=True, slots=True)
class AnnotatedSet:
    """All images and annotations of a data set.

    kind: "voc", "coco", "yolo", "sroie" or "labelme"
    root: the folder, or COCO's file
    photo_dirs: the folders that the images' names are relative to
    names: the classes in the order of their labels; None if no file lists them
    numbers: the ids of the classes in the files, in the order of names; () in layouts with names instead of ids
    splits: the names of the existing splits
    base: coordinates of the files are 1-based (1) or 0-based (0)
    findings: what could not be read, or not unambiguously
    extra: other fields of the whole data set: info, licenses, categories
    """

    kind: str
    root: pathlib.Path
    images: tuple[AnnotatedImage, ...]
    names: tuple[str, ...] | None
    numbers: tuple[int, ...] = ()
    splits: tuple[str, ...] = ()
    base: int = 0
    findings: tuple[Finding, ...] = ()
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    image_dirs: tuple[pathlib.Path, ...] = ()

    @property
    def photos(self) -> tuple[AnnotatedImage, ...]:
        """The former name of `images`."""
        return self.images

    def used_names(self) -> tuple[str, ...]:
        """The classes: first the listed ones in their order, then those that only occur in annotations, sorted."""
        listed = self.names or ()
        used = {each.name for image in self.images for each in image.objects if each.name is not None}
        return (*listed, *sorted(used.difference(listed)))
