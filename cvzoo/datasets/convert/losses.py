"""Lists what a layout of data sets cannot represent."""

import collections
import dataclasses
from collections.abc import Callable

from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, AnnotatedSet
from cvzoo.datasets.layouts.write_voc import box_in_voc
from cvzoo.datasets.layouts.write_voc_masks import MAX_OBJECTS, has_mask


@dataclasses.dataclass(frozen=True)
class Loss:
    """Something that is lost in a conversion: what, how often, and its first occurrence."""

    what: str
    count: int
    example: str

    @property
    def is_of_annotations(self) -> bool:
        """Whether objects, or their class, shape, text or difficulty, are lost, and not only a number or a remark."""
        return self.what in _OF_ANNOTATIONS

    def __str__(self) -> str:
        return f"{self.what}: {self.count}, as in {self.example}" if self.example else f"{self.what}: {self.count}"


CROWDS = "crowds, which are dropped"
LAST_PIXELS = "last pixels of boxes that end with the image, where VOC's coordinates end"
ONLY_LAST_PIXELS = "boxes in an image's last row or column only"
_MASKS, _POLYGONS, _CORNERS = "masks (run-length encoded)", "masks (polygons)", "corners of slanted regions"
_POINTS, _NO_BOX = "keypoints", "objects without a class or a box"
_OF_ANNOTATIONS = (CROWDS, ONLY_LAST_PIXELS, _MASKS, _POLYGONS, _CORNERS, _POINTS, _NO_BOX) + (
    ("the mark of a crowd", "text of objects", "difficult of objects")
)
# keys that all of COCO's annotations have, and that can be recovered or generated
_OF_COCO = ("id", "area", "iscrowd", "image_id")
_OF_VOC = ("pose", "truncated", "difficult", "occluded", "text", "voc_xml")


def is_left_out(each: AnnotatedObject, kind: str, *, keep_crowds: bool) -> bool:
    """Whether a copy in that layout drops the object: a crowd, which other layouts cannot mark."""
    return kind != "coco" and not keep_crowds and bool(each.extra.get("iscrowd"))


def losses(
    annotated: AnnotatedSet, kind: str, *, keep_crowds: bool = False, keep_polygons: bool = True
) -> tuple[Loss, ...]:
    """What a copy of the data set in that layout lacks, except fields with their default values.

    keep_crowds, keep_polygons: as for `convert_dataset`
    """
    counts: collections.Counter = collections.Counter()
    examples: dict[str, str] = {}

    def lose(what: str, image: AnnotatedImage | None = None, index: int | None = None) -> None:
        counts[what] += 1
        examples.setdefault(what, "" if image is None else image.name + ("" if index is None else f", object {index}"))

    for key in ("info", "licenses") if annotated.kind == "coco" and kind != "coco" else ():
        if annotated.extra.get(key):
            lose(f"the file's {key}")
    if annotated.kind == "coco" and kind != "coco":
        if annotated.numbers != tuple(range(1, len(annotated.numbers) + 1)):
            lose("the ids of classes (their order is kept)")
        for record in annotated.extra.get("categories", ()):
            for key in sorted(set(record) - {"id", "name"}):
                lose(f"{key} of classes")
    for image in annotated.images:
        if image.path is None:
            lose("annotations of images that are missing or outside of the data set", image)
            continue
        _lose_of_image(image, annotated.kind, kind, lose)
        for each in image.objects:
            if is_left_out(each, kind, keep_crowds=keep_crowds):
                lose(CROWDS, image, each.index)
            else:
                _lose_of_object(each, image, kind, keep_polygons, lose)
                if kind == "voc" and annotated.kind != "voc" and each.bbox is not None:
                    bbox = box_in_voc(each.bbox, image.size)
                    if bbox != each.bbox:
                        lose(LAST_PIXELS if bbox else ONLY_LAST_PIXELS, image, each.index)
    return tuple(Loss(what, n, examples[what]) for what, n in counts.items())


def _lose_of_image(image: AnnotatedImage, source: str, kind: str, lose: Callable[..., None]) -> None:
    if kind == "coco":
        return
    for key, value in image.extra.items():
        if kind == "voc" and (source == "voc" or key in ("depth", "segmented", "voc_xml", "folder")):
            continue
        if (key, value) not in (("depth", 3), ("segmented", 0), ("folder", "JPEGImages")):
            lose(f"{'ids' if key == 'id' else key} of images", image)
    if kind == "voc" and sum(map(has_mask, image.objects)) > 1:
        lose("overlaps of masks, if there are any: such a pixel is the smaller object's", image)
    if kind in ("voc", "labelme") and "/" in image.name:
        lose("subfolders of the image folder (their names become part of the file names)", image)


def _lose_of_object(
    each: AnnotatedObject, image: AnnotatedImage, kind: str, keep_polygons: bool, lose: Callable[..., None]
) -> None:
    if each.name is None or each.bbox is None:
        lose(_NO_BOX, image, each.index)
        return
    if kind == "coco":
        return
    is_voc_mask = kind == "voc" and has_mask(each) and each.index < MAX_OBJECTS
    if each.rle is not None and not is_voc_mask:
        lose(_MASKS, image, each.index)
    if each.polygons and kind == "yolo" and keep_polygons:
        xs = [value for polygon in each.polygons for value in polygon[0::2]]
        ys = [value for polygon in each.polygons for value in polygon[1::2]]
        if each.bbox != (min(ys), min(xs), max(ys), max(xs)):
            lose("boxes that differ from those around their polygons, which replace them", image, each.index)
    elif each.polygons and kind != "labelme" and not is_voc_mask:
        lose(_POLYGONS if "text" not in each.extra else _CORNERS, image, each.index)
    if each.points and kind != "labelme":
        lose(_POINTS, image, each.index)
    for key, value in each.extra.items():
        if kind == "voc" and key in _OF_VOC:
            continue
        if key == "iscrowd" and value:
            if kind != "voc":  # there it becomes difficult, which evaluation ignores in the same way
                lose("the mark of a crowd", image, each.index)
        elif key == "score" and kind == "labelme":
            continue
        elif key == "area" and (each.polygons or each.rle):
            lose("areas of masks", image, each.index)
        elif key == "id":
            lose("ids of objects", image, each.index)
        elif key not in _OF_COCO and (key, value) not in (("pose", "Unspecified"), ("truncated", 0), ("difficult", 0)):
            lose(f"{key} of objects", image, each.index)
