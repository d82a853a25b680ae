"""Reading of a weight file, given by name or path, with arrays by our names."""

import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cvzoo.errors.exceptions import CvzooError, DtypeError, ValueRangeError, WeightsMismatchError
from cvzoo.links.model.pretrained.names import Arrays, Names, publisher_of
from cvzoo.weights.download import fetch_weights
from cvzoo.weights.model_header import ModelHeader, read_model_header
from cvzoo.weights.record import Weights
from cvzoo.weights.sniff import read_arrays


def pretrained_path(pretrained_model: str | os.PathLike, records: Mapping[str, Weights]) -> pathlib.Path:
    """The path of a file of weights, fetched first where a name of the table was given.

    Once the file's arrays have their places in a model, `cvzoo.weights.download.pin_weights` is to be told the path: of
    a file without a published hash that is the only proof.

    pretrained_model: a name in `records`, or a path
    Raises ValueRangeError, listing the names, if it is neither; DtypeError for an object of another type, such as
    False; DownloadError if the file cannot be had.
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

    path: of it
    arrays: by our names
    publisher: whose names it has, a key of the family's table; None if they are none of these, and taken for ours
    header: what `save_model` wrote into it, None if that is nothing, or about another architecture
    only: beginnings of the paths that it is about, see `Names`
    config: how the network in it is built, None if it does not say
    n_class: how many classes it knows, None if it does not say, as a backbone's
    label_names: their names, or None
    """

    path: str
    arrays: Arrays
    publisher: str | None = None
    header: ModelHeader | None = None
    only: tuple[str, ...] = ("",)
    config: Any = None
    n_class: int | None = None
    label_names: tuple[str, ...] | None = None


def read_pretrained(
    pretrained_model: str | os.PathLike,
    records: Mapping[str, Weights],
    names: Mapping[str, Names],
    *,
    architecture: str | None = None,
    n_class: int | None = None,
    config: Any = None,
) -> PretrainedFile:
    """The file of a name or a path, fetched first if need be, and read; how many classes it knows is left open.

    pretrained_model: a name in `records`, or a path
    names: publisher -> its names; of several that fit a file the first counts
    architecture: what `save_model` calls such a network: a file that says it is one has our names
    n_class, config: of the model to be, as far as they are known
    Raises ValueRangeError for an unknown name, WeightsMismatchError if the file lacks an array without which the others
    cannot be laid out or has it in a shape that no such network has, and what reading the file raises.
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
        told = None if table.config is None else table.config(config, theirs, ours)
    except KeyError as error:
        raise WeightsMismatchError(f"{path}: it lacks an array", expected=str(error.args[0])[:120]) from error
    except CvzooError:
        raise
    except (IndexError, TypeError, ValueError) as error:
        raise WeightsMismatchError(f"{path}: an array has a shape that {publisher}'s have not: {error}") from error
    return PretrainedFile(path, ours, publisher, header, table.only, told)


def decided_classes(
    n_class: int | None,
    label_names: Sequence[str] | None,
    file: PretrainedFile | None,
    *,
    name: str,
    default: int | None = None,
    known_names: Sequence[Sequence[str]] = (),
) -> tuple[int, tuple[str, ...] | None]:
    """(number of classes, their names or None): as they were given, else as the file has them, else the default.

    name: of the argument, with the model's before it, for errors
    known_names: label names used where neither caller nor file gives any and their count fits
    Raises ValueRangeError if there is no number, or the names are not as many.
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
