"""A network in Caffe's format as a Chain."""

import contextlib
import dataclasses
import difflib
import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.config.switches import switches, using_config
from cvzoo.errors.exceptions import CvzooError, GraphError
from cvzoo.links.chain import Chain
from cvzoo.links.model.caffe.join_scales import join_scales
from cvzoo.links.model.caffe.layer_types import SOURCES, make_link
from cvzoo.links.model.caffe.plan import PlannedStep, Step, plan_steps
from cvzoo.weights.formats.caffe.net import CaffeLayer, read_caffe


class CaffeFunction(Chain):
    """Runs a `.caffemodel`: blobs in by name, any blobs out.

    >>> func = CaffeFunction("net.caffemodel", "net.prototxt")
    >>> (y,) = func(inputs={"data": x}, outputs=["fc8"])

    caffemodel: path; it holds the description of the network that was trained, too
    prototxt: path or text of the description to follow instead, such as a deploy.prototxt; alone it gives a network
        whose weights are drawn by our own initializers, not by Caffe's fillers

    Each layer is a child link, called as in the file (with "_" behind a name that a Chain has already). All weights
    are parameters: they can be trained, saved and loaded.
    Data layers are places for inputs; what their transform_param says (mean, scale, crop) is left to the caller.

    inputs: blob -> shape for each blob that must be given, None where the file does not say
    blobs: the names of all blobs
    Raises FileFormatError or WeightsMismatchError for files that are damaged or do not belong together.

    Source: Jia et al., Caffe, 2014; the call is that of Chainer's CaffeFunction (2015). Where we differ: only layers
    that the outputs need are run, and a layer of an unknown type is an error where it is needed.
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
        inputs: Mapping[str, Any],
        outputs: Sequence[str] | None = None,
        disable: Collection[str] = (),
        *,
        train: bool | None = None,
    ) -> tuple[Variable, ...]:
        """The blobs `outputs`, in their order.

        inputs: blob -> Variable or array; blobs from the middle of the network may be given too
        outputs: names of blobs; None for those that no layer reads
        disable: names of layers that do not run
        train: which phase it is; None for what config.train says. It decides about dropout, the statistics of batch
            normalization, and layers that the file keeps for one phase.
        Raises GraphError if a blob is missing or no layer has a name in `disable`, UnsupportedError for a layer that
        cvzoo has not.
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

    def _plan(self, inputs: frozenset, outputs: tuple, disable: frozenset, train: bool) -> list[PlannedStep]:
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
        """The blobs that are made of what is given and that no other layer reads."""
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


_TAKEN = frozenset(dir(CaffeFunction)) | {"name", "inputs", "blobs"}
_MAX_PLANS = 32
