"""Reading of a weight file, given by name or path, with arrays by cvzoo's names."""

import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cvzoo.errors.exceptions import CvzooError, DtypeError, ValueRangeError, WeightsMismatchError
from cvzoo.links.model.config import ModelConfig
from cvzoo.links.model.pretrained.names import Arrays, Names, publisher_of
from cvzoo.weights.download import fetch_weights
from cvzoo.weights.model_header import ModelHeader, read_model_header
from cvzoo.weights.record import Weights
from cvzoo.weights.sniff import read_arrays


def pretrained_path(pretrained_model: str | os.PathLike, records: Mapping[str, Weights]) -> pathlib.Path:
    """The path of a file of weights, downloaded first if it is a name in the table.

    After the file's arrays were loaded into a model, `cvzoo.weights.download.pin_weights` is to be called with the
    path: without a published hash, only that proves that the file is the right one.

    pretrained_model: a name in `records`, or a path
    Raises ValueRangeError, listing the names, if it is neither; DtypeError for an object of another type, such as
    False; DownloadError if the file cannot be downloaded.
    """
    if not isinstance(pretrained_model, str | os.PathLike):
        raise DtypeError(
            "pretrained_model must be a known name or a path, or None for random weights",
            expected=" or ".join([*map(repr, records), "the path of a file", "None"]),
            got=repr(pretrained_model),
        )
    if isinstance(pretrained_model, str) and pretrained_model in records:
        return fetch_weights(records[pretrained_model], pin=False)
    path = pathlib.Path(pretrained_model)
    if not path.is_file():
        raise ValueRangeError(
            "pretrained_model is neither a known name nor a file",
            expected=" or ".join([*map(repr, records), "the path of a file"]),
            got=repr(str(pretrained_model)),
        )
    return path


class PretrainedFile(NamedTuple):
    """A file of weights for a network of a family.

    path: of the file
    arrays: by cvzoo's names
    publisher: a key of the family's table; None if no publisher's names match, so that they are taken for cvzoo's
    header: of `save_model`, None without one, or for a different architecture
    only: prefixes of the paths that it contains, see `Names`
    config: of the network in the file, None if the file does not determine it
    n_class: number of classes, None if the file does not determine it, such as a backbone's
    label_names: class names, or None
    """

    path: str
    arrays: Arrays
    publisher: str | None = None
    header: ModelHeader | None = None
    only: tuple[str, ...] = ("",)
    config: ModelConfig = None
    n_class: int | None = None
    label_names: tuple[str, ...] | None = None


def read_pretrained(
    pretrained_model: str | os.PathLike,
    records: Mapping[str, Weights],
    names: Mapping[str, Names],
    *,
    architecture: str | None = None,
    n_class: int | None = None,
    config: ModelConfig = None,
) -> PretrainedFile:
    """The file of a name or a path, downloaded if necessary, and read, without its number of classes.

    pretrained_model: a name in `records`, or a path
    names: publisher -> its names; the first match is used
    architecture: name of the network in files of `save_model`, which have cvzoo's names
    n_class, config: of the model, if known
    Raises ValueRangeError for an unknown name, WeightsMismatchError if the file lacks an array that the conversion of
    others needs or has it in an invalid shape, and what reading the file raises.
    """
    path = os.fspath(pretrained_path(pretrained_model, records))
    header, theirs = read_model_header(path), read_arrays(path)
    if architecture is not None:
        header = header if header is not None and header.architecture == architecture else None
    publisher = publisher_of(theirs, names)
    if publisher is None or (architecture is not None and header is not None):
        return PretrainedFile(path, theirs, None, header)
    table = names[publisher]
    try:
        ours = table(theirs, n_class)
        config_in_file = None if table.config is None else table.config(config, theirs, ours)
    except KeyError as error:
        raise WeightsMismatchError(f"{path}: it lacks an array", expected=str(error.args[0])[:120]) from error
    except CvzooError:
        raise
    except (IndexError, TypeError, ValueError) as error:
        raise WeightsMismatchError(f"{path}: an array has a shape that {publisher}'s have not: {error}") from error
    return PretrainedFile(path, ours, publisher, header, table.only, config_in_file)


def decided_classes(
    n_class: int | None,
    label_names: Sequence[str] | None,
    file: PretrainedFile | None,
    *,
    name: str,
    default: int | None = None,
    known_names: Sequence[Sequence[str]] = (),
) -> tuple[int, tuple[str, ...] | None]:
    """(number of classes, class names or None): the caller's, else the file's, else the default.

    name: of the argument, with the model's before it, for errors
    known_names: class names used if neither caller nor file has any and their number matches
    Raises ValueRangeError without a number, or if the names differ in number.
    """
    if n_class is None and label_names is not None:
        n_class = len(label_names)
    if n_class is None and file is not None:
        n_class = file.n_class
    if n_class is None:
        n_class = default
    if isinstance(n_class, bool) or not isinstance(n_class, int) or n_class < 1:
        raise ValueRangeError(f"{name} must be a positive integer", got=repr(n_class))
    if label_names is None and file is not None and file.n_class == n_class:
        label_names = file.label_names
    if label_names is None:
        label_names = next((each for each in known_names if len(each) == n_class), None)
    if label_names is not None and len(label_names) != n_class:
        raise ValueRangeError("label_names must be one per class", expected=n_class, got=len(label_names))
    return n_class, None if label_names is None else tuple(label_names)
