"""Cache-sized blocks of many arrays: long arrays are split, short ones are concatenated.

An update makes a dozen passes over its arrays. Over long arrays each pass would go through main memory; over many
short ones the overhead of NumPy's calls would exceed the arithmetic.
"""

from collections.abc import Sequence

import numpy as np

BLOCK = 1 << 17  # elements; longer blocks exceed the cache, with shorter ones threads wait for the interpreter lock
SHORT = 1 << 13  # elements; from here on a separate block costs less than copying to a common one and back


class Piece:
    """A segment of one long array, updated in place."""

    __slots__ = ("index", "lengths", "members", "n", "p", "span", "starts", "state")

    def __init__(self, index: int, p: np.ndarray, state: Sequence[np.ndarray], span: slice):
        self.index = index
        self.members = np.array([index])
        self.lengths = self.starts = None
        self.span = span
        self.p = p[span]
        self.n = self.p.size
        self.state = tuple([slot[span] for slot in state])

    def load(self) -> np.ndarray:
        """The values (n,)."""
        return self.p

    def load_gradients(self, gradients: Sequence[np.ndarray]) -> np.ndarray:
        """The same segment of its flat gradient."""
        return gradients[self.index][self.span]

    def store(self) -> None:
        """A no-op: the values were updated in place."""

    def store_gradients(self, g: np.ndarray, gradients: Sequence[np.ndarray]) -> None:
        """Write the segment of changed gradients (n,) into its flat gradient."""
        gradients[self.index][self.span] = g


class Gathered:
    """Short arrays concatenated to one block; their state stays in it, their values are copied in and back."""

    __slots__ = ("g", "indexes", "lengths", "members", "n", "p", "sources", "starts", "state", "views")

    def __init__(self, indexes: Sequence[int], arrays: Sequence[np.ndarray], state: Sequence[np.ndarray]):
        self.indexes = list(indexes)
        self.members = np.array(self.indexes)
        self.lengths = np.array([array.size for array in arrays])
        self.starts = np.concatenate([[0], np.cumsum(self.lengths)[:-1]])
        self.n = int(self.lengths.sum())
        self.p = np.empty(self.n, arrays[0].dtype)
        self.g = np.empty(self.n, arrays[0].dtype)
        self.sources = list(arrays)
        ends = self.starts + self.lengths
        self.views = [self.p[lo:hi].reshape(array.shape) for lo, hi, array in zip(self.starts, ends, arrays)]
        self.state = tuple(state)

    def load(self) -> np.ndarray:
        """The values (n,), copied."""
        return np.concatenate([array.reshape(-1) for array in self.sources], out=self.p)

    def load_gradients(self, gradients: Sequence[np.ndarray]) -> np.ndarray:
        """The gradients (n,), copied from the flat gradients."""
        return np.concatenate([gradients[index] for index in self.indexes], out=self.g)

    def store(self) -> None:
        """Copy the changed values back."""
        for source, view in zip(self.sources, self.views):
            source[...] = view

    def store_gradients(self, g: np.ndarray, gradients: Sequence[np.ndarray]) -> None:
        """Write the changed gradients (n,) into the flat ones."""
        for index, lo, length in zip(self.indexes, self.starts, self.lengths):
            gradients[index][...] = g[lo : lo + length]


Block = Piece | Gathered


def cut_into_blocks(
    indexes: Sequence[int], arrays: Sequence[np.ndarray], states: Sequence[dict[str, np.ndarray]]
) -> list[Block]:
    """The blocks of the arrays, which have one dtype.

    indexes: the arrays' indexes among the gradients
    arrays: the arrays to update, any shape; not empty
    states: by name, C-ordered arrays of the same shapes; those of short arrays are moved into common memory, and the
        dictionaries then hold views of it
    """
    blocks: list[Block] = []
    run: list[int] = []
    length = 0
    for k, array in enumerate(arrays):
        if array.flags.c_contiguous and array.size > SHORT:
            flat = array.reshape(-1)
            state = [slot.reshape(-1) for slot in states[k].values()]
            n_piece = -(-array.size // BLOCK)
            size = -(-array.size // n_piece)  # equal pieces: a short last one would leave threads idle
            blocks += [
                Piece(indexes[k], flat, state, slice(lo, min(lo + size, array.size)))
                for lo in range(0, array.size, size)
            ]
            continue
        if run and length + array.size > BLOCK:
            blocks.append(_gather(run, indexes, arrays, states))
            run, length = [], 0
        run.append(k)
        length += array.size
    if run:
        blocks.append(_gather(run, indexes, arrays, states))
    return blocks


def _gather(
    run: Sequence[int],
    indexes: Sequence[int],
    arrays: Sequence[np.ndarray],
    states: Sequence[dict[str, np.ndarray]],
) -> Gathered:
    flats = []
    for name in states[run[0]]:
        flat = np.concatenate([states[k][name].reshape(-1) for k in run])
        start = 0
        for k in run:
            size = arrays[k].size
            # the rule's own state becomes a view of the block's, so that saving and loading see one array
            states[k][name] = flat[start : start + size].reshape(arrays[k].shape)
            start += size
        flats.append(flat)
    return Gathered([indexes[k] for k in run], [arrays[k] for k in run], flats)
