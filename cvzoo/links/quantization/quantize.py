"""Post-training quantization of a float32 model to int8 or bfloat16."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from cvzoo.backends.onednn.library import why_no_bf16
from cvzoo.errors.exceptions import DtypeError, GraphError, UnsupportedError, ValueRangeError
from cvzoo.functions.connection.byte_variable import Counting, Halves
from cvzoo.images.read_image import ImageSource
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.layer_kernel import AbstractLayerKernel
from cvzoo.links.connection.linear import Linear
from cvzoo.links.link import Link
from cvzoo.links.model.image_batches import check_several
from cvzoo.links.quantization.bf16_kernel import Bf16Kernel
from cvzoo.links.quantization.flow import Flow
from cvzoo.links.quantization.int8_kernel import Int8Kernel
from cvzoo.links.quantization.methods import METHODS
from cvzoo.links.quantization.report import QuantizationReport, QuantizedLayer
from cvzoo.links.quantization.watching import Calibration, Comparison
from cvzoo.shapes.check import pair

Model = TypeVar("Model")
Layer = Convolution2D | Linear
Meaning = Counting | Halves
_LIGHT = "{} products a number read"
_N_COMPARED = 16  # images for the measurement of errors, and of their means for the correction


def quantize(
    model: Model,
    imgs: Iterable[ImageSource],
    *,
    precision: str,
    method: str,
    percentile: float,
    in_float: Sequence[str],
    first_and_last: bool,
    least_work: int,
    max_error: float,
) -> Model:
    """As `AbstractQuantizable.quantize`, for any model with a `predict`."""
    check_several(imgs, "quantize")
    imgs = list(imgs)
    if isinstance(in_float, str):
        raise DtypeError("quantize: in_float takes several paths", got="str", hint=f'in_float=["{in_float}"]')
    _check(model, imgs, precision, method, percentile, least_work, max_error)
    twin = model.copy("copy")  # type: ignore[attr-defined]
    layers = layers_of(twin)
    for path in in_float:
        if not any(_is_under(name, path) for name in layers):
            raise ValueRangeError(f"quantize: in_float names no layer: {path!r}", hint="see repr(model)")
    flow = Flow()
    calibrations = {name: Calibration(name, flow) for name in layers}
    for name, layer in layers.items():
        layer.kernel = calibrations[name]
    with flow:
        twin.predict(imgs)
    why = dict.fromkeys(layers, "")
    for name, layer in layers.items():
        if any(_is_under(name, path) for path in in_float):
            why[name] = "asked for"
        elif not calibrations[name].range.has_values:
            why[name] = "not called"
        elif first_and_last and name in flow.first:
            why[name] = "first"
        elif first_and_last and name not in flow.followed:
            why[name] = "last"
        elif _work(layer) < least_work:
            why[name] = _LIGHT.format(_work(layer))
    countings = {name: each.range.counting(method, percentile) for name, each in calibrations.items()}
    kernels: dict[str, AbstractLayerKernel] = {
        name: Int8Kernel(counting) if precision == "int8" else Bf16Kernel() for name, counting in countings.items()
    }
    compared = _compare(twin, imgs[:_N_COMPARED], layers, kernels)
    errors = {name: each.error if each.was_called else math.nan for name, each in compared.items()}
    for name in layers:
        if not why[name] and not errors[name] <= max_error:
            why[name] = "error"
    read: dict[str, Meaning] = dict(countings)
    given: dict[str, Meaning] = {
        name: each.out_range.counting(method, percentile) for name, each in calibrations.items()
    }
    if precision == "int8":
        _join(why, flow, {name: _LIGHT.format(_work(layer)) for name, layer in layers.items()}, errors, max_error)
    else:
        read = given = dict.fromkeys(layers, Halves())
    outs = {name: _handed_on(name, why, flow, read, given[name]) for name in layers}
    kernels = {
        name: Int8Kernel(countings[name], out) if precision == "int8" else Bf16Kernel(out is not None)
        for name, out in outs.items()
    }
    for name, layer in layers.items():
        layer.kernel = None if why[name] else kernels[name]
        if not why[name]:
            compared[name].correct()
    rows = [
        QuantizedLayer(
            path=name,
            kind=type(layer).__name__,
            precision="float32" if why[name] else precision,
            why=why[name],
            low=calibrations[name].range.low,
            high=calibrations[name].range.high,
            scale=countings[name].scale,
            signed=countings[name].signed,
            gives_bytes=outs[name] is not None,
            error=errors[name],
        )
        for name, layer in layers.items()
    ]
    twin.quantization_report = QuantizationReport(tuple(rows), len(imgs), precision, method)
    return twin


def _check(
    model: Any,
    imgs: list[ImageSource],
    precision: str,
    method: str,
    percentile: float,
    least_work: int,
    max_error: float,
) -> None:
    if precision not in ("int8", "bf16"):
        raise ValueRangeError("quantize: precision is unknown", expected="'int8' or 'bf16'", got=repr(precision))
    if precision == "bf16" and (reason := why_no_bf16()):
        raise UnsupportedError(f"quantize: no bfloat16 here: {reason}", hint="precision='int8'")
    if method not in METHODS:
        raise ValueRangeError("quantize: method is unknown", expected=" or ".join(map(repr, METHODS)), got=repr(method))
    if not imgs:
        raise ValueRangeError("quantize needs images like those that will be predicted", expected="some tens", got=0)
    if not 0 < percentile <= 100:
        raise ValueRangeError("quantize: percentile is out of range", expected="above 0, at most 100", got=percentile)
    if least_work < 0 or not max_error > 0:
        raise ValueRangeError("quantize: least_work at least 0, max_error above 0", got=f"{least_work}, {max_error}")
    if any(layer.kernel is not None for layer in layers_of(model).values()):
        raise GraphError("this model is quantized already", hint="quantize the model that it was made of")


def layers_of(model: Link) -> dict[str, Layer]:
    """The layers that can be quantized, by path."""
    return {path: link for path, link in model.namedlinks() if isinstance(link, Convolution2D | Linear)}


def _is_under(name: str, path: str) -> bool:
    path = "/" + path.strip("/")
    return name == path or name.startswith(path + "/")


def _work(layer: Layer) -> int:
    """The number of products that each input value takes part in, which determines the gain of quantization."""
    shape = layer.W.shape
    if shape is None:
        return 0
    if isinstance(layer, Linear):
        return shape[0]
    stride = pair(layer.stride, name="stride", function="quantize")
    return shape[0] // layer.groups * shape[2] * shape[3] // (stride[0] * stride[1])


def _compare(
    twin: Any, imgs: list[ImageSource], layers: dict[str, Layer], kernels: dict[str, AbstractLayerKernel]
) -> dict[str, Comparison]:
    compared = {name: Comparison(kernels[name]) for name in layers}
    for name, layer in layers.items():
        layer.kernel = compared[name]
    twin.predict(imgs)
    return compared


def _join(why: dict[str, str], flow: Flow, light: dict[str, str], errors: dict[str, float], max_error: float) -> None:
    """Quantize light layers, too, if their inputs are outputs of quantized layers, and thus int8 already."""
    makers: dict[str, set[str]] = {}
    for maker, readers in flow.read_by.items():
        for reader in readers:
            makers.setdefault(reader, set()).add(maker)
    for name in why:  # in the order of links, which is usually that of the calls
        fed = name not in flow.made_between and not any(why[maker] for maker in makers.get(name, {name}))
        if why[name] == light[name] and fed and errors[name] <= max_error:
            why[name] = ""


def _handed_on(name: str, why: dict[str, str], flow: Flow, countings: dict[str, Meaning], own: Meaning) -> Any:
    """Quantization parameters of the layer's output; None if a layer reads it in float.

    own: the parameters if the output is only added to others
    """
    readers, adders = flow.read_by.get(name, set()), flow.added_by.get(name, set())
    if why[name] or name in flow.read_in_float or any(why[each] for each in readers | adders):
        return None
    wanted = {countings[reader] for reader in readers} or ({own} if adders else set())
    return wanted.pop() if len(wanted) == 1 else None
