"""A model's layers: their costs, what they read from, their weights, and their outputs for an image."""

import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from cvzoo.autodiff.function_hook import AbstractFunctionHook
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import NoSuchKeyError, UnsupportedError
from cvzoo.links.link import Link
from cvzoo.links.link_hook import LinkCall, LinkHook
from cvzoo.links.model.layer_costs import layer_costs
from cvzoo.typing.aliases import Array

_N_BIN = 40
_N_MAP, _SIDE, _GAP = 64, 96, 2  # channels in a picture, and pixels of each and between them
_LEAST_SIDE = 24


def layers_of(model: Link, infer: Callable[[], object]) -> list[dict[str, Any]]:
    """The layers that `infer()` calls, in the order of their first call: those of `cvzoo info --layers`.

    Each is {"name", "kind", "shape", "calls", "n_parameter", "n_multiply_add", "inputs": names of the layers whose
    outputs it reads, by way of functions without parameters, too; "" is the image}.
    """
    costs = [each for each in layer_costs(model, infer) if each.name]
    sources = _Sources({each.name for each in costs}, model)
    with sources, _Functions(sources):
        infer()
    return [each._asdict() | {"inputs": sources.inputs.get(each.name, [])} for each in costs]


def weights_of(model: Link, name: str) -> list[dict[str, Any]]:
    """The parameters of a layer: {"name", "shape", ...} with the statistics of `statistics`. Raises NoSuchKeyError."""
    return [
        {"name": inner.strip("/"), "shape": list(param.array.shape), **statistics(np.asarray(param.array))}
        for inner, param in _layer(model, name).namedparams(include_uninit=False)
        if inner.count("/") == 1
    ]


def activations_of(model: Link, name: str, infer: Callable[[], object]) -> tuple[dict[str, Any], Array]:
    """(statistics of the first output of a layer in `infer()`, a picture of its channels).

    The tree has "shape", (B, C, H, W) or (B, C), "n_shown", the channels in the picture, and what `statistics` has.
    The picture is (H, W) uint8: channels side by side, each from its least value, black, to its greatest, white.
    Raises NoSuchKeyError if there is no such layer, UnsupportedError if its output is not one array of floats.
    """
    layer = _layer(model, name)
    with _Output(layer) as hook:
        infer()
    if hook.found is None:
        raise UnsupportedError(f"the layer {name} has no output that can be shown", hint="another layer")
    maps = hook.found[0] if hook.found.ndim > 1 else hook.found
    maps = maps if maps.ndim == 3 else _square(maps.reshape(-1))
    picture = tiles(maps[:_N_MAP])
    tree = {"shape": list(hook.found.shape), "n_shown": min(len(maps), _N_MAP), "n_map": len(maps)}
    return tree | statistics(hook.found), picture


def statistics(array: Array) -> dict[str, Any]:
    """The statistics of the values: "size", "n_zero", "mean", "std", "min", "max", and "counts" of 40 equal bins.

    Values that are not finite are counted by "n_nan" only.
    """
    flat = np.asarray(array, np.float64).ravel()
    finite = flat[np.isfinite(flat)]
    tree: dict[str, Any] = {"size": flat.size, "n_nan": flat.size - finite.size, "n_zero": int((finite == 0).sum())}
    if not finite.size:
        return tree | {"mean": None, "std": None, "min": None, "max": None, "counts": [0] * _N_BIN}
    low, high = float(finite.min()), float(finite.max())
    bins = np.zeros(finite.size, np.int64)
    if high > low:
        bins = np.minimum((finite - low) / (high - low) * _N_BIN, _N_BIN - 1).astype(np.int64)
    counts: list[int] = np.bincount(bins, minlength=_N_BIN).tolist()
    return tree | {"mean": float(finite.mean()), "std": float(finite.std()), "min": low, "max": high, "counts": counts}


def tiles(maps: Array) -> Array:
    """Maps (K, H, W) side by side: (H', W') uint8, each from its least value, 0, to its greatest, 255.

    A map without finite values, or with one value only, is black. Large ones are thinned, small ones are enlarged.
    """
    n, height, width = maps.shape
    by = max(-(-max(height, width) // _SIDE), 1)
    maps = np.asarray(maps[:, ::by, ::by], np.float64)
    times = max(_LEAST_SIDE // max(maps.shape[1:]), 1)
    maps = np.nan_to_num(maps, nan=0.0, posinf=0.0, neginf=0.0).repeat(times, 1).repeat(times, 2)
    low = maps.min((1, 2), keepdims=True)
    extent = maps.max((1, 2), keepdims=True) - low
    levels = np.rint(255 * (maps - low) / np.where(extent > 0, extent, 1)).astype(np.uint8)
    n_column = math.ceil(n**0.5)
    n_row = -(-n // n_column)
    _, height, width = levels.shape
    picture = np.full((n_row * (height + _GAP) - _GAP, n_column * (width + _GAP) - _GAP), 128, np.uint8)
    for k, level in enumerate(levels):
        y, x = k // n_column * (height + _GAP), k % n_column * (width + _GAP)
        picture[y : y + height, x : x + width] = level
    return picture


def _square(values: Array) -> Array:
    """Values without positions, as one map (1, H, W) in rows; its end is filled with the least value."""
    side = max(int(np.ceil(values.size**0.5)), 1)
    filled = np.full(side * -(-values.size // side), values.min() if values.size else 0, values.dtype)
    filled[: values.size] = values
    return filled.reshape(1, -1, side)


def _layer(model: Link, name: str) -> Link:
    for path, link in model.namedlinks(skipself=True):
        if path.strip("/") == name:
            return link
    raise NoSuchKeyError(f"the model has no layer {name[:80]!r}")


class _Output(LinkHook):
    """Keeps the first output of a link."""

    name = "first_output"

    def __init__(self, link: Link):
        self._link = link
        self.found: Array | None = None

    def forward_postprocess(self, args: LinkCall) -> None:
        if args.link is self._link and self.found is None and isinstance(args.out, Variable):
            array = np.asarray(args.out.array)
            if array.ndim in (1, 2, 4) and array.size and array.dtype.kind == "f":
                self.found = array.copy()


class _Sources(LinkHook):
    """Notes from which layers the inputs of each layer come. names: of the layers"""

    name = "sources"

    def __init__(self, names: set[str], model: Link):
        self._names = {id(link): path.strip("/") for path, link in model.namedlinks() if path.strip("/") in names}
        # id of an array -> (the array, layers that it was computed from); an entry ends with its array
        self._known: dict[int, tuple[weakref.ref[Array], frozenset[str]]] = {}
        self.inputs: dict[str, list[str]] = {}

    def forward_preprocess(self, args: LinkCall) -> None:
        name = self._names.get(id(args.link))
        if name is not None:  # a layer of a head reads several feature maps, one after the other
            known = self.inputs.setdefault(name, [])
            known += [each for each in sorted(self.of(_arrays(args.args)) - {name}) or [""] if each not in known]

    def forward_postprocess(self, args: LinkCall) -> None:
        name = self._names.get(id(args.link))
        if name is not None:
            for array in _arrays((args.out,)):
                self.note(array, frozenset([name]))

    def of(self, arrays: list[Array]) -> set[str]:
        """The layers that arrays were computed from."""
        found: set[str] = set()
        for array in arrays:
            known = self._known.get(id(array))
            if known is not None and known[0]() is array:
                found |= known[1]
        return found

    def note(self, array: Array, sources: frozenset[str]) -> None:
        """The array was computed from these layers."""
        self._known[id(array)] = weakref.ref(array), sources


class _Functions(AbstractFunctionHook):
    """Outputs of functions come from where their inputs come from."""

    def __init__(self, sources: _Sources):
        self._sources = sources
        self._inputs: list[frozenset[str]] = []

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[Array, ...]) -> None:
        self._inputs.append(frozenset(self._sources.of(list(in_data))))

    def outputs_made(self, function: FunctionNode, outputs: tuple[Variable, ...]) -> None:
        sources = self._inputs.pop()
        for each in outputs:
            self._sources.note(each.array, sources)


def _arrays(values: Any) -> list[Array]:
    """The arrays of variables in tuples and lists."""
    found: list[Array] = []
    for each in values:
        if isinstance(each, Variable):
            found.append(each.array)
        elif isinstance(each, np.ndarray):
            found.append(each)
        elif isinstance(each, list | tuple):
            found += _arrays(each)
    return found
