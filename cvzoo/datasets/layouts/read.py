"""Reading a data set of any layout leniently."""

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType

from cvzoo.datasets.layouts.annotated_set import AnnotatedSet
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.layouts.read_coco import read_coco
from cvzoo.datasets.layouts.read_sroie import read_sroie
from cvzoo.datasets.layouts.read_voc import read_voc
from cvzoo.datasets.layouts.read_yolo import read_yolo
from cvzoo.errors.exceptions import ConfigError

_READERS: Mapping[str, Callable[[DataSpec], AnnotatedSet]] = MappingProxyType(
    {"voc": read_voc, "coco": read_coco, "yolo": read_yolo, "sroie": read_sroie}
)


def read_annotated_set(spec: DataSpec) -> AnnotatedSet:
    """The data set with all that is wrong with it; what could not be understood is in its findings.

    Photos are not decoded. With spec.split, only the photos of that list are there.
    Raises DatasetError if there is nothing to read, ConfigError for a split that there is not, OSError.
    """
    found = _READERS[spec.kind](spec)
    if spec.split is None:
        return found
    if spec.split not in found.splits:
        raise ConfigError(f"{spec}: there is no list {spec.split}", expected=", ".join(found.splits) or "no split=")
    photos = tuple(photo for photo in found.photos if spec.split in photo.splits)
    names = {photo.name for photo in photos}
    findings = tuple(each for each in found.findings if each.photo is None or each.photo in names)
    return dataclasses.replace(found, photos=photos, splits=(spec.split,), findings=findings)
