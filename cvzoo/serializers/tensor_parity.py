"""Matching of a file's arrays with a model's parameters by values, independent of names.

It shows where a conversion put each array, that no array was lost or invented, and how exact the values are. That a
target is the right one is shown by the tests against the publishers' outputs.
"""

import dataclasses
import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping

import numpy as np

SAME, RESHAPED, REORDERED, ROWS, COMPUTED = "same", "reshaped", "reordered", "rows taken", "computed"

MAX_ROW = 1 << 20  # more rows than any layer has; arrays with more are not compared row by row


@dataclasses.dataclass(frozen=True)
class TensorRow:
    """The conversion of one array of the source.

    source: its name in the source
    ours: the paths in the model that hold its values
    how: "same"; "reshaped": in another shape; "reordered": the same values in another order; "rows taken": some or
        all of its rows, in another order or in several arrays; "computed": none of these
    n_row, n_taken: of "rows taken": number of rows of the source, and of the model; else 0
    difference: the greatest absolute difference between source and result; None where it is "computed"
    """

    source: str
    ours: tuple[str, ...]
    how: str
    n_row: int = 0
    n_taken: int = 0
    difference: float | None = 0.0


@dataclasses.dataclass(frozen=True)
class TensorParity:
    """All arrays of a source against all of a model.

    rows: one per float array of the source, in its order
    dropped: the source's integer arrays, such as counters, which the model does not have
    made: the model's integer arrays, which the source does not have
    unused: the source's arrays without a counterpart
    unfilled: the model's arrays without a counterpart
    """

    rows: tuple[TensorRow, ...]
    dropped: tuple[str, ...]
    made: tuple[str, ...]
    unused: tuple[str, ...]
    unfilled: tuple[str, ...]

    @property
    def greatest_difference(self) -> float:
        """The greatest difference of all rows that have one."""
        return max((row.difference for row in self.rows if row.difference is not None), default=0.0)

    def counts(self) -> dict[str, int]:
        """Number of arrays by `how`, without zeros."""
        kinds = (SAME, RESHAPED, REORDERED, ROWS, COMPUTED)
        counts = {kind: sum(row.how == kind for row in self.rows) for kind in kinds}
        return {kind: n for kind, n in counts.items() if n}


def tensor_parity(
    source: Mapping[str, np.ndarray], model: Mapping[str, np.ndarray], stored: Mapping[str, np.ndarray]
) -> TensorParity:
    """Match each array of a source with the arrays of a model, by value.

    source: arrays of the foreign file, by its names
    model: `state_arrays()` of the model that was built from it
    stored: arrays of the resulting file, by the same paths as `model`; may be float16
    """
    search = _Search(
        {name: np.asarray(array, np.float32) for name, array in source.items() if _is_real(array)},
        {name: np.asarray(array, np.float32) for name, array in model.items() if _is_real(array)},
    )
    search.concatenated()
    search.same()
    search.reordered()
    search.rows()
    off = {name: _off(model[name], stored[name]) for name in model}
    rows = [
        dataclasses.replace(row, difference=max((off[name] for name in row.ours), default=0.0))
        for row in search.matches.values()
    ]
    # arrays without a match on both sides were computed from each other
    sources, targets = search.sources, search.targets
    unused = tuple(sources) if not targets else ()
    unfilled = tuple(targets) if not sources else ()
    if sources and targets:
        rows += [TensorRow(name, (), COMPUTED, difference=None) for name in sources]
    position = {name: i for i, name in enumerate(source)}
    return TensorParity(
        rows=tuple(sorted(rows, key=lambda row: position[row.source])),
        dropped=tuple(name for name, array in source.items() if not _is_real(array)),
        made=tuple(name for name, array in model.items() if not _is_real(array)),
        unused=unused,
        unfilled=unfilled,
    )


class _Search:
    """The unmatched arrays (`sources`, `targets`) and the matches so far."""

    def __init__(self, sources: dict[str, np.ndarray], targets: dict[str, np.ndarray]):
        self.sources, self.targets = sources, targets
        self.matches: dict[str, TensorRow] = {}

    def concatenated(self) -> None:
        """Match all targets with a single source that concatenates their values, as darknet's files do."""
        if len(self.sources) != 1 or not self.targets:
            return
        ((name, array),) = self.sources.items()
        if array.ndim != 1 or array.size != sum(target.size for target in self.targets.values()):
            return
        if np.array_equal(np.sort(array), np.sort(np.concatenate([t.ravel() for t in self.targets.values()]))):
            self.matches[name] = TensorRow(name, tuple(self.targets), REORDERED)
            self.sources.clear()
            self.targets.clear()

    def same(self) -> None:
        """Match arrays with equal values in the same order."""
        self._pair(_digest, lambda x, y: SAME if x.shape == y.shape else RESHAPED)

    def reordered(self) -> None:
        """Match arrays with equal values in any order."""
        sizes = {array.size for array in self.targets.values()}
        self._pair(lambda x: _digest(np.sort(x, axis=None)) if x.size in sizes else None, lambda x, y: REORDERED)

    def _pair(self, key_of: Callable[[np.ndarray], bytes | None], how: Callable[[np.ndarray, np.ndarray], str]) -> None:
        candidates: defaultdict[bytes | None, list[str]] = defaultdict(list)
        for name, array in self.targets.items():
            candidates[key_of(array)].append(name)
        for name, array in list(self.sources.items()):
            key = key_of(array)
            if key is None or not candidates[key]:
                continue
            # of several candidates, such as normalizations that are all ones, the one of the same shape
            same = [target for target in candidates[key] if self.targets[target].shape == array.shape]
            target = (same or candidates[key])[0]
            candidates[key].remove(target)
            self.matches[name] = TensorRow(name, (target,), how(array, self.targets.pop(target)))
            del self.sources[name]

    def rows(self) -> None:
        """Match each target whose rows are all rows of one source with that source."""
        for name, array in list(self.sources.items()):
            if array.ndim == 0 or len(array) > MAX_ROW:
                continue
            known = set(_row_keys(array))
            ours = []
            n_taken = 0
            for target, values in list(self.targets.items()):
                # no more rows than the source has: else all zero biases would match the first one
                if values.ndim and values.shape[1:] == array.shape[1:] and n_taken + len(values) <= len(array):
                    keys = _row_keys(values)
                    if known.issuperset(keys):
                        ours.append(target)
                        n_taken += len(keys)
                        del self.targets[target]
            if ours:
                self.matches[name] = TensorRow(name, tuple(ours), ROWS, n_row=len(array), n_taken=n_taken)
                del self.sources[name]


def _is_real(array: np.ndarray) -> bool:
    return np.asarray(array).dtype.kind == "f"


def _digest(array: np.ndarray) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(array).data).digest() + str(array.size).encode()


def _row_keys(array: np.ndarray) -> list[bytes]:
    flat = np.ascontiguousarray(array).reshape(len(array), -1)
    return [row.tobytes() if row.nbytes <= 64 else hashlib.sha256(row.data).digest() for row in flat]


def _off(a: np.ndarray, b: np.ndarray) -> float:
    if np.size(a) == 0:
        return 0.0
    return float(np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64)).max())
