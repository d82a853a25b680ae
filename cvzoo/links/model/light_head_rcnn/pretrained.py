"""What a file of weights gives to a network in two stages on ResNet-101."""

import os
from collections.abc import Mapping

from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.links.model.detector_source import DetectorSource
from cvzoo.links.model.light_head_rcnn.chainercv_names import own_resnet_names
from cvzoo.links.model.pretrained.path import pretrained_path
from cvzoo.weights.model_header import read_model_header
from cvzoo.weights.record import Weights
from cvzoo.weights.sniff import read_arrays


def read_resnet101_pretrained(
    pretrained_model: str | os.PathLike,
    records: Mapping[str, Weights],
    *,
    per_class: str,
    n_each: int,
    known: Mapping[int, tuple[str, ...]],
) -> DetectorSource:
    """What a name or a path leads to: a detector of ChainerCV or of cvzoo, or a ResNet-101 of ChainerCV.

    per_class: the array with n_each numbers a class, the background counted
    known: number of classes -> their names, where the file has none
    Raises ValueRangeError for an unknown name, WeightsMismatchError if the file holds neither, what reading raises.
    """
    path = os.fspath(pretrained_path(pretrained_model, records))
    arrays = read_arrays(path)
    if "conv1/conv/W" in arrays and "res2/a/conv1/conv/W" in arrays:
        backbone = {name: array for name, array in arrays.items() if not name.startswith("fc6/")}
        named = {f"extractor/{name}": array for name, array in own_resnet_names(backbone).items()}
        return DetectorSource(path, named, only=("extractor/",))
    if per_class not in arrays or "extractor/conv1/conv/W" not in arrays:
        raise WeightsMismatchError(
            f"{path}: is no such network, and no ResNet-101",
            expected=f"extractor/conv1/conv/W, {per_class} ...; or conv1/conv/W, res2/a/conv1/conv/W ...",
            got=", ".join(list(arrays)[:5]) or "no arrays",
        )
    n_fg_class = len(arrays[per_class]) // n_each - 1
    header = read_model_header(path)
    names = known.get(n_fg_class) if header is None else header.label_names
    return DetectorSource(path, own_resnet_names(arrays), None, n_fg_class, names)
