"""Sources of the weights, classes and preprocessing of classifiers and segmenters."""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.labels.imagenet import imagenet_label_names
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.pretrained.source import PretrainedFile, decided_classes, read_pretrained
from cvzoo.weights.record import Weights

_N_IMAGENET = len(imagenet_label_names)


class ClassWeights(NamedTuple):
    """A published file of a classifier.

    record: of the file
    preparation: preprocessing with which its score was measured
    """

    record: Weights
    preparation: CenterCrop


class ClassSource(NamedTuple):
    """The settings of a network to be built, and the file for `load_pretrained`.

    n_class, label_names: of the network, the latter None if there are none
    preparation: its preprocessing
    file: None for random initialization
    may_start_anew: the heads, if the caller gave the number of classes
    """

    n_class: int
    label_names: tuple[str, ...] | None
    preparation: CenterCrop
    file: PretrainedFile | None = None
    may_start_anew: tuple[str, ...] = ()


def classifier_source(
    pretrained_model: str | os.PathLike | None,
    records: Mapping[str, ClassWeights],
    names: Mapping[str, Names],
    *,
    heads: Sequence[str],
    n_class: int | None,
    label_names: Sequence[str] | None,
    default: CenterCrop,
    class_array: str | None = None,
) -> ClassSource:
    """The settings of a classifier to be built; the file is downloaded and read.

    pretrained_model: a name in `records`, the path of a file, or None
    names: publisher -> its names
    heads: paths of the links whose shapes depend on the number of classes, such as ("fc",)
    n_class, label_names: arguments of the caller, or None; without both and without a file there are ImageNet's 1000
        classes
    default: preprocessing, unless the model's name, the file or the file's name determines it
    class_array: the array with one value per class; None: the first head's bias
    Raises ValueRangeError if names and classes differ in number, or for unknown weights; WeightsMismatchError if the
    file has no such array; what reading it raises.
    """
    if n_class is not None or label_names is not None or pretrained_model is None:
        decided_classes(n_class, label_names, None, name="n_class", default=_N_IMAGENET)  # fails before a download
    file = None
    if pretrained_model is not None:
        known = {key: each.record for key, each in records.items()}
        file = _counted(read_pretrained(pretrained_model, known, names), class_array or f"{heads[0]}/b")
    is_given = n_class is not None or label_names is not None
    n_class, label_names = decided_classes(n_class, label_names, file, name="n_class", default=_N_IMAGENET)
    if file is None:
        return ClassSource(n_class, label_names, default)
    of_publisher = None if file.publisher is None else names.get(file.publisher)
    default = default if of_publisher is None else of_publisher.preparation or default
    preparation = _preparation(pretrained_model, records, file, default)
    return ClassSource(n_class, label_names, preparation, file, tuple(heads) if is_given else ())


def segmenter_source(
    pretrained_model: str | os.PathLike | None,
    records: Mapping[str, Weights],
    names: Mapping[str, Names],
    *,
    heads: Sequence[str],
    n_class: int | None,
    label_names: Sequence[str] | None,
    usual_names: Sequence[Sequence[str]],
    class_array: str | None = None,
) -> ClassSource:
    """The settings of a segmenter to be built, as in `classifier_source`; its `preparation` is unused.

    usual_names: class names of published files of this network, one or several lists of different lengths; the first
        determines the number of classes without a file, `n_class` and `label_names`
    """
    if pretrained_model is None and n_class is None and label_names is None:
        n_class = len(usual_names[0])
    source = classifier_source(
        pretrained_model,
        {key: ClassWeights(record, CenterCrop()) for key, record in records.items()},
        names,
        heads=heads,
        n_class=n_class,
        label_names=label_names,
        default=CenterCrop(),
        class_array=class_array,
    )
    if source.file is None or label_names is not None or source.file.n_class != source.n_class:
        return source
    label_names = source.label_names
    if isinstance(pretrained_model, str) and pretrained_model in records:
        label_names = records[pretrained_model].label_names or None
    if label_names is None:
        label_names = next((tuple(each) for each in usual_names if len(each) == source.n_class), None)
    return source._replace(label_names=label_names)


def _counted(file: PretrainedFile, class_array: str) -> PretrainedFile:
    """The file with its classes, whose number is the length of an array."""
    if class_array not in file.arrays:
        raise WeightsMismatchError(
            f"{file.path}: the array {class_array!r} of this classifier is missing",
            expected="a file of this network, by its publisher's names or by cvzoo's",
            got=", ".join(list(file.arrays)[:5]) or "no arrays",
        )
    n = len(file.arrays[class_array])
    known = imagenet_label_names if n == _N_IMAGENET else None
    return file._replace(n_class=n, label_names=known if file.header is None else file.header.label_names)


def _preparation(
    pretrained_model: str | os.PathLike | None,
    records: Mapping[str, ClassWeights],
    file: PretrainedFile,
    default: CenterCrop,
) -> CenterCrop:
    if isinstance(pretrained_model, str) and pretrained_model in records:
        return records[pretrained_model].preparation
    if file.header is not None and "preparation" in file.header.settings:
        return CenterCrop.from_json(file.header.settings["preparation"])
    # a published file that was downloaded manually has the published preprocessing
    published = {each.record.file_name: each.preparation for each in records.values()}
    return published.get(os.path.basename(file.path), default)
