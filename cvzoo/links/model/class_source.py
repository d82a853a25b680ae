"""Where a classifier's numbers, its classes and its way to see a photo come from."""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError, WeightsMismatchError
from cvzoo.labels.imagenet import imagenet_label_names
from cvzoo.links.chain import Chain
from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.pretrained import pretrained_path
from cvzoo.weights.download import pin_weights
from cvzoo.weights.model_header import read_model_header
from cvzoo.weights.record import Weights
from cvzoo.weights.report import LoadReport
from cvzoo.weights.sniff import read_arrays

Arrays = Mapping[str, np.ndarray]


class ClassWeights(NamedTuple):
    """A published file of a classifier.

    record: where it lies and what it is
    preparation: how photos were prepared when its score was measured
    """

    record: Weights
    preparation: PhotoPreparation


class ClassSource(NamedTuple):
    """What `class_source` found out; `take` gives the numbers to the network, once it is built.

    n_class: how many classes the network is to have
    label_names: their names, or None
    preparation: how it is to see a photo
    path, arrays: of the file, by our names; None if the network starts from random numbers
    may_cut: whether the network may have other classes than the file, because the caller said how many
    """

    n_class: int
    label_names: tuple[str, ...] | None
    preparation: PhotoPreparation
    path: str | None = None
    arrays: Arrays | None = None
    may_cut: bool = False

    def take(self, model: Chain, *, head: Sequence[str]) -> LoadReport | None:
        """The report of what started anew, None without a file; all else has the file's numbers.

        head: the paths of the links whose shapes depend on the number of classes, such as ("fc",): only they may start
            anew, and only where the caller asked for another number of classes; a warning then names them
        Raises WeightsMismatchError for all else that is missing, left over or of another shape; nothing is taken then.
        """
        if self.arrays is None:
            return None
        if not self.may_cut:
            report = model.load_arrays(self.arrays)
            pin_weights(self.path)
            return report
        wanted = model.state_arrays()
        anew = {
            name: array
            for name, array in self.arrays.items()
            if name in wanted and name.startswith(tuple(f"{path}/" for path in head))
            if array.shape != np.shape(wanted[name])
        }
        kept = {name: array for name, array in self.arrays.items() if name not in anew}
        rest = {name: value for name, value in wanted.items() if name in anew}
        model.load_arrays({**kept, **rest})
        pin_weights(self.path)
        report = LoadReport(
            mismatching={name: (np.shape(wanted[name]), tuple(array.shape)) for name, array in anew.items()}
        )
        if anew:
            warnings.warn(
                f"{self.path}: {len(kept)} arrays were taken over; {', '.join(anew)} start anew, for {self.n_class} "
                "classes",
                stacklevel=3,
            )
        return report


def class_source(
    pretrained_model: str | os.PathLike | None,
    records: Mapping[str, ClassWeights],
    *,
    own_names: Callable[[Arrays], Arrays],
    head_bias: str,
    n_class: int | None,
    label_names: Sequence[str] | None,
    default: PhotoPreparation,
) -> ClassSource:
    """What a classifier is to be built as; the file is fetched and read, nothing is built yet.

    pretrained_model: a name in `records`, the path of a file, or None
    own_names: from the arrays of a file, whoever made it, to those by our names
    head_bias: the name of the array, by our names, that has one number a class, such as "fc/b"
    n_class, label_names: what the caller asked for, None where he did not say
    default: how photos are prepared where neither the name of the model nor the file or its name says anything else
    Raises ValueRangeError if names and classes do not agree or there are no such weights; what reading raises.
    """
    if n_class is not None and (isinstance(n_class, bool) or not isinstance(n_class, int) or n_class < 1):
        raise ValueRangeError("n_class must be a positive integer", got=repr(n_class))
    if n_class is None and label_names is not None:
        n_class = len(label_names)
    if label_names is not None and len(label_names) != n_class:
        raise ValueRangeError("label_names must be one a class", expected=n_class, got=len(label_names))
    names = None if label_names is None else tuple(label_names)
    if pretrained_model is None:
        return ClassSource(1000 if n_class is None else n_class, names, default)
    path = pretrained_path(pretrained_model, {name: each.record for name, each in records.items()})
    header = read_model_header(path)
    arrays = own_names(read_arrays(path))
    if head_bias not in arrays:
        raise WeightsMismatchError(
            f"{path}: has no array that this classifier calls {head_bias!r}",
            expected="a file of this network, by its publisher's names or by ours",
            got=", ".join(list(arrays)[:5]) or "no arrays",
        )
    in_file = len(arrays[head_bias])
    preparation = default
    if isinstance(pretrained_model, str) and pretrained_model in records:
        preparation = records[pretrained_model].preparation
    elif header is not None and "preparation" in header.settings:
        preparation = PhotoPreparation.from_json(header.settings["preparation"])
    else:  # a published file that was fetched by hand sees photos as the published one does
        published = {each.record.file_name: each.preparation for each in records.values()}
        preparation = published.get(os.path.basename(path), default)
    if names is None and n_class in (None, in_file):
        known = imagenet_label_names if in_file == len(imagenet_label_names) else None
        names = known if header is None else header.label_names
    asked = n_class is not None
    return ClassSource(n_class if asked else in_file, names, preparation, os.fspath(path), arrays, asked)
