"""What a file of weights gives to an SSDLite, whoever wrote it."""

import os

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.coco_categories import torchvision_label_names
from cvzoo.links.model.detector_source import DetectorSource, saved_source
from cvzoo.links.model.pretrained.path import pretrained_path
from cvzoo.links.model.ssdlite.config import SSDLiteSettings
from cvzoo.links.model.ssdlite.torchvision_names import from_torchvision, is_torchvision_ssdlite
from cvzoo.links.model.ssdlite.weights import WEIGHTS
from cvzoo.weights.sniff import read_arrays


def read_pretrained(
    pretrained_model: str | os.PathLike, *, n_fg_class: int | None, settings: SSDLiteSettings | None
) -> DetectorSource:
    """What a name or a path leads to.

    pretrained_model: "coco", or the path of a file of torchvision or cvzoo, recognised by its names
    n_fg_class, settings: of the model to be, as far as they are given
    Raises ValueRangeError for an unknown name, and what reading the file raises.
    """
    path = pretrained_path(pretrained_model, WEIGHTS)
    arrays = read_arrays(path)
    saved = saved_source(path, arrays, "SSDLite", SSDLiteSettings)
    if saved is not None:
        return saved
    built = SSDLiteSettings() if settings is None else settings
    is_torchvision = is_torchvision_ssdlite(arrays)
    if is_torchvision:
        arrays = from_torchvision(arrays, n_fg_class=n_fg_class, width=built.width, reduced_tail=built.reduced_tail)
    if "multibox/loc/0/out/b" not in arrays:
        return DetectorSource(os.fspath(path), arrays)
    n = 4 * len(arrays["multibox/conf/0/out/b"]) // len(arrays["multibox/loc/0/out/b"]) - 1
    names = torchvision_label_names(n) if is_torchvision or n == len(coco_bbox_label_names) else None
    return DetectorSource(os.fspath(path), arrays, built, n, names)
