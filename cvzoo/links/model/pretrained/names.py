"""Mapping of publishers' array names to cvzoo's."""

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from cvzoo.labels.coco_categories import unused_coco_categories
from cvzoo.links.model.config import ModelConfig
from cvzoo.links.model.preparation.center_crop import CenterCrop

Arrays = Mapping[str, np.ndarray]
# a regular expression, and its replacement for re.sub
Rule = tuple[str, str | Callable[[re.Match[str]], str]]

_RUNNING = {"running_mean": "avg_mean", "running_var": "avg_var"}
_OWN_LEAVES = ("W", "b", "gamma", "beta", "avg_mean", "avg_var", "N")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Names:
    """A publisher's array names in the networks of a family; a function from a file's arrays to those by cvzoo's names.

    marks: names of arrays that identify the publisher's files, all of which have to exist
    older: rules, applied in order, that convert names of older files to those of newer ones
    modules: the publisher's name of a module -> cvzoo's path of the link, as a table or a function (None: unknown).
        "weight" and "bias" of a module are "W" and "b", or, if the weight is a vector, "gamma" and "beta" of a
        normalization; torch's counts of batches are dropped, since nothing depends on them
    rules: applied in order to all names after that
    drop: prefixes of cvzoo's names of unused arrays, such as a classifier's last layer
    values: (regular expression of a whole name of cvzoo's, function of an array): conversions of memory layouts
    finish: from all arrays by cvzoo's names and the model's number of classes (None: the file's), the same with rows in
        cvzoo's order
    only: prefixes of the paths that such a file fills completely: ("extractor/",) for a backbone, ("",) for all
    config: from the requested config (or the default), the arrays by the publisher's names and by cvzoo's, the config
        of the network in the file; None: the file does not determine it
    label_names: from a number of classes their names, or None, for files without names
    preparation: preprocessing of these networks, if neither a record nor the file determines it; None: the model's
    """

    marks: tuple[str, ...]
    older: Sequence[Rule] = ()
    modules: Mapping[str, str] | Callable[[str], str | None] | None = None
    rules: Sequence[Rule] = ()
    drop: tuple[str, ...] = ()
    values: Sequence[tuple[str, Callable[[np.ndarray], np.ndarray]]] = ()
    finish: Callable[[dict[str, np.ndarray], int | None], dict[str, np.ndarray]] | None = None
    only: tuple[str, ...] = ("",)
    config: Callable[[ModelConfig, Arrays, Arrays], ModelConfig] | None = None
    label_names: Callable[[int], tuple[str, ...] | None] | None = None
    preparation: CenterCrop | None = None

    def fit(self, arrays: Arrays) -> bool:
        """Whether a file with these arrays is the publisher's."""
        return all(name in arrays for name in self.marks)

    def __call__(self, arrays: Arrays, n_class: int | None = None) -> dict[str, np.ndarray]:
        """The arrays by cvzoo's names; unknown ones keep theirs.

        n_class: of the model
        Raises KeyError if an array is missing that the conversion of others needs.
        """
        named = _renamed(arrays, self.older)
        named = _renamed(named if self.modules is None else own_names(named, self.modules), self.rules)
        if self.drop:
            named = {name: array for name, array in named.items() if not name.startswith(self.drop)}
        for pattern, change in self.values:
            named = {name: change(array) if re.fullmatch(pattern, name) else array for name, array in named.items()}
        return named if self.finish is None else self.finish(named, n_class)


def publisher_of(arrays: Arrays, names: Mapping[str, Names]) -> str | None:
    """The first key of the table whose marks are all in the arrays, or None."""
    return next((publisher for publisher, each in names.items() if each.fit(arrays)), None)


def own_names(arrays: Arrays, modules: Mapping[str, str] | Callable[[str], str | None]) -> dict[str, np.ndarray]:
    """The arrays of a file of torch, MXNet or Chainer by cvzoo's names; unknown ones keep theirs.

    modules: as in `Names`
    """
    place_of = modules.get if isinstance(modules, Mapping) else modules
    named = {}
    for name, array in arrays.items():
        module, leaf = _split(name)
        if leaf == "num_batches_tracked":
            continue
        place, ours = place_of(module), _leaf(leaf, arrays.get(f"{module}.weight"))
        if place is None or ours is None:
            named[name] = array
            continue
        named[f"{place}/{ours}"] = array
        if leaf == "running_mean":
            named[f"{place}/N"] = np.asarray(0)  # cvzoo's count of fine-tuning steps
    return named


def place_of(module: str, places: Sequence[Rule]) -> str | None:
    """cvzoo's path of a publisher's module, by the first rule that matches its whole name, or None."""
    for pattern, place in places:
        match = re.fullmatch(pattern, module)
        if match:
            return match.expand(place) if isinstance(place, str) else place(match)
    return None


def counted_batches(arrays: Arrays, prefix: str = "") -> bool:
    """Whether normalizations below `prefix` are trained ones: files of frozen ones contain no counts of batches.

    This distinguishes torchvision's detectors of both kinds, whose names are the same: only frozen normalizations may
    have an eps of 0, trained ones have 1e-5.
    """
    return any(
        name.startswith(prefix) and name.endswith(".num_batches_tracked") and np.max(array, initial=0) > 0
        for name, array in arrays.items()
    )


def _renamed(arrays: Arrays, rules: Sequence[Rule]) -> dict[str, np.ndarray]:
    named = dict(arrays)
    for pattern, new in rules:
        named = {re.sub(pattern, new, name): array for name, array in named.items()}
    return named


def _split(name: str) -> tuple[str, str]:
    module, _, leaf = name.rpartition("/" if "/" in name else ".")
    return module, leaf


def _leaf(leaf: str, weight: np.ndarray | None) -> str | None:
    is_norm = weight is not None and weight.ndim == 1
    if leaf == "weight":
        return "gamma" if is_norm else "W"
    if leaf == "bias":
        return "beta" if is_norm else "b"
    return leaf if leaf in _OWN_LEAVES else _RUNNING.get(leaf)


N_TORCHVISION_CLASS = 91  # COCO's ids, unused ones and the background included
# rows are COCO's category ids: row 0 and the ids that COCO no longer uses were never trained
COCO_ROWS = np.array([i for i in range(1, N_TORCHVISION_CLASS) if i not in unused_coco_categories])


def sigmoid_rows(n_class: int, n_fg_class: int | None) -> np.ndarray:
    """Indices of the rows to use of n_class rows without background: of torchvision's 91 all for 91 classes, all but
    the unused first for 90, else those of COCO's 80."""
    if n_class != N_TORCHVISION_CLASS or n_fg_class == N_TORCHVISION_CLASS:
        return np.arange(n_class)
    return np.arange(1, n_class) if n_fg_class == N_TORCHVISION_CLASS - 1 else COCO_ROWS


def foreground_rows(n_class: int, n_fg_class: int | None) -> np.ndarray:
    """Indices of the rows to use of n_class rows, of which the first is the background: of torchvision's 91 those of
    COCO's 80, unless 90 classes are requested."""
    if n_class == N_TORCHVISION_CLASS and n_fg_class != N_TORCHVISION_CLASS - 1:
        return COCO_ROWS
    return np.arange(1, n_class)


def picked(array: np.ndarray, n: int, rows: Sequence[int] | np.ndarray) -> np.ndarray:
    """(K * n, ...) as (K * len(rows), ...): some of each n rows."""
    return array.reshape(-1, n, *array.shape[1:])[:, rows].reshape(-1, *array.shape[1:])


def yx_rows(array: np.ndarray) -> np.ndarray:
    """(4 * K, ...) of dx dy dw dh as (4 * K, ...) of dy dx dh dw."""
    return np.ascontiguousarray(picked(array, 4, [1, 0, 3, 2]))
