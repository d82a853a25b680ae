"""A function applied to what an iterator gives, example by example in, example by example out."""

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.iterators.unzip import unzip


def apply_to_iterator(func, iterator, n_input=1, hook=None, comm=None):
    """(in_values, out_values, rest_values), each a tuple of iterators that give one value an example.

    func: takes n_input lists of values, one list a value, and returns a list of results or a tuple of such lists, as
        `model.predict` does
    iterator: gives batches, lists of examples; an example is a tuple, or a single value. It must end
    n_input: how many values of an example, from the first, func takes; the others are rest_values
    hook: None, or called after each batch with (in_values, out_values, rest_values), tuples of lists, as ProgressHook
    comm: None, or a communicator of several processes: process 0 has the iterator (others give None), each applies func
        to its share of every batch, and process 0 gets the results

    Nothing is computed before a value is asked for, and nothing is kept that nobody asks for: drop iterators that are
    not needed. With comm, the processes other than 0 return at the end, with empty iterators.
    Raises ShapeError if func gives not one result an example, ValueRangeError if an example has too few values.
    """
    if n_input < 1:
        raise ValueRangeError("n_input must be positive", got=n_input)
    steps = (
        _steps(func, iterator, n_input, hook) if comm is None else _shared_steps(func, iterator, n_input, hook, comm)
    )
    if comm is not None and comm.rank != 0:
        for _ in steps:
            pass
        return (), (), ()
    parts = unzip(steps)
    if not parts:
        empty = iter(())
        return tuple(empty for _ in range(n_input)), (empty,), ()
    return tuple(unzip(part) for part in parts)


def _steps(func, iterator, n_input, hook):
    for batch in iterator:
        inputs, rests = _split(batch, n_input)
        outputs = _apply(func, inputs)
        yield from _emit(inputs, outputs, rests, len(batch), hook)


def _shared_steps(func, iterator, n_input, hook, comm):
    batches = iter(iterator) if comm.rank == 0 else None
    while True:
        batch = next(batches, None) if comm.rank == 0 else None
        inputs, rests = _split(batch, n_input) if batch is not None else (None, None)
        everything = comm.bcast_obj(inputs)
        if everything is None:
            return
        n_example = len(everything[0])
        start, stop = n_example * comm.rank // comm.size, n_example * (comm.rank + 1) // comm.size
        mine = _apply(func, tuple(values[start:stop] for values in everything)) if stop > start else None
        shares = comm.gather_obj(mine)
        if comm.rank == 0:
            shares = [share for share in shares if share is not None]
            outputs = tuple([value for share in shares for value in share[k]] for k in range(len(shares[0])))
            yield from _emit(inputs, outputs, rests, n_example, hook)


def _split(batch, n_input):
    """(tuple of lists, tuple of lists): the values that func takes, and the rest."""
    examples = [example if isinstance(example, tuple) else (example,) for example in batch]
    lengths = {len(example) for example in examples}
    if len(lengths) != 1 or min(lengths) < n_input:
        raise ValueRangeError(
            "examples have not all the same number of values, or too few", expected=f"at least {n_input}", got=lengths
        )
    columns = [list(column) for column in zip(*examples)]
    return tuple(columns[:n_input]), tuple(columns[n_input:])


def _apply(func, inputs):
    outputs = func(*inputs)
    outputs = tuple(outputs) if isinstance(outputs, tuple) else (outputs,)
    for values in outputs:
        if len(values) != len(inputs[0]):
            raise ShapeError("the function gives not one result an example", expected=len(inputs[0]), got=len(values))
    return outputs


def _emit(inputs, outputs, rests, n_example, hook):
    if hook is not None:
        hook(inputs, outputs, rests)
    for i in range(n_example):
        yield tuple(tuple(column[i] for column in part) for part in (inputs, outputs, rests))
