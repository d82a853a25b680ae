"""Reads the records of COCO's JSON: categories and annotations."""

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.layouts.annotated_set import AnnotatedObject, Box
from cvzoo.datasets.layouts.decimals import finite, plus

_KNOWN = ("image_id", "category_id", "bbox", "segmentation", "keypoints")
_TOO_LARGE = 1 << 1000  # JSON integers may exceed the range of float


@dataclasses.dataclass
class Categories:
    """The classes in the order of their ids."""

    by_id: dict[int, dict[str, Any]] = dataclasses.field(default_factory=dict)

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(sorted(self.by_id))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.name(number) for number in self.numbers)

    @property
    def records(self) -> list[dict[str, Any]]:
        return [self.by_id[number] for number in self.numbers]

    def name(self, number: int) -> str:
        return self.by_id[number].get("name") or f"class_{number}"


def read_categories(records: Any, file_name: str, categories: Categories, findings: list[Finding]) -> None:
    """Adds the categories of a file to `categories`."""
    names = {each.get("name"): number for number, each in categories.by_id.items()}
    own: set[int] = set()
    for index, record in enumerate(records or ()):
        where = f"{file_name}: categories[{index}]"
        number = record.get("id") if isinstance(record, dict) else None
        if not isinstance(number, int) or isinstance(number, bool):
            findings.append(Finding(Fault.FIELD_MALFORMED, f"{where} has no integer id"))
            continue
        name = record.get("name")
        if not isinstance(name, str) or not name.strip():
            findings.append(Finding(Fault.CLASS_NAME_MISSING, f"{where} (id {number}) has no name"))
            name = f"class_{number}"
            record = {**record, "name": name}
        elif not _is_unicode(name):
            findings.append(Finding(Fault.TEXT_ENCODING, f"{where}: {as_text(name)} is not valid Unicode"))
            record = {**record, "name": name.encode("utf-8", "replace").decode()}
        elif names.get(name, number) != number:
            findings.append(Finding(Fault.CLASS_DUPLICATE, f"{where}: {name} is also the name of {names[name]}"))
            # classes are told apart by their names from here on
            record = {**record, "name": f"{name}_{number}"}
        known = categories.by_id.get(number)
        if number in own or (known is not None and known.get("name") != record["name"]):
            findings.append(Finding(Fault.CLASS_DUPLICATE, f"{where} has the duplicate id {number}"))
            continue
        own.add(number)
        categories.by_id.setdefault(number, record)
        names.setdefault(record["name"], number)


def read_object(
    record: Any,
    index: int,
    image_indices: Mapping[object, int],
    image_names: list[str],
    categories: Categories,
    findings: list[Finding],
) -> tuple[int, AnnotatedObject] | None:
    """(index of the image, object), or None if its image is unknown.

    image_indices: image id -> index into image_names
    """
    if not isinstance(record, dict):
        findings.append(Finding(Fault.FIELD_MALFORMED, f"annotations[{index}] is {as_text(record)}", annotation=index))
        return None
    image_id = record.get("image_id")
    i = image_indices.get(image_id) if isinstance(image_id, (int, str)) else None
    if i is None:
        findings.append(
            Finding(Fault.IMAGE_ID_UNKNOWN, f"annotations[{index}].image_id is {as_text(image_id)}", annotation=index)
        )
        return None

    def report(kind: Fault, words: str) -> None:
        findings.append(Finding(kind, f"annotations[{index}]{words}", image_names[i], index))

    number = record.get("category_id")
    name = None
    if number is None:
        report(Fault.CLASS_MISSING, " has no category_id")
    elif not isinstance(number, int) or number not in categories.by_id:
        report(Fault.CLASS_UNKNOWN, f".category_id is {as_text(number)}, an unknown category")
        number = None
    else:
        name = categories.name(number)
    written = _read_box(record, report)
    bbox = box_of(written) if written else None
    polygons, rle = _read_segmentation(record.get("segmentation"), report)
    points = record.get("keypoints") or ()
    if points and (not _are_numbers(points) or len(points) % 3):
        report(Fault.POINTS_MALFORMED, ".keypoints must be three numbers per keypoint")
        points = ()
    extra = {key: value for key, value in record.items() if key not in _KNOWN}
    if extra.get("iscrowd", 0) not in (0, 1):
        report(Fault.CROWD_MALFORMED, f".iscrowd is {as_text(extra['iscrowd'])}")
        extra["iscrowd"] = 0
    if "id" in extra and (not isinstance(extra["id"], int) or isinstance(extra["id"], bool)):
        report(Fault.FIELD_MALFORMED, f".id is {as_text(extra['id'])}, not an integer")
        del extra["id"]
    return i, AnnotatedObject(index, name, bbox, written, number, polygons, rle, tuple(points), extra)


def box_of(written: Sequence[float]) -> Box:
    """y_min, x_min, y_max, x_max from COCO's x, y, width, height."""
    x, y, width, height = written
    return float(y), float(x), plus(y, height), plus(x, width)


def as_text(value: object) -> str:
    """The value as JSON, truncated to 60 characters."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _is_unicode(text: str) -> bool:
    """Whether the text has no lone surrogates, which JSON escapes such as "\\udce9" may contain."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _read_box(record: Mapping[str, Any], report: Callable[[Fault, str], None]) -> tuple[float, ...]:
    box = record.get("bbox")
    if box is None:
        report(Fault.BOX_MISSING, " has no bbox")
    elif not _are_numbers(box) or len(box) != 4:
        report(Fault.FIELD_MALFORMED, f".bbox is {as_text(box)}, not four numbers")
    else:
        return tuple(box)
    return ()


def _read_segmentation(
    value: object, report: Callable[[Fault, str], None]
) -> tuple[tuple[tuple[float, ...], ...], Mapping[str, Any] | None]:
    if value is None or value == []:
        return (), None
    if isinstance(value, dict):
        return (), value
    if isinstance(value, list) and all(
        _are_numbers(each) and len(each) >= 6 and len(each) % 2 == 0 and finite(each) for each in value
    ):
        return tuple(map(tuple, value)), None
    report(Fault.MASK_MALFORMED, f".segmentation is {as_text(value)}")
    return (), None


def _are_numbers(values: object) -> bool:
    return isinstance(values, (list, tuple)) and all(
        isinstance(each, float) or (isinstance(each, int) and not isinstance(each, bool) and abs(each) < _TOO_LARGE)
        for each in values
    )
