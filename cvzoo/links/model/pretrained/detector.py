"""Sources of the weights, classes and config of detectors."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from cvzoo.errors.exceptions import FileFormatError, WeightsMismatchError
from cvzoo.links.chain import Chain
from cvzoo.links.model.architecture import StoredDetector, stored_detector
from cvzoo.links.model.pretrained.names import Arrays, Names
from cvzoo.links.model.pretrained.source import PretrainedFile, decided_classes, read_pretrained
from cvzoo.links.model.thresholds import AbstractThresholds, ClassPreset
from cvzoo.weights.record import Weights


class DetectorSource(NamedTuple):
    """What a detector is to be built as, and the file for `load_pretrained`.

    n_fg_class, label_names: of the detector to be, the latter None if there are none
    config: of the detector to be: as asked for, else as the file has it; None if neither says
    is_asked: the caller gave the config
    file: None if the detector starts from random numbers
    stored: what `save_model` wrote into the file, None if that is nothing
    """

    n_fg_class: int
    label_names: tuple[str, ...] | None
    config: Any
    is_asked: bool = False
    file: PretrainedFile | None = None
    stored: StoredDetector | None = None

    def use_thresholds(self, model: AbstractThresholds) -> None:
        """Give the model the thresholds that its file has, if it has any."""
        if self.stored is not None and self.stored.presets is not None:
            # thresholds of classes are of no use to a model of others
            model.presets = {
                name: preset
                for name, preset in self.stored.presets.items()
                if not isinstance(preset, ClassPreset) or len(preset.class_score_thresh) == self.n_fg_class
            }
            model.limit = self.stored.limit
        model.use_preset("visualize")


class DetectorFiles(NamedTuple):
    """What a family of detectors declares of its files.

    architecture: what files that cvzoo saved call such a detector
    names: publisher -> its names
    count_classes: from the arrays of a detector by our names, how many classes it knows; None: they do not tell
    config_class: of the config that cvzoo's files give to the constructor; None: they give nothing but names of classes
    known_names: names of classes, one or several lists of different lengths, where a file does not say them
    default_names: of the classes where neither the caller nor a file says how many there are
    """

    architecture: str
    names: Mapping[str, Names]
    count_classes: Callable[[Arrays], int | None]
    config_class: type | None = None
    known_names: Sequence[tuple[str, ...]] = ()
    default_names: tuple[str, ...] | None = None


def detector_source(
    pretrained_model: str | os.PathLike | None,
    records: Mapping[str, Weights],
    files: DetectorFiles,
    *,
    n_fg_class: int | None,
    label_names: Sequence[str] | None,
    config: Any = None,
    base: Any = None,
    published: Mapping[str, Any] = MappingProxyType({}),
) -> DetectorSource:
    """What a detector is to be built as; the file is fetched and read, nothing is built yet.

    pretrained_model: a name in `records`, the path of a file, or None
    n_fg_class, label_names, config: what the caller asked for, None where he did not say
    base: what a publisher's table makes the file's config of; None: the config asked for
    published: the config of a name's network, of which its arrays may not tell all
    Raises ValueRangeError for an unknown name, no file, or names that are not as many as the classes;
    WeightsMismatchError if a file fits no model of the table; FileFormatError if what it says makes no such detector;
    what reading it raises.
    """
    file = stored = None
    if pretrained_model is not None:
        n_wanted = len(label_names) if n_fg_class is None and label_names is not None else n_fg_class
        file, stored = _read(pretrained_model, records, files, n_wanted, config if base is None else base)
        if stored is None and isinstance(pretrained_model, str) and pretrained_model in published:
            file = file._replace(config=published[pretrained_model])
    default = files.default_names
    n_fg_class, label_names = decided_classes(
        n_fg_class,
        label_names,
        file,
        name=f"{files.architecture}: n_fg_class",
        default=None if default is None else len(default),
        known_names=() if default is None else (default,),
    )
    chosen = file.config if config is None and file is not None else config
    return DetectorSource(n_fg_class, label_names, chosen, config is not None, file, stored)


def networks_of_file(
    source: DetectorSource,
    config: Any,
    make: Callable[[int, Any], Chain],
    with_anchors_of: Callable[[Any, Arrays], Any],
) -> list[Callable[[], Chain]]:
    """Makers of the networks that a detector's file may have been written of, for `load_pretrained`.

    config: of the detector to be
    make: from classes and a config, the detector
    with_anchors_of: from a config and a file's arrays, the same with as many anchors as there: unless the file
        states its config, it may be the network asked for but for the number of classes and anchors
    """
    file = source.file
    if file is None or not file.n_class:
        return []
    configs = [config if file.config is None else file.config]
    if file.header is None:
        configs.append(with_anchors_of(config, file.arrays) if source.is_asked else config)
    return [partial(make, file.n_class, own) for own in configs]


def _read(
    pretrained_model: str | os.PathLike,
    records: Mapping[str, Weights],
    files: DetectorFiles,
    n_class: int | None,
    config: Any,
) -> tuple[PretrainedFile, StoredDetector | None]:
    """The file with its classes, of which a backbone's has none, and what `save_model` wrote into it."""
    names, architecture = files.names, files.architecture
    file = read_pretrained(pretrained_model, records, names, architecture=architecture, n_class=n_class, config=config)
    if file.publisher is None and file.header is None:
        marks = dict.fromkeys(", ".join(each.marks) for each in names.values())
        raise WeightsMismatchError(
            f"{file.path}: holds no {architecture}, and nothing that one starts from",
            expected="; or ".join(marks),
            got=", ".join(list(file.arrays)[:5]) or "no arrays",
        )
    if file.header is None or files.config_class is None:
        return _counted(file, files), None
    try:
        stored = stored_detector(file.header.settings, files.config_class)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise FileFormatError(f"{file.path}: its settings make no {architecture}: {str(error)[:200]}") from error
    return file._replace(config=stored.config, n_class=stored.n_fg_class, label_names=file.header.label_names), stored


def _counted(file: PretrainedFile, files: DetectorFiles) -> PretrainedFile:
    n = files.count_classes(file.arrays) if file.only == ("",) else None
    if n is None:
        return file
    if file.header is not None:
        return file._replace(n_class=n, label_names=file.header.label_names)
    of_publisher = None if file.publisher is None else files.names[file.publisher].label_names
    found = None if of_publisher is None else of_publisher(n)
    if found is None:
        found = next((each for each in files.known_names if len(each) == n), None)
    return file._replace(n_class=n, label_names=found)
