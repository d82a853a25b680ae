"""Which numbers of a file became which numbers of a model, found by their values and not by their names.

It says where the tables of names sent each array, that nothing was lost or invented on the way, and how exactly the
numbers are kept. That a place is the right one is shown by the tests against the publishers' outputs.
"""

import dataclasses
import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping

import numpy as np

SAME, RESHAPED, REORDERED, ROWS, COMPUTED = "same", "reshaped", "reordered", "rows taken", "computed"

MAX_ROW = 1 << 20  # a layer has fewer; of more, looking at each would take too long


@dataclasses.dataclass(frozen=True)
class TensorRow:
    """What became of one array of the source.

    source: its name there
    ours: the paths in the model that hold its numbers
    how: "same"; "reshaped": in another shape; "reordered": the same numbers in another order; "rows taken": some or
        all of its rows, in another order or to several places; "computed": none of these
    n_row, n_taken: of "rows taken": how many there are, how many the model has; else 0
    difference: the greatest between the source's numbers and those in the result, None where it is "computed"
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

    rows: of the source's arrays of real numbers, in its order
    dropped: the source's counters and other whole numbers that the model does not hold
    made: the model's counters that the source does not hold
    unused: the source's arrays that went nowhere
    unfilled: the model's arrays that came from nowhere
    """

    rows: tuple[TensorRow, ...]
    dropped: tuple[str, ...]
    made: tuple[str, ...]
    unused: tuple[str, ...]
    unfilled: tuple[str, ...]

    @property
    def greatest_difference(self) -> float:
        """Of all rows that have one."""
        return max((row.difference for row in self.rows if row.difference is not None), default=0.0)

    def counts(self) -> dict[str, int]:
        """How -> of how many arrays, without the zeros."""
        kinds = (SAME, RESHAPED, REORDERED, ROWS, COMPUTED)
        counts = {kind: sum(row.how == kind for row in self.rows) for kind in kinds}
        return {kind: n for kind, n in counts.items() if n}


def tensor_parity(
    source: Mapping[str, np.ndarray], model: Mapping[str, np.ndarray], stored: Mapping[str, np.ndarray]
) -> TensorParity:
    """What became of each array of a source in a model, and how exactly.

    source: of the foreign file, by its names
    model: `state_arrays()` of the model that was made of it
    stored: what the result's file holds, by the same paths as `model`; its dtypes may be smaller
    """
    search = _Search(
        {name: np.asarray(array, np.float32) for name, array in source.items() if _is_real(array)},
        {name: np.asarray(array, np.float32) for name, array in model.items() if _is_real(array)},
    )
    search.whole()
    search.same()
    search.reordered()
    search.rows()
    off = {name: _off(model[name], stored[name]) for name in model}
    rows = [
        dataclasses.replace(row, difference=max((off[name] for name in row.ours), default=0.0))
        for row in search.found.values()
    ]
    # what is left on both sides: numbers that were computed from numbers
    left, lonely = search.sources, search.targets
    unused = tuple(left) if not lonely else ()
    unfilled = tuple(lonely) if not left else ()
    if left and lonely:
        rows += [TensorRow(name, (), COMPUTED, difference=None) for name in left]
    place = {name: i for i, name in enumerate(source)}
    return TensorParity(
        rows=tuple(sorted(rows, key=lambda row: place[row.source])),
        dropped=tuple(name for name, array in source.items() if not _is_real(array)),
        made=tuple(name for name, array in model.items() if not _is_real(array)),
        unused=unused,
        unfilled=unfilled,
    )


class _Search:
    """What is still looked for (`sources`, `targets`), and what has been found."""

    def __init__(self, sources: dict[str, np.ndarray], targets: dict[str, np.ndarray]):
        self.sources, self.targets = sources, targets
        self.found: dict[str, TensorRow] = {}

    def whole(self) -> None:
        """Give all targets to the only source, if it is all their numbers one after another, as darknet's files are."""
        if len(self.sources) != 1 or not self.targets:
            return
        ((name, array),) = self.sources.items()
        if array.ndim != 1 or array.size != sum(target.size for target in self.targets.values()):
            return
        if np.array_equal(np.sort(array), np.sort(np.concatenate([t.ravel() for t in self.targets.values()]))):
            self.found[name] = TensorRow(name, tuple(self.targets), REORDERED)
            self.sources.clear()
            self.targets.clear()

    def same(self) -> None:
        """Pair arrays of equal numbers in equal order."""
        self._pair(_digest, lambda x, y: SAME if x.shape == y.shape else RESHAPED)

    def reordered(self) -> None:
        """Pair arrays of equal numbers in any order."""
        sizes = {array.size for array in self.targets.values()}
        self._pair(lambda x: _digest(np.sort(x, axis=None)) if x.size in sizes else None, lambda x, y: REORDERED)

    def _pair(self, key_of: Callable[[np.ndarray], bytes | None], how: Callable[[np.ndarray, np.ndarray], str]) -> None:
        waiting: defaultdict[bytes | None, list[str]] = defaultdict(list)
        for name, array in self.targets.items():
            waiting[key_of(array)].append(name)
        for name, array in list(self.sources.items()):
            key = key_of(array)
            if key is None or not waiting[key]:
                continue
            # of equals, such as norms that start with ones, the one of the same shape
            same = [target for target in waiting[key] if self.targets[target].shape == array.shape]
            target = (same or waiting[key])[0]
            waiting[key].remove(target)
            self.found[name] = TensorRow(name, (target,), how(array, self.targets.pop(target)))
            del self.sources[name]

    def rows(self) -> None:
        """Give each target whose rows are all rows of one source to that source."""
        for name, array in list(self.sources.items()):
            if array.ndim == 0 or len(array) > MAX_ROW:
                continue
            known = set(_row_keys(array))
            ours = []
            n_taken = 0
            for target, wanted in list(self.targets.items()):
                # no more rows than there are: biases that are all 0 would else all go to the first
                if wanted.ndim and wanted.shape[1:] == array.shape[1:] and n_taken + len(wanted) <= len(array):
                    keys = _row_keys(wanted)
                    if known.issuperset(keys):
                        ours.append(target)
                        n_taken += len(keys)
                        del self.targets[target]
            if ours:
                self.found[name] = TensorRow(name, tuple(ours), ROWS, n_row=len(array), n_taken=n_taken)
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
