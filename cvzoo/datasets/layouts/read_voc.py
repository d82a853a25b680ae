"""Reads VOC's layout leniently."""

import dataclasses
import pathlib
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, AnnotatedSet, Box
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.layouts.decimals import minus
from cvzoo.datasets.layouts.lenient_text import (
    as_number,
    by_key,
    read_leniently,
    read_list,
    read_names,
    splits_of_lists,
)
from cvzoo.datasets.layouts.read_voc_masks import FOLDER as MASK_FOLDER
from cvzoo.datasets.layouts.read_voc_masks import with_masks
from cvzoo.datasets.layouts.write_voc import CORNERS, FLAGS
from cvzoo.datasets.text_files import read_bytes
from cvzoo.datasets.voc.folders import voc_folders
from cvzoo.errors.exceptions import DatasetError
from cvzoo.images.list_image_files import list_image_files
from cvzoo.typing.aliases import Size

# an optional file next to the three folders with the classes in the order of their labels, which VOC does not have
CLASS_FILES = ("classes.txt", "labels.txt", "labelmap.txt")
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")


def read_voc(spec: DataSpec) -> AnnotatedSet:
    """The data set of JPEGImages (or images), Annotations (or annotations), ImageSets/Main, and optionally classes.txt
    and masks in SegmentationObject.

    Raises DatasetError if the folder has no annotations at all.
    """
    root = spec.path
    folders = voc_folders(root)
    annotation_dir, image_dir = folders.annotations, spec.photos or folders.images
    if not annotation_dir.is_dir() or not image_dir.is_dir():
        raise DatasetError(f"{root} is not in VOC's layout", expected="the folders JPEGImages and Annotations")
    findings: list[Finding] = []
    files = by_key(list_image_files(image_dir), lambda path: path.stem, findings)
    texts = {path.stem: path for path in sorted(annotation_dir.iterdir()) if path.suffix.lower() == ".xml"}
    stems = sorted(files.keys() | texts.keys())
    images = []
    for stem in stems:
        path, text = files.get(stem), texts.get(stem)
        name = path.name if path is not None else f"{stem}.jpg"
        image = _read_image(name, path, text, spec.base, findings)
        mask_path = root / MASK_FOLDER / f"{stem}.png"
        images.append(with_masks(image, mask_path, findings) if text is not None and mask_path.is_file() else image)
    lists = {
        path.stem: [line.split()[0] for line in read_list(path, findings)]
        for path in _list_files(spec.lists or folders.lists)
    }
    known = {stem: image.name for stem, image in zip(stems, images)}
    splits = splits_of_lists(lists, known, findings)
    class_file = next((root / name for name in CLASS_FILES if (root / name).is_file()), None)
    return AnnotatedSet(
        kind="voc",
        root=root,
        images=tuple(dataclasses.replace(image, splits=splits.get(image.name, ())) for image in images),
        names=None if class_file is None else read_names(class_file, findings),
        splits=tuple(lists),
        base=spec.base,
        findings=tuple(findings),
        image_dirs=(image_dir,),
    )


def _list_files(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """The lists of images, except those of a single class (dog_train.txt), whose lines end in 1, 0 or -1."""
    for path in sorted(folder.glob("*.txt")) if folder.is_dir() else ():
        first = _first_line(path).split()
        if len(first) < 2 or first[1] not in (b"1", b"0", b"-1"):
            yield path


def _first_line(path: pathlib.Path) -> bytes:
    try:
        return read_bytes(path).split(b"\n", 1)[0]
    except DatasetError:
        return b""  # reported when the list is read


def _read_image(
    name: str, path: pathlib.Path | None, text_path: pathlib.Path | None, base: int, findings: list[Finding]
) -> AnnotatedImage:
    if text_path is None:
        findings.append(Finding(Fault.ANNOTATION_MISSING, "there is no .xml file with its name", name))
        return AnnotatedImage(name, path)
    text = read_leniently(text_path, name, findings)
    if text is None:
        return AnnotatedImage(name, path)
    try:
        # the text is decoded already, and its declaration may name another encoding
        element = ElementTree.fromstring(_DECLARATION.sub("", text))
    except (ElementTree.ParseError, ValueError) as error:
        findings.append(Finding(Fault.ANNOTATION_UNREADABLE, f"{text_path.name}: {error}", name))
        return AnnotatedImage(name, path)
    inner = (element.findtext("filename") or "").strip()
    if inner and path is not None and inner not in (path.name, path.stem):
        findings.append(Finding(Fault.FILE_NAME_DIFFERS, f"{text_path.name} names its image {inner}", name))
    objects = [_read_object(each, index, name, base, findings) for index, each in enumerate(element.iterfind("object"))]
    extra = _read_extra(element, ("filename", "size", "object"))
    depth = as_number(element.findtext("size/depth"))
    if depth is not None and depth.is_integer():
        extra["depth"] = int(depth)
    return AnnotatedImage(
        name, path, text_path, _read_size(element, name, findings), objects=tuple(objects), extra=extra
    )


def _read_size(element: ElementTree.Element, name: str, findings: list[Finding]) -> Size | None:
    texts = [element.findtext(f"size/{side}") for side in ("height", "width")]
    if texts == [None, None]:
        return None
    height, width = map(as_number, texts)
    if height is None or width is None or not (height.is_integer() and width.is_integer()):
        findings.append(Finding(Fault.FIELD_MALFORMED, f"the size is {texts[0]} x {texts[1]}", name))
        return None
    return int(height), int(width)


def _read_object(
    element: ElementTree.Element, index: int, name: str, base: int, findings: list[Finding]
) -> AnnotatedObject:
    class_name = (element.findtext("name") or "").strip() or None
    if class_name is None:
        findings.append(Finding(Fault.CLASS_MISSING, "an object has no <name>", name, index))
    box = element.find("bndbox")
    bbox: Box | None = None
    written: tuple[float, ...] = ()
    if box is None:
        findings.append(Finding(Fault.BOX_MISSING, "an object has no <bndbox>", name, index))
    else:
        texts = {corner: box.findtext(corner) for corner in CORNERS}
        wrong = next((corner for corner, text in texts.items() if as_number(text) is None), None)
        if wrong is not None:
            got = "missing" if texts[wrong] is None else f"{texts[wrong]!r:.60}"
            findings.append(Finding(Fault.FIELD_MALFORMED, f"{wrong} is {got}", name, index))
        else:
            written = tuple(value for value in map(as_number, texts.values()) if value is not None)
            bbox = box_of(written, base)
    extra = _read_extra(element, ("name", "bndbox"))
    for flag in FLAGS:
        if flag in extra and extra[flag] not in (0, 1):
            findings.append(Finding(Fault.FIELD_MALFORMED, f"{flag} is {extra[flag]!r:.60}", name, index))
            del extra[flag]
    if "text" in extra:
        extra["text"] = str(extra["text"])  # a line of text may be a number
    return AnnotatedObject(index, class_name, bbox, written, extra=extra)


def box_of(written: Sequence[float], base: int) -> Box:
    """0-based y_min, x_min, y_max, x_max from VOC's xmin, ymin, xmax, ymax: `base` is subtracted from all four."""
    x_min, y_min, x_max, y_max = (minus(each, base) for each in written)
    return y_min, x_min, y_max, x_max


def _read_extra(element: ElementTree.Element, known: Collection[str]) -> dict[str, Any]:
    """Other children of the element: text by tag, integers as int; elements with children as a list of XML."""
    extra: dict[str, Any] = {}
    nested = []
    for child in element:
        if child.tag in known:
            continue
        text = (child.text or "").strip()
        if len(child) or child.attrib or child.tag in extra or not isinstance(child.tag, str):
            # white space after the element, which tostring would include
            child.tail = None
            nested.append(ElementTree.tostring(child, encoding="unicode"))
        else:
            extra[child.tag] = int(text) if re.fullmatch(r"-?[1-9]\d{0,17}|0", text) else text
    if nested:
        extra["voc_xml"] = nested
    return extra
