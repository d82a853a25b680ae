"""Reading COCO's JSON, whatever is wrong with it."""

import dataclasses
import json
from typing import Any

import msgspec

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.layouts.annotated_set import AnnotatedPhoto, AnnotatedSet
from cvzoo.datasets.layouts.coco_records import Categories, as_text, read_categories, read_object
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.layouts.lenient_text import decode_leniently, display_name
from cvzoo.datasets.photo_place import leads_out
from cvzoo.datasets.text_files import read_bytes
from cvzoo.errors.exceptions import DatasetError
from cvzoo.images.list_image_files import list_image_files

# what write_coco calls the file of photos without a list
NO_SPLIT = ("all", "rest")
_KNOWN = ("images", "annotations", "categories")


def read_coco(spec: DataSpec) -> AnnotatedSet:
    """The data set of a file, or of a folder with annotations/instances_*.json, each of which is a split.

    Raises DatasetError if a file is no JSON with a list of images, or if the photos' folder cannot be found.
    """
    findings: list[Finding] = []
    if spec.path.is_dir():
        paths = _files_in(spec.path)
    else:
        paths = [spec.path]
    photos: list[AnnotatedPhoto] = []
    categories = Categories()
    extra: dict[str, Any] = {}
    files = [_load(path, findings) for path in paths]
    folders = [_photo_folder(path, spec, file) for path, file in zip(paths, files)]
    for path, file, folder in zip(paths, files, folders):
        read_categories(file.get("categories"), path.name, categories, findings)
        # the same name may stand for one photo below train2017 and for another below val2017
        prefix = f"{folder.name}/" if len(set(folders)) > 1 else ""
        photos += _read_photos(file, path, folder, prefix, categories, findings)
        extra = {key: value for key, value in file.items() if key not in _KNOWN} | extra
    if not _has_siblings(spec.path):
        _find_unlisted(photos, dict.fromkeys(folders), findings)
    extra["categories"] = categories.records
    return AnnotatedSet(
        kind="coco",
        root=spec.path,
        photos=_joined(photos, findings),
        names=categories.names,
        numbers=categories.numbers,
        splits=tuple(dict.fromkeys(split for path in paths for split in _splits_of(path))),
        findings=tuple(findings),
        extra=extra,
        photo_dirs=tuple(dict.fromkeys(folders)),
    )


def _files_in(root):
    folder = root / "annotations" if (root / "annotations").is_dir() else root
    for pattern in ("instances_*.json", "person_keypoints_*.json", "*.json"):
        paths = sorted(folder.glob(pattern))
        if paths:
            return paths
    raise DatasetError(f"{root}: no annotations", expected="annotations/instances_*.json")


def _has_siblings(path):
    return path.is_file() and len(list(path.parent.glob("*.json"))) > 1


def _split_of(path):
    return path.stem.rpartition("_")[2] or path.stem


def _splits_of(path):
    """The list that the file is: none where it says that it holds all there is, or what is in no list."""
    split = _split_of(path)
    return () if split in NO_SPLIT else (split,)


def _joined(photos, findings):
    """One photo for the records of several files that name it, as those of train and of trainval do."""
    first: dict[str, AnnotatedPhoto] = {}
    for photo in photos:
        known = first.get(photo.name)
        if known is None:
            first[photo.name] = photo
            continue
        if _content(known) != _content(photo):
            words = f"{'/'.join(known.splits)} and {'/'.join(photo.splits)} describe it differently"
            findings.append(Finding(Fault.FILE_NAME_DUPLICATE, words, photo.name))
        splits = tuple(dict.fromkeys(known.splits + photo.splits))
        first[photo.name] = dataclasses.replace(known, splits=splits)
    return tuple(first.values())


def _content(photo):
    return photo.size, [(each.name, each.bbox) for each in photo.objects]


def _load(path, findings):
    data = read_bytes(path, limit=None)
    try:
        file = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        try:  # Python's own takes NaN, which is to be found and named, not to stop the reading
            file = json.loads(decode_leniently(data, path, path.name, findings) or "")
        except (ValueError, RecursionError) as error:
            raise DatasetError(f"{path}: not JSON", got=error) from error
    if not isinstance(file, dict) or not isinstance(file.get("images"), list):
        raise DatasetError(f"{path}: not of COCO's form", expected="a table with lists of images and annotations")
    for key in ("annotations", "categories"):
        if not isinstance(file.get(key, []), list):
            raise DatasetError(f"{path}: {key} is no list")
        if key not in file:
            findings.append(Finding(Fault.FIELD_MISSING, f"{path.name} has no {key}"))
    return file


def _photo_folder(path, spec, file):
    if spec.photos is not None:
        return spec.photos
    here, above = path.parent, path.parent.parent
    name = _split_of(path)
    places = [above / name, above / "images" / name, above / "images", above, here / "images", here / name, here]
    names = [each.get("file_name") for each in file["images"] if isinstance(each, dict)]
    for wanted in [each for each in names if isinstance(each, str) and "\0" not in each][:20]:
        for place in places:
            try:
                if (place / wanted).is_file():
                    return place
            except OSError:
                pass  # a name that is too long is no photo's
    existing = next((place for place in places[:3] if place.is_dir()), None)
    if existing is None:
        raise DatasetError(
            f"{path}: its photos are in none of the usual folders",
            expected=", ".join(map(str, places)),
            hint=f"coco:{path},photos=DIR",
        )
    return existing


def _read_photos(file, path, folder, prefix, categories, findings):
    records, places = [], {}
    by_name: dict[str, int] = {}
    for index, record in enumerate(file["images"]):
        found = _read_image(record, index, folder, prefix, findings)
        if found is None:
            continue
        id_, photo = found
        if photo.name in by_name:
            findings.append(Finding(Fault.FILE_NAME_DUPLICATE, f"images[{index}] is {photo.name} again", photo.name))
            places.setdefault(id_, by_name[photo.name])
            continue
        by_name[photo.name] = len(records)
        if id_ in places:
            findings.append(
                Finding(
                    Fault.IMAGE_ID_DUPLICATE,
                    f"images[{index}] has the id {id_} of {records[places[id_]].name}",
                    photo.name,
                    others=(records[places[id_]].name,),
                )
            )
        else:
            places[id_] = len(records)
        records.append(photo)
    objects: list[list] = [[] for _ in records]
    names = [photo.name for photo in records]
    annotation_ids: set[Any] = set()
    for index, record in enumerate(file.get("annotations", ())):
        found = read_object(record, index, places, names, categories, findings)
        if found is None:
            continue
        place, each = found
        _check_annotation_id(each, index, names[place], annotation_ids, findings)
        objects[place].append(each)
    splits = _splits_of(path)
    return [
        AnnotatedPhoto(photo.name, photo.path, None, photo.size, splits, tuple(found), photo.extra)
        for photo, found in zip(records, objects)
    ]


def _check_annotation_id(each, index, name, seen, findings):
    id_ = each.extra.get("id")
    if id_ is None:
        findings.append(Finding(Fault.FIELD_MISSING, f"annotations[{index}] has no id", name, index))
    elif id_ in seen:
        words = f"annotations[{index}] has the id {id_} again"
        findings.append(Finding(Fault.ANNOTATION_ID_DUPLICATE, words, name, index))
    elif id_ == 0:
        findings.append(Finding(Fault.ANNOTATION_ID_ZERO, f"annotations[{index}] has the id 0", name, index))
    seen.add(id_)


def _read_image(record, index, folder, prefix, findings):
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
        findings.append(Finding(Fault.FIELD_MALFORMED, f"images[{index}].id is {as_text(id_)}, no whole number", name))
    if leads_out(file_name) or "\\" in file_name:
        findings.append(Finding(Fault.NAME_UNSAFE, f"images[{index}].file_name is {as_text(file_name)}", name))
    sides = [record.get(side) for side in ("height", "width")]
    size = None
    if all(isinstance(side, int) for side in sides):
        size = tuple(sides)
    elif sides != [None, None]:
        findings.append(Finding(Fault.FIELD_MALFORMED, f"the size is {as_text(sides)}", name))
    path = folder / file_name
    try:
        is_there = path.is_file()
    except OSError:
        is_there = False
    extra = {key: value for key, value in record.items() if key not in ("file_name", "height", "width")}
    return id_, AnnotatedPhoto(name, path if is_there else None, None, size, extra=extra)


def _find_unlisted(photos, folders, findings):
    listed = {photo.path for photo in photos if photo.path is not None}
    for folder in folders:
        for path in list_image_files(folder, recursive=True) if folder.is_dir() else ():
            if path not in listed:
                name = display_name(path, folder)
                findings.append(Finding(Fault.ANNOTATION_MISSING, "no file of annotations knows this photo", name))
