"""Writes annotations in VOC's layout."""

import math
import pathlib
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping
from typing import Any

from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedSet, Box
from cvzoo.datasets.layouts.decimals import number_text, plus
from cvzoo.datasets.layouts.write_voc_masks import VOCMasks, has_mask
from cvzoo.typing.aliases import Size

# elements of an object in VOC's XML
CORNERS = ("xmin", "ymin", "xmax", "ymax")
FLAGS = ("truncated", "difficult", "occluded")
# characters that XML 1.0 forbids
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_voc(
    annotated: AnnotatedSet,
    folder: pathlib.Path,
    names: Mapping[str, str],
    images: Iterable[AnnotatedImage] | None = None,
) -> None:
    """Writes Annotations, ImageSets/Main and classes.txt to `folder`, and of masks what `VOCMasks` writes.

    names: the name of each image's copy
    images: the images, each of which is written before the next one is asked for; None: those of `annotated`
    Coordinates are 1-based, as VOC's, unless the data set was read with base 0.
    """
    base = annotated.base if annotated.kind == "voc" else 1
    (folder / "Annotations").mkdir()
    masks = VOCMasks(annotated, folder)
    stems: dict[str, list[str]] = {split: [] for split in annotated.splits}
    for image in annotated.images if images is None else images:
        name = names[image.name]
        path = folder / "Annotations" / pathlib.PurePath(name).with_suffix(".xml")
        path.write_bytes(image_xml(image, name, base))
        for split in annotated.splits:
            if split in image.splits:
                stems[split].append(f"{path.stem}\n")
        masks.add(image, path.stem)
    lists = folder / "ImageSets" / "Main"
    if annotated.splits:
        lists.mkdir(parents=True)
    for split, chosen in stems.items():
        (lists / f"{split}.txt").write_text("".join(chosen), encoding="utf-8")
    if annotated.names is not None:
        (folder / "classes.txt").write_text("".join(f"{name}\n" for name in annotated.names), encoding="utf-8")
    masks.close()


def image_xml(image: AnnotatedImage, name: str, base: int) -> bytes:
    """The annotations of an image as VOC's XML. name: of its file; base: of the coordinates, 1 in VOC's own files"""
    root = ElementTree.Element("annotation")
    _add(root, "folder", image.extra.get("folder", "JPEGImages"))
    _add(root, "filename", name)
    _add_deeper(root, image.extra)
    if image.size is not None:
        size = ElementTree.SubElement(root, "size")
        _add(size, "width", image.size[1])
        _add(size, "height", image.size[0])
        _add(size, "depth", image.extra.get("depth", 3))
    _add(root, "segmented", image.extra.get("segmented", int(any(map(has_mask, image.objects)))))
    for each in image.objects:
        if each.name is None or each.bbox is None:
            continue
        node = ElementTree.SubElement(root, "object")
        _add(node, "name", each.name)
        _add(node, "pose", each.extra.get("pose", "Unspecified"))
        for flag in FLAGS:
            if flag != "occluded" or flag in each.extra:
                _add(node, flag, each.extra.get(flag, 0))
        if "text" in each.extra:
            _add(node, "text", each.extra["text"])
        y_min, x_min, y_max, x_max = each.bbox
        box = ElementTree.SubElement(node, "bndbox")
        for corner, value in zip(CORNERS, (x_min, y_min, x_max, y_max)):
            _add(box, corner, number_text(plus(value, base)))
        _add_deeper(node, each.extra)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8") + b"\n"


def box_in_voc(bbox: Box, size: Size | None) -> Box | None:
    """The box as VOC's files hold it: where it ends with the image of `size` (H, W), without the last pixel.

    cvzoo's readers and writers shift all four sides by 1, and VOC's coordinates end with the image. None if nothing is
    left.
    """
    y_min, x_min, *ends = bbox
    height, width = (math.inf, math.inf) if size is None else size
    y_max, x_max = (last - 1 if last - 1 < end <= last else end for end, last in zip(ends, (height, width)))
    inside = (y_min < y_max or y_max == bbox[2]) and (x_min < x_max or x_max == bbox[3])
    return (y_min, x_min, y_max, x_max) if inside else None


def _add(parent: ElementTree.Element, tag: str, value: object) -> None:
    ElementTree.SubElement(parent, tag).text = _FORBIDDEN.sub("", str(value))


def _add_deeper(node: ElementTree.Element, extra: Mapping[str, Any]) -> None:
    for text in extra.get("voc_xml", ()):
        try:
            node.append(ElementTree.fromstring(text))
        except (ElementTree.ParseError, TypeError):
            continue  # it was XML when it was read, and is dropped if it was changed to something else
