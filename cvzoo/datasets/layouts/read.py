"""Reads a data set of any layout leniently."""

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.image_location import is_below, leads_out
from cvzoo.datasets.layouts.annotated_set import AnnotatedSet
from cvzoo.datasets.layouts.coco_files import splits_named
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.layouts.read_coco import read_coco
from cvzoo.datasets.layouts.read_labelme import read_labelme
from cvzoo.datasets.layouts.read_sroie import read_sroie
from cvzoo.datasets.layouts.read_voc import read_voc
from cvzoo.datasets.layouts.read_yolo import read_yolo
from cvzoo.datasets.voc.folders import voc_folders
from cvzoo.errors.exceptions import ConfigError

_READERS: Mapping[str, Callable[[DataSpec], AnnotatedSet]] = MappingProxyType(
    {"voc": read_voc, "coco": read_coco, "yolo": read_yolo, "sroie": read_sroie, "labelme": read_labelme}
)


def read_annotated_set(spec: DataSpec) -> AnnotatedSet:
    """The annotations of a data set with all their faults; what could not be read is in its findings.

    Images are not decoded. With spec.split, only the images of that split are included. Images outside of the data
    set's folder, by their names or by links, are treated as missing, unless spec.outside allows them.
    Raises DatasetError if there is nothing to read, ConfigError for an unknown split, OSError.
    """
    _check_split(spec)
    annotated = _READERS[spec.kind](spec)
    annotated = _with_outside(annotated) if spec.outside else _without_outside(annotated, spec)
    if spec.split is None:
        return annotated
    named = splits_named(spec.split, annotated.splits)
    if len(named) != 1:
        raise ConfigError(
            f"{spec}: {'several splits are' if named else 'unknown split'} {spec.split}",
            expected=", ".join(named or annotated.splits) or "no split=",
        )
    images = tuple(image for image in annotated.images if named[0] in image.splits)
    names = {image.name for image in images}
    findings = tuple(each for each in annotated.findings if each.image is None or each.image in names)
    return dataclasses.replace(annotated, images=images, splits=(named[0],), findings=findings)


def _check_split(spec: DataSpec) -> None:
    """Raises ConfigError for an unknown split, if that is known without reading the data."""
    if spec.split is None or spec.kind not in ("voc", "sroie", "labelme"):
        return
    folder = spec.lists or (voc_folders(spec.path).lists if spec.kind == "voc" else spec.path)
    if not (folder / f"{spec.split}.txt").is_file():
        known = ", ".join(sorted(path.stem for path in folder.glob("*.txt")))
        raise ConfigError(f"{spec}: unknown split {spec.split}", expected=known or "no split=")


def _with_outside(annotated: AnnotatedSet) -> AnnotatedSet:
    findings = tuple(each for each in annotated.findings if each.kind is not Fault.NAME_UNSAFE)
    return dataclasses.replace(annotated, findings=findings)


def _without_outside(annotated: AnnotatedSet, spec: DataSpec) -> AnnotatedSet:
    folders = spec.real_folders(annotated.image_dirs)
    images, findings = [], list(annotated.findings)
    known = {each.image for each in findings if each.kind is Fault.NAME_UNSAFE}
    for image in annotated.images:
        if image.path is not None and (leads_out(image.name) or not is_below(image.path, folders)):
            if image.name not in known:
                findings.append(Finding(Fault.NAME_UNSAFE, f"a link to {image.path.resolve()}", image.name))
            image = dataclasses.replace(image, path=None)
        images.append(image)
    return dataclasses.replace(annotated, images=tuple(images), findings=tuple(findings))
