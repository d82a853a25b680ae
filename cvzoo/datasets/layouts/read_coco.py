"""Reads COCO's JSON leniently."""

import dataclasses
import itertools
import json
import pathlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.image_location import leads_out
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, AnnotatedSet, PackedObjects, packed
from cvzoo.datasets.layouts.coco_files import coco_files, coco_image_folders, coco_split
from cvzoo.datasets.layouts.coco_records import Categories, as_text, read_categories, read_object
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.layouts.lenient_text import decode_leniently, display_name
from cvzoo.datasets.layouts.write_coco import NO_SPLIT
from cvzoo.datasets.text_files import read_bytes
from cvzoo.errors.exceptions import DatasetError
from cvzoo.images.list_image_files import list_image_files

_KNOWN = ("images", "annotations", "categories")
_BETWEEN = b" \t\r\n,"  # elements of a list


def read_coco(spec: DataSpec) -> AnnotatedSet:
    """The data set of a file, or of a folder with annotations/instances_*.json, each of which is a split.

    Raises DatasetError if a file is not JSON with a list of images, or if the image folder cannot be found.
    """
    findings: list[Finding] = []
    if spec.path.is_dir():
        paths = coco_files(spec.path)
    else:
        paths = [spec.path]
    images: list[AnnotatedImage] = []
    categories = Categories()
    extra: dict[str, Any] = {}
    files = [_load(path, findings) for path in paths]
    folders = [_image_folder(path, spec, file) for path, file in zip(paths, files)]
    for path, folder in zip(paths, folders):
        file = files.pop(0)
        read_categories(file.get("categories"), path.name, categories, findings)
        # the same file name may exist in train2017 and in val2017
        prefix = f"{folder.name}/" if len(set(folders)) > 1 else ""
        images += _read_images(file, path, folder, prefix, categories, findings)
        extra = {key: value for key, value in file.items() if key not in _KNOWN} | extra
        del file  # as long as the annotations, which need no more of it
    if not _has_siblings(spec.path):
        _find_unlisted(images, dict.fromkeys(folders), findings)
    extra["categories"] = categories.records
    return AnnotatedSet(
        kind="coco",
        root=spec.path,
        images=_joined(images, findings),
        names=categories.names,
        numbers=categories.numbers,
        splits=tuple(dict.fromkeys(split for path in paths for split in _splits_of(path))),
        findings=tuple(findings),
        extra=extra,
        image_dirs=tuple(dict.fromkeys(folders)),
    )


def _has_siblings(path: pathlib.Path) -> bool:
    return path.is_file() and len(list(path.parent.glob("*.json"))) > 1


def _splits_of(path: pathlib.Path) -> tuple[str, ...]:
    """The split of the file, by its name; none for the file of all images, or of those without a split."""
    split = coco_split(path)
    return () if split in NO_SPLIT else (split,)


def _joined(images: Sequence[AnnotatedImage], findings: list[Finding]) -> tuple[AnnotatedImage, ...]:
    """Merges the records of the same image in several files, such as those of train and of trainval."""
    first: dict[str, AnnotatedImage] = {}
    for image in images:
        known = first.get(image.name)
        if known is None:
            first[image.name] = image
            continue
        if _content(known) != _content(image):
            words = f"its annotations in {'/'.join(known.splits)} and {'/'.join(image.splits)} differ"
            findings.append(Finding(Fault.FILE_NAME_DUPLICATE, words, image.name))
        splits = tuple(dict.fromkeys(known.splits + image.splits))
        first[image.name] = dataclasses.replace(known, splits=splits)
    return tuple(first.values())


def _content(image: AnnotatedImage) -> tuple[object, ...]:
    return image.size, [(each.name, each.bbox) for each in image.objects]


class _Records:
    """A list of JSON whose elements are decoded when they are asked for: as dictionaries, all would take several times
    the memory of the file.

    text: the list. Raises the errors of `msgspec.json.decode` for elements that are not JSON.
    """

    def __init__(self, text: msgspec.Raw):
        self._text, self._starts, self._ends = memoryview(text), array("Q"), array("Q")
        at = 1
        for part in msgspec.json.decode(text, type=list[msgspec.Raw]):
            while self._text[at] in _BETWEEN:
                at += 1
            self._starts.append(at)
            at += len(memoryview(part))
            self._ends.append(at)
        for _ in self:  # text and numbers are not looked at before
            pass

    def __iter__(self) -> Iterator[Any]:
        return (msgspec.json.decode(self._text[start:end]) for start, end in zip(self._starts, self._ends))


def _decoded(data: bytes) -> Any:
    """The JSON; the long lists of an object are `_Records`."""
    file = msgspec.json.decode(data, type=dict[str, msgspec.Raw] | list[msgspec.Raw] | str | int | float | None)
    if not isinstance(file, dict):
        return file
    return {
        key: _Records(part)
        if key in ("images", "annotations") and bytes(memoryview(part)[:1]) == b"["
        else msgspec.json.decode(part)
        for key, part in file.items()
    }


def _load(path: pathlib.Path, findings: list[Finding]) -> dict[str, Any]:
    data = read_bytes(path, limit=None)
    try:
        file = _decoded(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        try:  # Python's own decoder accepts NaN, which is a finding, not an error
            file = json.loads(decode_leniently(data, path, path.name, findings) or "")
        except (ValueError, RecursionError) as error:
            raise DatasetError(f"{path} is not JSON", got=error) from error
    if not isinstance(file, dict) or not isinstance(file.get("images"), (list, _Records)):
        raise DatasetError(f"{path} is not in COCO's format", expected="an object with lists of images and annotations")
    for key in ("annotations", "categories"):
        if not isinstance(file.get(key, []), (list, _Records)):
            raise DatasetError(f"{path}: {key} is not a list")
        if key not in file:
            findings.append(Finding(Fault.FIELD_MISSING, f"{path.name} has no {key}"))
    return file


def _image_folder(path: pathlib.Path, spec: DataSpec, file: Mapping[str, Any]) -> pathlib.Path:
    if spec.photos is not None:
        return spec.photos
    folders = coco_image_folders(path)
    names = (each.get("file_name") for each in file["images"] if isinstance(each, dict))
    for image_name in itertools.islice((each for each in names if isinstance(each, str) and "\0" not in each), 20):
        for folder in folders:
            try:
                if (folder / image_name).is_file():
                    return folder
            except OSError:
                pass  # such as a name that is too long
    existing = next((folder for folder in folders[:3] if folder.is_dir()), None)
    if existing is None:
        raise DatasetError(
            f"{path}: its images are not in any of the usual folders",
            expected=", ".join(map(str, folders)),
            hint=f"coco:{path},photos=DIR",
        )
    return existing


def _read_images(
    file: Mapping[str, Any],
    path: pathlib.Path,
    folder: pathlib.Path,
    prefix: str,
    categories: Categories,
    findings: list[Finding],
) -> list[AnnotatedImage]:
    records: list[AnnotatedImage] = []
    image_indices: dict[object, int] = {}
    by_name: dict[str, int] = {}
    for index, record in enumerate(file["images"]):
        id_and_image = _read_image(record, index, folder, prefix, findings)
        if id_and_image is None:
            continue
        id_, image = id_and_image
        if image.name in by_name:
            words = f"images[{index}] is another record of {image.name}"
            findings.append(Finding(Fault.FILE_NAME_DUPLICATE, words, image.name))
            image_indices.setdefault(id_, by_name[image.name])
            continue
        by_name[image.name] = len(records)
        if id_ in image_indices:
            other = records[image_indices[id_]].name
            words = f"images[{index}] has the id {id_} of {other}"
            findings.append(Finding(Fault.IMAGE_ID_DUPLICATE, words, image.name, others=(other,)))
        else:
            image_indices[id_] = len(records)
        records.append(image)
    objects: list[list[bytes | AnnotatedObject]] = [[] for _ in records]
    names = [image.name for image in records]
    annotation_ids: set[object] = set()
    for index, record in enumerate(file.get("annotations", ())):
        index_and_object = read_object(record, index, image_indices, names, categories, findings)
        if index_and_object is None:
            continue
        i, each = index_and_object
        _check_annotation_id(each, index, names[i], annotation_ids, findings)
        objects[i].append(packed(each))
    splits = _splits_of(path)
    return [
        AnnotatedImage(image.name, image.path, None, image.size, splits, PackedObjects(row), image.extra)
        for image, row in zip(records, objects)
    ]


def _check_annotation_id(
    each: AnnotatedObject, index: int, name: str, seen: set[object], findings: list[Finding]
) -> None:
    id_ = each.extra.get("id")
    if id_ is None:
        findings.append(Finding(Fault.FIELD_MISSING, f"annotations[{index}] has no id", name, index))
    elif id_ in seen:
        words = f"annotations[{index}] has the duplicate id {id_}"
        findings.append(Finding(Fault.ANNOTATION_ID_DUPLICATE, words, name, index))
    elif id_ == 0:
        findings.append(Finding(Fault.ANNOTATION_ID_ZERO, f"annotations[{index}] has the id 0", name, index))
    seen.add(id_)


def _read_image(
    record: Any, index: int, folder: pathlib.Path, prefix: str, findings: list[Finding]
) -> tuple[object, AnnotatedImage] | None:
    if not isinstance(record, dict):
        findings.append(Finding(Fault.FIELD_MALFORMED, f"images[{index}] is {record!r:.60}"))
        return None
    file_name, id_ = record.get("file_name"), record.get("id")
    if not isinstance(file_name, str) or not file_name or "\0" in file_name:
        findings.append(Finding(Fault.FIELD_MISSING, f"images[{index}] has no file_name"))
        return None
    name = prefix + file_name
    if id_ is None or isinstance(id_, (list, dict, float)):
        findings.append(Finding(Fault.FIELD_MISSING, f"images[{index}] has no id", name))
        return None
    if not isinstance(id_, int):
        findings.append(Finding(Fault.FIELD_MALFORMED, f"images[{index}].id is {as_text(id_)}, not an integer", name))
    if leads_out(file_name) or "\\" in file_name:
        findings.append(Finding(Fault.NAME_UNSAFE, f"images[{index}].file_name is {as_text(file_name)}", name))
    height, width = record.get("height"), record.get("width")
    size = None
    if isinstance(height, int) and isinstance(width, int):
        size = height, width
    elif height is not None or width is not None:
        findings.append(Finding(Fault.FIELD_MALFORMED, f"the size is {as_text([height, width])}", name))
    path = folder / file_name
    try:
        exists = path.is_file()
    except OSError:
        exists = False
    extra = {key: value for key, value in record.items() if key not in ("file_name", "height", "width")}
    return id_, AnnotatedImage(name, path if exists else None, None, size, extra=extra)


def _find_unlisted(images: Sequence[AnnotatedImage], folders: Iterable[pathlib.Path], findings: list[Finding]) -> None:
    listed = {image.path for image in images if image.path is not None}
    for folder in folders:
        for path in list_image_files(folder, recursive=True) if folder.is_dir() else ():
            if path not in listed:
                name = display_name(path, folder)
                findings.append(Finding(Fault.ANNOTATION_MISSING, "no annotation file contains this image", name))
