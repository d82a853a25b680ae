"""Quantized models in files: int8 weights, and the settings of each layer as JSON."""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cvzoo.backends.onednn.library import why_no_bf16
from cvzoo.errors.exceptions import FileFormatError, UnsupportedError
from cvzoo.functions.connection.byte_variable import Counting
from cvzoo.links.connection.layer_kernel import AbstractLayerKernel
from cvzoo.links.link import Link
from cvzoo.links.quantization.bf16_kernel import Bf16Kernel
from cvzoo.links.quantization.int8_kernel import Int8Kernel, float_weights, weight_bytes
from cvzoo.links.quantization.methods import METHODS
from cvzoo.links.quantization.quantizable import AbstractQuantizable
from cvzoo.links.quantization.quantize import Layer, layers_of
from cvzoo.links.quantization.report import QuantizationReport, QuantizedLayer

KEY = "cvzoo_quantization"  # of the text in a file's header
VERSION = 1
_STEPS = "_steps"  # suffix of the quantization steps of an int8 array


def is_quantized(model: Link) -> bool:
    """Whether `quantize` made the model."""
    return isinstance(model, AbstractQuantizable) and model.quantization_report is not None


def stored_quantization(model: Link) -> tuple[dict[str, np.ndarray], str]:
    """The arrays of a quantized model, and its quantization parameters as text.

    Weights of int8 layers are int8 (O, ...) under their own names ("conv1/W"), followed by their float32 (O,) steps
    ("conv1/W_steps"); the rest is as in `state_arrays`.
    Raises UnsupportedError if the model is not quantized.
    """
    report = model.quantization_report if isinstance(model, AbstractQuantizable) else None
    if report is None:
        raise UnsupportedError(f"the {type(model).__name__} is not quantized", hint="model.quantize(imgs)")
    arrays = Link.state_arrays(model)
    layers = layers_of(model)
    rows = []
    for each in report:
        kernel = layers[each.path].kernel
        out = kernel.out_counting if isinstance(kernel, Int8Kernel) else each.gives_bytes or None
        if isinstance(kernel, Int8Kernel):
            name = _weight_name(each.path)
            arrays[name], arrays[name + _STEPS] = weight_bytes(arrays[name])
        row = each._asdict() | {"gives_bytes": out, "error": None if math.isnan(each.error) else each.error}
        rows.append(row)
    text = {
        "version": VERSION,
        "precision": report.precision,
        "method": report.method,
        "n_photo": report.n_image,
        "layers": rows,
    }
    return arrays, json.dumps(text, allow_nan=False)


def take_quantization(model: Link, arrays: Mapping[str, np.ndarray], text: str, where: str) -> None:
    """Quantize the model as described by the output of `stored_quantization`.

    model: of the same architecture, not quantized
    where: names the file in errors
    Raises FileFormatError if the text is damaged or does not fit the model or the arrays, UnsupportedError if it is of
    a later version or in a precision that this machine does not support, WeightsMismatchError if other arrays do not
    match; the model is not quantized then.
    """
    if not isinstance(model, AbstractQuantizable):
        raise FileFormatError(f"{where}: a {type(model).__name__} cannot be quantized")
    layers = layers_of(model)
    report, outs = _report(text, layers, where)
    if report.precision == "bf16" and (reason := why_no_bf16()):
        raise UnsupportedError(f"{where}: no bfloat16 here: {reason}", hint="quantize with precision='int8'")
    plain = dict(arrays)
    for each in report:
        if each.precision == "int8":
            name = _weight_name(each.path)
            plain[name] = _floats(plain.get(name), plain.pop(name + _STEPS, None), f"{where}: {name!r}")
    Link.load_arrays(model, plain)
    for each in report:
        layers[each.path].kernel = _kernel(each, outs[each.path])
    model.quantization_report = report


def _weight_name(path: str) -> str:
    return f"{path.strip('/')}/W"


def _floats(filters: object, steps: object, what: str) -> np.ndarray:
    if not (
        isinstance(filters, np.ndarray)
        and isinstance(steps, np.ndarray)
        and filters.dtype == np.int8
        and steps.dtype == np.float32
        and filters.ndim in (2, 4)
        and steps.shape == filters.shape[:1]
        and np.isfinite(steps).all()
    ):
        raise FileFormatError(f"{what} are no bytes with steps", expected="int8 (O, ...) and float32 (O,)")
    W = float_weights(filters, steps)
    if not (np.isfinite(W).all() and all(map(np.array_equal, weight_bytes(W), (filters, steps)))):
        raise FileFormatError(f"{what} are not quantized weights of cvzoo", expected="a maximum of 127 in each filter")
    return W


def _kernel(layer: QuantizedLayer, out: Counting | None) -> AbstractLayerKernel | None:
    if layer.precision == "float32":
        return None
    return (
        Bf16Kernel(layer.gives_bytes)
        if layer.precision == "bf16"
        else Int8Kernel(Counting(layer.scale, layer.signed), out)
    )


# --- the text -------------------------------------------------------------------------------------------------------
def _report(
    text: str, layers: Mapping[str, Layer], where: str
) -> tuple[QuantizationReport, dict[str, Counting | None]]:
    try:
        own = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{where}: its quantization parameters are damaged: {str(error)[:100]}") from error
    version = own.get("version") if isinstance(own, dict) else None
    if type(version) is int and version > VERSION:
        raise UnsupportedError(f"{where}: quantized by a later cvzoo", expected=f"version {VERSION}", got=version)
    rows = own.get("layers") if version == VERSION else None
    if not (
        isinstance(rows, list)
        and own.get("precision") in ("int8", "bf16")
        and own.get("method") in METHODS
        and type(own.get("n_photo")) is int
    ):
        raise FileFormatError(f"{where}: its quantization parameters are damaged", got=text[:80])
    layers_by_path: dict[str, QuantizedLayer] = {}
    outs: dict[str, Counting | None] = {}
    for row in rows:
        each = _row(row, own["precision"])
        if each is None or each[0].path in layers_by_path:
            raise FileFormatError(f"{where}: the quantization parameters of a layer are damaged", got=str(row)[:200])
        layers_by_path[each[0].path], outs[each[0].path] = each
    wanted = {path: type(layer).__name__ for path, layer in layers.items()}
    if {path: each.kind for path, each in layers_by_path.items()} != wanted:
        other = sorted(set(wanted) ^ set(layers_by_path)) or sorted(layers_by_path)
        raise FileFormatError(f"{where}: its quantized layers are not the model's", got=", ".join(other[:3])[:200])
    return QuantizationReport(tuple(layers_by_path.values()), own["n_photo"], own["precision"], own["method"]), outs


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _row(row: object, precision: str) -> tuple[QuantizedLayer, Counting | None] | None:
    """A layer and the quantization parameters of its output; None if the row is damaged."""
    if not isinstance(row, dict) or set(row) != set(QuantizedLayer._fields):
        return None
    out = row["gives_bytes"]
    numbers = [row[name] for name in ("low", "high", "scale")] + ([] if row["error"] is None else [row["error"]])
    fits = (
        all(isinstance(row[name], str) for name in ("path", "kind", "precision", "why"))
        and row["precision"] in (precision, "float32")
        and (row["precision"] == "float32") == bool(row["why"])
        and all(_is_number(value) for value in numbers)
        and _counting([row["scale"], row["signed"]]) is not None
        and (out is None or (out is True if row["precision"] == "bf16" else _counting(out) is not None))
        and (out is None or row["precision"] != "float32")
    )
    if not fits:
        return None
    error = math.nan if row["error"] is None else row["error"]
    return QuantizedLayer(**row | {"gives_bytes": out is not None, "error": error}), _counting(out)


def _counting(pair: object) -> Counting | None:
    if not isinstance(pair, list) or len(pair) != 2 or not _is_number(pair[0]) or type(pair[1]) is not bool:
        return None
    scale = np.float32(pair[0])
    return Counting(float(scale), pair[1]) if 0 < scale < np.inf else None


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= float(np.finfo(np.float32).max)
