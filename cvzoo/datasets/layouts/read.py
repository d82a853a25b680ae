"""Reads a data set of any layout leniently."""

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.image_location import is_below, leads_out
from cvzoo.datasets.layouts.annotated_set import AnnotatedSet
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.layouts.read_coco import read_coco
from cvzoo.datasets.layouts.read_sroie import read_sroie
from cvzoo.datasets.layouts.read_voc import read_voc
from cvzoo.datasets.layouts.read_yolo import read_yolo
from cvzoo.datasets.voc.folders import voc_folders
from cvzoo.errors.exceptions import ConfigError

_READERS: Mapping[str, Callable[[DataSpec], AnnotatedSet]] = MappingProxyType(
    {"voc": read_voc, "coco": read_coco, "yolo": read_yolo, "sroie": read_sroie}
)


def read_annotated_set(spec: DataSpec) -> AnnotatedSet:
    """The annotations of a data set with all their faults; what could not be read is in its findings.

    Images are not decoded. With spec.split, only the images of that split are included. Images outside of the data
    set's folder, by their names or by links, are treated as missing, unless spec.outside allows them.
    Raises DatasetError if there is nothing to read, ConfigError for an unknown split, OSError.
    """
    _check_split(spec)
    found = _READERS[spec.kind](spec)
    found = _with_outside(found) if spec.outside else _without_outside(found, spec)
    if spec.split is None:
        return found
    if spec.split not in found.splits:
        raise ConfigError(f"{spec}: unknown split {spec.split}", expected=", ".join(found.splits) or "no split=")
    photos = tuple(photo for photo in found.photos if spec.split in photo.splits)
    names = {photo.name for photo in photos}
    findings = tuple(each for each in found.findings if each.photo is None or each.photo in names)
    return dataclasses.replace(found, photos=photos, splits=(spec.split,), findings=findings)


def _check_split(spec: DataSpec) -> None:
    """Raises ConfigError for an unknown split, if that is known without reading the data."""
    if spec.split is None or spec.kind not in ("voc", "sroie"):
        return
    folder = spec.lists or (voc_folders(spec.path).lists if spec.kind == "voc" else spec.path)
    if not (folder / f"{spec.split}.txt").is_file():
        known = ", ".join(sorted(path.stem for path in folder.glob("*.txt")))
        raise ConfigError(f"{spec}: unknown split {spec.split}", expected=known or "no split=")


def _with_outside(found: AnnotatedSet) -> AnnotatedSet:
    findings = tuple(each for each in found.findings if each.kind is not Fault.NAME_UNSAFE)
    return dataclasses.replace(found, findings=findings)


def _without_outside(found: AnnotatedSet, spec: DataSpec) -> AnnotatedSet:
    folders = spec.real_folders(found.photo_dirs)
    photos, findings = [], list(found.findings)
    known = {each.photo for each in findings if each.kind is Fault.NAME_UNSAFE}
    for photo in found.photos:
        if photo.path is not None and (leads_out(photo.name) or not is_below(photo.path, folders)):
            if photo.name not in known:
                findings.append(Finding(Fault.NAME_UNSAFE, f"a link to {photo.path.resolve()}", photo.name))
            photo = dataclasses.replace(photo, path=None)
        photos.append(photo)
    return dataclasses.replace(found, photos=tuple(photos), findings=tuple(findings))
