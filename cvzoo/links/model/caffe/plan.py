"""Which of a network's layers have to run, in which order, for the blobs that are wanted."""

import dataclasses
from collections.abc import Collection, Sequence

from cvzoo.errors.exceptions import GraphError, UnsupportedError
from cvzoo.weights.formats.caffe.net import CaffeLayer


@dataclasses.dataclass(frozen=True)
class Step:
    """One layer of the network.

    child: the name of the link that runs it, None where cvzoo has none for its type
    """

    layer: CaffeLayer
    child: str | None


@dataclasses.dataclass(frozen=True)
class PlannedStep:
    """What runs at one place of the order.

    label: the layer, for errors
    child: the name of the link
    bottoms, tops: the blobs that it takes and makes
    done: the blobs that nobody needs any more afterwards
    scale: the name of a scale that a batch normalization takes along, or None
    """

    label: str
    child: str
    bottoms: tuple[str, ...]
    tops: tuple[str, ...]
    done: tuple[str, ...]
    scale: str | None = None


def plan_steps(
    steps: Sequence[Step], inputs: Collection[str], outputs: Sequence[str], disable: Collection[str]
) -> list[PlannedStep]:
    """The steps that the outputs need, in order.

    A blob that is given as an input is not computed, though layers that change it in place do run. A disabled layer
    that works in place lets its blob pass; another one makes nothing.
    Raises GraphError if a blob is missing; UnsupportedError, naming layer and type, if cvzoo has no such layer.
    """
    needed = dict.fromkeys(outputs, "the caller")
    chosen: list[Step] = []
    for step in reversed(steps):
        layer = step.layer
        in_place = [top for top in layer.tops if top in layer.bottoms]
        makes = [top for top in layer.tops if top in needed and (top in in_place or top not in inputs)]
        if not makes or layer.name in disable:
            continue
        if step.child is None:
            raise UnsupportedError(
                f"{layer}: cvzoo has no layer of type {layer.type}",
                hint=f"disable=[{layer.name!r}], or give {', '.join(map(repr, makes))} as an input",
            )
        for top in makes:
            del needed[top]
        for bottom in layer.bottoms:
            needed.setdefault(bottom, str(layer))
        chosen.append(step)
    missing = {blob: who for blob, who in needed.items() if blob not in inputs}
    if missing:
        blob, who = next(iter(missing.items()))
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise GraphError(
            f"there is no blob {blob!r}, which {who} needs{more}",
            expected="one of the inputs, or made by a layer that runs in this phase and is not disabled",
            got=f"inputs {sorted(inputs)}",
        )
    return _with_last_uses(chosen[::-1], outputs)


def _with_last_uses(chosen: Sequence[Step], outputs: Sequence[str]) -> list[PlannedStep]:
    later = set(outputs)
    planned = []
    for step in reversed(chosen):
        touched = dict.fromkeys((*step.layer.bottoms, *step.layer.tops))
        done = tuple(blob for blob in touched if blob not in later)
        planned.append(PlannedStep(str(step.layer), str(step.child), step.layer.bottoms, step.layer.tops, done))
        later.update(touched)
    return planned[::-1]
