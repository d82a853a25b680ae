"""Multiply-adds and parameters of a model's layers."""

import math
from collections.abc import Callable
from typing import NamedTuple

from cvzoo.autodiff.function_hook import AbstractFunctionHook
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.links.link import Link
from cvzoo.links.link_hook import LinkCall, LinkHook
from cvzoo.typing.aliases import Array

_CONVOLUTIONS = ("Convolution2D", "FusedConvolution2D", "Int8Convolution2D", "Bf16Convolution2D")
_DECONVOLUTIONS = ("Deconvolution2D", "DeconvolutionAndSum")
_LINEAR = ("Linear", "Int8Linear")
_PRODUCTS = ("MatMul", "FusedMatMul")


class LayerCost(NamedTuple):
    """The cost of a layer in one inference.

    name: path in the model, such as "extractor/conv1"; "" for what the model computes itself
    kind: the link's class
    shape: of its output in the first call; None if that is not one array
    calls: number of calls, such as one per feature map for a shared head
    n_parameter: number of elements of its own parameters
    n_multiply_add: multiplications with an addition, of all calls: of convolutions, linear layers and matrix products
    """

    name: str
    kind: str
    shape: tuple[int, ...] | None
    calls: int
    n_parameter: int
    n_multiply_add: int


def layer_costs(model: Link, infer: Callable[[], object]) -> list[LayerCost]:
    """The costs of the layers that are called by `infer()`, in the order of their first call.

    Links that only call others, and neither have parameters nor multiply, are left out. Normalization, activation,
    pooling and resizing do not count, as in the publications' numbers.
    """
    counter = _Counter(model)
    with counter, _Functions(counter):
        infer()
    return [cost for cost in counter.costs() if cost.n_parameter or cost.n_multiply_add]


class _Counter(LinkHook):
    """Notes which link is called; with it, fused layers compute one by one."""

    name = "layer_costs"

    def __init__(self, model: Link):
        self._names = {id(link): name.strip("/") for name, link in model.namedlinks()}
        self._model = model
        self._inside: list[Link] = [model]
        self._calls: dict[int, int] = {}
        self._links: dict[int, Link] = {}
        self._shapes: dict[int, tuple[int, ...] | None] = {}
        self._macs: dict[int, int] = {}

    def forward_preprocess(self, args: LinkCall) -> None:
        self._inside.append(args.link)
        self._links.setdefault(id(args.link), args.link)
        self._calls[id(args.link)] = self._calls.get(id(args.link), 0) + 1

    def forward_postprocess(self, args: LinkCall) -> None:
        self._inside.pop()
        if id(args.link) not in self._shapes:
            self._shapes[id(args.link)] = args.out.shape if isinstance(args.out, Variable) else None

    def add(self, n: int) -> None:
        """Adds multiply-adds to the innermost link."""
        link = self._inside[-1]
        self._links.setdefault(id(link), link)
        self._macs[id(link)] = self._macs.get(id(link), 0) + n

    def costs(self) -> list[LayerCost]:
        """One per link that was called."""
        return [
            LayerCost(
                self._names.get(key, ""),
                type(link).__name__,
                self._shapes.get(key),
                self._calls.get(key, 1),
                sum(param.array.size for name, param in link.namedparams() if name.count("/") == 1),
                self._macs.get(key, 0),
            )
            for key, link in self._links.items()
        ]


class _Functions(AbstractFunctionHook):
    """Counts the multiply-adds of each function that no other function calls."""

    def __init__(self, counter: _Counter):
        self._counter = counter
        self._inputs: list[tuple[Array, ...]] = []

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[Array, ...]) -> None:
        self._inputs.append(in_data)

    def outputs_made(self, function: FunctionNode, outputs: tuple[Variable, ...]) -> None:
        in_data = self._inputs.pop()
        if not self._inputs:
            self._counter.add(n_multiply_add(function.label, in_data, outputs[0].shape))


def n_multiply_add(label: str, in_data: tuple[Array, ...], shape: tuple[int, ...]) -> int:
    """The multiply-adds of a function: of convolutions, linear layers and matrix products; 0 for others.

    label: the function's; in_data: its inputs; shape: of its output
    """
    n_output = math.prod(shape)
    if label in _CONVOLUTIONS:
        return n_output * in_data[1].size // in_data[1].shape[0]
    if label in _DECONVOLUTIONS:
        return in_data[0].size * in_data[1].size // in_data[1].shape[0]
    if label in _LINEAR:
        return n_output * in_data[1].shape[1]
    if label in _PRODUCTS and in_data[0].ndim > 1 and len(shape) > 1 and shape[-2]:
        # whether or not a factor is transposed
        return n_output * (in_data[0].shape[-1] * in_data[0].shape[-2] // shape[-2])
    return 0
