"""Applies a function, such as `model.predict`, to all batches of an iterator, lazily."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.iterators.unzip import unzip

Columns: TypeAlias = tuple[list[Any], ...]  # a batch, transposed: one list per value of an example
ValueIterators: TypeAlias = tuple[Iterator[Any], ...]
Hook: TypeAlias = Callable[[Columns, Any, Columns], object] | None


class _Communicator(Protocol):
    @property
    def rank(self) -> int: ...
    @property
    def size(self) -> int: ...
    def bcast_obj(self, obj: Columns | None) -> Columns | None: ...
    def gather_obj(self, obj: Any) -> list[Any]: ...


def apply_to_iterator(
    func: Callable[..., Any],
    iterator: Iterable[Sequence[Any]] | None,
    n_input: int = 1,
    hook: Hook = None,
    comm: _Communicator | None = None,
) -> tuple[ValueIterators, ValueIterators, ValueIterators]:
    """(in_values, out_values, rest_values), each a tuple of iterators that yield one value per example.

    func: takes n_input lists, each with one value per example, and returns a list of results or a tuple of such lists,
        as `model.predict` does
    iterator: yields batches, lists of examples; an example is a tuple or a single value. It must be finite
    n_input: the first n_input values of each example are passed to func; the others are rest_values
    hook: None, or called after each batch with (in_values, out_values, rest_values), tuples of lists, as ProgressHook
    comm: None, or a communicator of several processes: process 0 has the iterator (None in the others), each applies
        func to a part of every batch, and process 0 gets the results

    Evaluation is lazy; values are buffered for an iterator until it yields them, so delete iterators that are not
    needed. With comm, the processes other than 0 return when all batches are done, with empty tuples.
    Raises ShapeError if func does not return one result per example, ValueRangeError if an example has fewer than
    n_input values.
    """
    if n_input < 1:
        raise ValueRangeError("n_input must be positive", got=n_input)
    steps = (
        _steps(func, iterator or (), n_input, hook)
        if comm is None
        else _shared_steps(func, iterator, n_input, hook, comm)
    )
    if comm is not None and comm.rank != 0:
        for _ in steps:
            pass
        return (), (), ()
    parts = unzip(steps)
    if not parts:
        empty: Iterator[Any] = iter(())
        return tuple(empty for _ in range(n_input)), (empty,), ()
    in_values, out_values, rest_values = (unzip(part) for part in parts)
    return in_values, out_values, rest_values


def _steps(func: Callable[..., Any], iterator: Iterable[Sequence[Any]], n_input: int, hook: Hook) -> Iterator[Any]:
    for batch in iterator:
        inputs, rests = _split(batch, n_input)
        outputs = _apply(func, inputs)
        yield from _emit(inputs, outputs, rests, len(batch), hook)


def _shared_steps(
    func: Callable[..., Any], iterator: Iterable[Sequence[Any]] | None, n_input: int, hook: Hook, comm: _Communicator
) -> Iterator[Any]:
    batches = iter(iterator or ())
    while True:
        batch = next(batches, None) if comm.rank == 0 else None
        own, rests = _split(batch, n_input) if batch is not None else (None, ())
        inputs = comm.bcast_obj(own)
        if inputs is None:
            return
        n_example = len(inputs[0])
        start, stop = n_example * comm.rank // comm.size, n_example * (comm.rank + 1) // comm.size
        part = _apply(func, tuple(values[start:stop] for values in inputs)) if stop > start else None
        parts = comm.gather_obj(part)
        if comm.rank == 0:
            parts = [part for part in parts if part is not None]
            outputs = tuple([value for part in parts for value in part[k]] for k in range(len(parts[0])))
            yield from _emit(inputs, outputs, rests, n_example, hook)


def _split(batch: Sequence[Any], n_input: int) -> tuple[Columns, Columns]:
    """(inputs, rest) of a batch, each one list per value of an example."""
    examples = [example if isinstance(example, tuple) else (example,) for example in batch]
    lengths = {len(example) for example in examples}
    if len(lengths) != 1 or min(lengths) < n_input:
        raise ValueRangeError(
            "examples must have the same number of values, and at least n_input",
            expected=f"at least {n_input}",
            got=lengths,
        )
    columns = [list(column) for column in zip(*examples)]
    return tuple(columns[:n_input]), tuple(columns[n_input:])


def _apply(func: Callable[..., Any], inputs: Columns) -> tuple[Sequence[Any], ...]:
    outputs = func(*inputs)
    outputs = tuple(outputs) if isinstance(outputs, tuple) else (outputs,)
    for values in outputs:
        if len(values) != len(inputs[0]):
            raise ShapeError(
                "the function must return one result per example", expected=len(inputs[0]), got=len(values)
            )
    return outputs


def _emit(
    inputs: Columns, outputs: tuple[Sequence[Any], ...], rests: Columns, n_example: int, hook: Hook
) -> Iterator[Any]:
    if hook is not None:
        hook(inputs, outputs, rests)
    for i in range(n_example):
        yield tuple(tuple(column[i] for column in part) for part in (inputs, outputs, rests))
