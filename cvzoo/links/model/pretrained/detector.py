"""Sources of the weights, classes and config of detectors."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from cvzoo.errors.exceptions import FileFormatError, WeightsMismatchError
from cvzoo.links.chain import Chain
from cvzoo.links.model.architecture import StoredDetector, stored_detector
from cvzoo.links.model.config import ModelConfig
from cvzoo.links.model.pretrained.names import Arrays, Names
from cvzoo.links.model.pretrained.source import PretrainedFile, decided_classes, read_pretrained
from cvzoo.links.model.thresholds import AbstractThresholds, ClassPreset
from cvzoo.weights.record import Weights


class DetectorSource(NamedTuple):
    """The settings of a detector to be built, and the file for `load_pretrained`.

    n_fg_class, label_names: of the detector, the latter None if there are none
    config: of the detector: the caller's, else the file's; None without either
    is_given: whether it is the caller's
    file: None for random initialization
    stored: settings that `save_model` wrote to the file, or None
    """

    n_fg_class: int
    label_names: tuple[str, ...] | None
    config: ModelConfig
    is_given: bool = False
    file: PretrainedFile | None = None
    stored: StoredDetector | None = None

    def use_thresholds(self, model: AbstractThresholds) -> None:
        """Set the model's thresholds to those of its file, if it has any."""
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
    """The format of the files of a family of detectors.

    architecture: its name in files saved by cvzoo
    names: publisher -> its names
    count_classes: from the arrays of a detector by cvzoo's names, its number of classes; None: they do not determine it
    config_class: class of the config in cvzoo's files; None: these contain only class names
    known_names: class names for files without names, one or several lists of different lengths
    default_names: class names if neither the caller nor a file determines the number of classes
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
    config: ModelConfig = None,
    base: ModelConfig = None,
    published: Mapping[str, ModelConfig] = MappingProxyType({}),
) -> DetectorSource:
    """The settings of a detector to be built; the file is downloaded and read.

    pretrained_model: a name in `records`, the path of a file, or None
    n_fg_class, label_names, config: arguments of the caller, or None
    base: the config from which a publisher's table derives that of the file; None: the caller's
    published: the config of a named network, which its arrays may not determine completely
    Raises ValueRangeError for an unknown name, a missing file, or if names and classes differ in number;
    WeightsMismatchError if a file matches no publisher; FileFormatError if its settings are invalid; what reading it
    raises.
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
    config: ModelConfig,
    make: Callable[[int, ModelConfig], Chain],
    with_anchors_of: Callable[[ModelConfig, Arrays], ModelConfig],
) -> list[Callable[[], Chain]]:
    """Constructors of the networks that a detector's file may contain, for `load_pretrained`.

    config: of the detector
    make: from a number of classes and a config, the detector
    with_anchors_of: from a config and a file's arrays, the same with the file's number of anchors: unless the file
        states its config, it may differ from the requested one in the numbers of classes and anchors
    """
    file = source.file
    if file is None or not file.n_class:
        return []
    configs = [config if file.config is None else file.config]
    if file.header is None:
        configs.append(with_anchors_of(config, file.arrays) if source.is_given else config)
    return [partial(make, file.n_class, own) for own in configs]


def _read(
    pretrained_model: str | os.PathLike,
    records: Mapping[str, Weights],
    files: DetectorFiles,
    n_class: int | None,
    config: ModelConfig,
) -> tuple[PretrainedFile, StoredDetector | None]:
    """The file with its classes (a backbone's has none), and the settings that `save_model` wrote to it."""
    names, architecture = files.names, files.architecture
    file = read_pretrained(pretrained_model, records, names, architecture=architecture, n_class=n_class, config=config)
    if file.publisher is None and file.header is None:
        marks = dict.fromkeys(", ".join(each.marks) for each in names.values())
        raise WeightsMismatchError(
            f"{file.path}: contains neither a {architecture} nor a backbone",
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
    label_names = None if of_publisher is None else of_publisher(n)
    if label_names is None:
        label_names = next((each for each in files.known_names if len(each) == n), None)
    return file._replace(n_class=n, label_names=label_names)
