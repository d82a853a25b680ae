"""A network in Caffe's format as a Chain."""

import contextlib
import dataclasses
import difflib
import os
from collections.abc import Collection, Mapping, Sequence

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.config.switches import switches, using_config
from cvzoo.errors.exceptions import CvzooError, GraphError, UnsupportedError
from cvzoo.links.chain import Chain
from cvzoo.links.model.caffe.layer_types import SOURCES, make_link
from cvzoo.links.model.caffe.normalization import BatchNorm, ChannelScale
from cvzoo.typing.aliases import Array
from cvzoo.weights.formats.caffe.net import CaffeLayer, read_caffe


@dataclasses.dataclass(frozen=True)
class Step:
    """One layer of the network.

    child: the name of the link that runs it, None if cvzoo does not support its type
    """

    layer: CaffeLayer
    child: str | None


@dataclasses.dataclass(frozen=True)
class PlannedStep:
    """A step of the execution order.

    label: the layer, for errors
    child: the name of the link
    bottoms, tops: names of its inputs and outputs
    done: blobs that no later step reads
    scale: the name of a scale that is fused to a batch normalization, or None
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
    """The steps needed for the outputs, in order.

    A blob that is given as an input is not computed, but layers that change it in place do run. A disabled in-place
    layer passes its blob on unchanged; any other has no output.
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


def join_scales(planned: Sequence[PlannedStep], chain: Chain) -> list[PlannedStep]:
    """The steps, with scales over the channels fused to a preceding batch normalization that nothing else reads."""
    joined: list[PlannedStep] = []
    for step in planned:
        before = joined[-1] if joined else None
        if before is not None and before.scale is None and _fit(before, step, chain):
            joined[-1] = PlannedStep(
                before.label,
                before.child,
                before.bottoms,
                step.tops,
                # the blob between the two is never stored
                tuple(blob for blob in (*before.done, *step.done) if blob in (*before.bottoms, *step.tops)),
                step.child,
            )
        else:
            joined.append(step)
    return joined


def _fit(norm: PlannedStep, scale: PlannedStep, chain: Chain) -> bool:
    link = chain[scale.child]
    return (
        isinstance(chain[norm.child], BatchNorm)
        and isinstance(link, ChannelScale)
        and link.axis == 1
        and scale.bottoms == norm.tops
        and (scale.tops == scale.bottoms or norm.tops[0] in scale.done)
        and norm.tops[0] not in norm.done
    )


class CaffeFunction(Chain):
    """A network from a `.caffemodel`, with named input and output blobs.

    >>> func = CaffeFunction("net.caffemodel", "net.prototxt")
    >>> (y,) = func(inputs={"data": x}, outputs=["fc8"])

    caffemodel: path; it also contains the definition of the trained network
    prototxt: path or text of a definition to use instead, such as a deploy.prototxt; without a caffemodel the weights
        are drawn by cvzoo's initializers, not by Caffe's fillers

    Each layer is a child link with its name in the file (followed by "_" if a Chain has such an attribute). All weights
    are parameters: they can be trained, saved and loaded.
    Data layers define inputs; the preprocessing in their transform_param (mean, scale, crop) is left to the caller.

    inputs: blob -> shape for each required input, None if the file does not define it
    blobs: the names of all blobs
    Raises FileFormatError or WeightsMismatchError for files that are damaged or do not match.

    Source: Jia et al., Caffe, 2014; the call is that of Chainer's CaffeFunction (2015). Where we differ: only layers
    that the outputs need are run, and a layer of an unknown type is an error only if it is needed.
    """

    def __init__(self, caffemodel: str | os.PathLike | None = None, prototxt: str | os.PathLike | None = None):
        net = read_caffe(caffemodel, prototxt)
        self.inputs = dict(net.inputs)
        self._layer_names = frozenset(layer.name for layer in net.layers)
        self._steps: list[Step] = []
        self._plans: dict[tuple, list[PlannedStep]] = {}
        for layer in net.layers:
            if layer.type in SOURCES:
                for top in layer.tops:
                    self.inputs.setdefault(top, None)
            else:
                # the link has its own copy of the weights
                self._steps.append(Step(dataclasses.replace(layer, blobs=()), self._add(layer)))
        self.blobs = tuple(dict.fromkeys([*self.inputs, *(top for s in self._steps for top in s.layer.tops)]))

    def _add(self, layer: CaffeLayer) -> str | None:
        link = make_link(layer)
        if link is None:
            return None
        name = layer.name or "layer"
        while name in self.__dict__ or name in _TAKEN:
            name += "_"
        self.add_link(name, link)
        return name

    def forward(
        self,
        inputs: Mapping[str, Variable | Array],
        outputs: Sequence[str] | None = None,
        disable: Collection[str] = (),
        *,
        train: bool | None = None,
    ) -> tuple[Variable, ...]:
        """The blobs `outputs`, in their order.

        inputs: blob -> Variable or array; intermediate blobs may be given, too
        outputs: names of blobs; None: those that no layer reads
        disable: names of layers to skip
        train: the phase; None: config.train. It determines dropout, the statistics of batch normalization, and layers
            that are restricted to one phase
        Raises GraphError if a blob is missing or a name in `disable` is unknown, UnsupportedError for an unsupported
        layer.
        """
        train = switches.train if train is None else train
        with contextlib.nullcontext() if train == switches.train else using_config("train", train):
            outputs = self._ends(inputs, disable, train) if outputs is None else tuple(outputs)
            blobs = {name: as_variable(x) for name, x in inputs.items()}
            for planned in self._plan(frozenset(blobs), outputs, frozenset(disable), train):
                ys = self._run(planned, [blobs[name] for name in planned.bottoms])
                if isinstance(ys, Variable):
                    blobs[planned.tops[0]] = ys
                else:
                    blobs.update(zip(planned.tops, ys))
                for name in planned.done:
                    del blobs[name]
            return tuple(blobs[name] for name in outputs)

    def _run(self, planned: PlannedStep, xs: list[Variable]) -> Variable | tuple[Variable, ...]:
        link = self.__dict__[planned.child]
        try:
            return link(*xs) if planned.scale is None else link(*xs, scale=self.__dict__[planned.scale])
        except CvzooError as error:
            if planned.label in str(error):
                raise
            raise type(error)(f"{planned.label}: {error}") from error

    def _phase(self, train: bool) -> list[Step]:
        phase = "TRAIN" if train else "TEST"
        return [step for step in self._steps if step.layer.runs_in(phase)]

    def _plan(
        self, inputs: frozenset[str], outputs: tuple[str, ...], disable: frozenset[str], train: bool
    ) -> list[PlannedStep]:
        key = inputs, outputs, disable, train
        plan = self._plans.get(key)
        if plan is None:
            self._check_names(disable)
            plan = join_scales(plan_steps(self._phase(train), inputs, outputs, disable), self)
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            self._plans[key] = plan
        return plan

    def _check_names(self, disable: Collection[str]) -> None:
        for name in disable:
            if name not in self._layer_names:
                near = difflib.get_close_matches(name, self._layer_names, n=3)
                raise GraphError(f"there is no layer {name!r} to disable", expected=" or ".join(near) or None)

    def _ends(self, inputs: Collection[str], disable: Collection[str], train: bool) -> tuple[str, ...]:
        """The blobs that can be computed from the inputs and that no other layer reads."""
        known = set(inputs)
        ends: dict[str, None] = {}
        for step in self._phase(train):
            layer = step.layer
            if layer.name in disable or not known.issuperset(layer.bottoms):
                continue
            for bottom in layer.bottoms:
                ends.pop(bottom, None)
            ends.update(dict.fromkeys(layer.tops))
            known.update(layer.tops)
        if not ends:
            raise GraphError("no layer can run", expected=f"inputs {list(self.inputs)}", got=f"inputs {list(inputs)}")
        return tuple(ends)

    def describe(self) -> str:
        return f"inputs={self.inputs}"


_TAKEN = frozenset(dir(CaffeFunction)) | {"name", "inputs", "blobs"}  # a layer of such a name would hide an attribute
_MAX_PLANS = 32  # one per combination of inputs and outputs; then the cache is cleared
