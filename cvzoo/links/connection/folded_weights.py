"""Weights of a layer multiplied with what stands behind it, kept until one of both changes."""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.prepared_weights import PreparedWeights


def folded(
    W: Parameter, name: Hashable, sources: tuple[Any, ...], make: Callable[[], tuple[Any, ...]]
) -> tuple[Any, ...]:
    """make(), and a table for the copies that kernels want of it; kept among the prepared weights of `W` under `name`.

    sources: what else it is made of: parameters, arrays of one dimension, numbers, links, None

    It is made anew when W or a source changes. A parameter is watched by its own table of prepared weights, which goes
    when somebody reads its `array` and might write (meanwhile it is read-only, so that a write through a handle from
    before fails loudly). Running statistics are plain arrays that anybody may write into, so their bytes are compared;
    those on a GPU are told by identity, since reading them would stop the host at every layer: what writes them in
    place there is the layer that learns them, which calls `touch()` of its parameters.
    """
    marks = tuple(map(_mark, sources))
    prepared = W.packs()
    kept = None if prepared is None else prepared.made.get(name)
    if kept is None or kept[0] != marks:
        kept = marks, sources, (*make(), PreparedWeights())  # the sources, too: an id is of who lives
        if prepared is not None:
            prepared.made[name] = kept
    return kept[2]


def _mark(source: Any) -> Any:
    """What is equal as long as the source is the same."""
    if isinstance(source, Parameter):
        table = source.packs()
        return object() if table is None else table.mark  # while gradients are taken nothing is the same for long
    if isinstance(source, np.ndarray):
        return source.tobytes()
    return source if isinstance(source, int | float | None) else id(source)
