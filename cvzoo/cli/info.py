"""`cvzoo info`: shows the architecture of a model, and the cost of inference."""

import argparse
import time
from collections import Counter
from typing import Any

import numpy as np

from cvzoo.autodiff.hooks.memory_hook import MemoryHook
from cvzoo.autodiff.hooks.timer_hook import TimerHook
from cvzoo.cli.check_target import check_target
from cvzoo.cli.json_records import as_json, write_json
from cvzoo.cli.load_predictor import Predictor, load_predictor
from cvzoo.cli.result_table import printable
from cvzoo.errors.exceptions import ConfigError, UnsupportedError
from cvzoo.images.read_image import MAX_PIXELS
from cvzoo.links.chain import Chain
from cvzoo.links.link import Link
from cvzoo.links.model.architectures import architecture_of
from cvzoo.links.model.layer_costs import layer_costs
from cvzoo.links.model.preparation.abstract import AbstractPreparation
from cvzoo.links.model.raw_outputs import seeded_photo
from cvzoo.links.model.thresholds import AbstractThresholds, ClassPreset
from cvzoo.links.quantization.quantizable import AbstractQuantizable
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Size

_SHOWN = 8  # kinds of functions that are printed


def run(args: argparse.Namespace) -> int:
    """Returns 0. Raises ConfigError without a model, and errors of loading it."""
    if args.model is None and args.cfg is None:
        raise ConfigError("no model was given", hint="cvzoo info NAME, cvzoo info FILE, or --cfg FILE --weights FILE")
    check_target(args.json)
    height, width = args.size
    if height * width > MAX_PIXELS:
        raise ConfigError(f"--size {height} {width}: images may have at most {MAX_PIXELS:,} pixels")
    model = load_predictor(args)
    if not callable(getattr(model, "predict", None)):
        raise UnsupportedError(f"a {type(model).__name__} has no predict() to measure")
    cost = _cost(model, tuple(args.size))
    record = {"model": args.model or args.cfg, **_facts(model), "prediction": cost}
    if args.json is not None:
        if args.json == "-":
            print(as_json(record, indent=2).decode())
            return 0
        write_json(record, args.json)
    _print(record)
    if args.layers:
        _print_layers(cost["layers"])
    return 0


def _facts(model: Chain) -> dict[str, Any]:
    """Properties of the model, ready for JSON."""
    names = getattr(model, "label_names", None)
    preparation = getattr(model, "preparation", None)
    facts: dict[str, Any] = {
        "class": type(model).__name__,
        "n_class": None if names is None else len(names),
        "label_names": None if names is None else list(names),
        "preparation": preparation.describe() if isinstance(preparation, AbstractPreparation) else None,
        "thresholds": None,
        "presets": None,
        "quantization": None,
        "config": None,
        "parts": {name: _size(part) for name, part in _parts(model).items()},
        "n_parameter": _size(model)["n_parameter"],
        "nbytes": _size(model)["nbytes"],
    }
    if isinstance(model, AbstractThresholds):
        facts["thresholds"] = {name: getattr(model, name) for name in ("score_thresh", "nms_thresh", "limit")}
        facts["presets"] = {
            name: f"{'by class, from ' * isinstance(each, ClassPreset)}{each.score_thresh:g}"
            for name, each in model.presets.items()
        }
    report = model.quantization_report if isinstance(model, AbstractQuantizable) else None
    if report is not None:
        facts["quantization"] = {
            "precision": report.precision,
            "method": report.method,
            "n_photo": report.n_photo,
            "n_quantized": report.n_quantized,
            "n_layer": len(report),
            "summary": report.summary(),
        }
    try:
        facts["config"] = architecture_of(type(model)).settings(model)
    except UnsupportedError:
        pass  # a network of darknet's .cfg, or a class that model files do not support
    return facts


def _macs_of_parts(record: dict[str, Any]) -> dict[str, int]:
    """The multiply-adds of each part of the model."""
    macs = dict.fromkeys(record["parts"], 0)
    for each in record["prediction"]["layers"]:
        part = each["name"].partition("/")[0]
        if part in macs:
            macs[part] += each["n_multiply_add"]
    return macs


def _print_layers(layers: list[dict[str, Any]]) -> None:
    """A line per layer, in order of computation."""
    width = max((len(each["name"]) for each in layers), default=0)
    print(f"  {'layer':<{width}}  {'kind':<22} {'output':<22} {'calls':>5} {'parameters':>12} {'multiply-adds':>15}")
    for each in layers:
        shape = "several" if each["shape"] is None else " x ".join(map(str, each["shape"]))
        print(
            f"  {each['name']:<{width}}  {each['kind']:<22} {shape:<22} {each['calls']:>5} {each['n_parameter']:>12,} "
            f"{each['n_multiply_add']:>15,}"
        )


def _parts(model: Chain) -> dict[str, Link]:
    return {str(link.name): link for link in model.children()}


def _size(link: Link) -> dict[str, int]:
    arrays = [param.array for param in link.params() if param.array is not None]
    return {"n_parameter": sum(a.size for a in arrays), "nbytes": sum(a.nbytes for a in arrays)}


def _cost(model: Predictor, size: Size) -> dict[str, Any]:
    """Time and memory of the second prediction on an image of `size` (H, W); the first one includes initialization."""
    img = seeded_photo(size).astype(np.uint8)
    model.predict([img])
    begun = time.perf_counter()
    model.predict([img])
    seconds = time.perf_counter() - begun
    with TimerHook() as timer, MemoryHook() as memory:
        model.predict([img])
    functions = {
        label: {"calls": each.count, "seconds": each.total, "bytes": memory.summary()[label, way].made}
        for (label, way), each in timer.summary().items()
    }
    layers = layer_costs(model, lambda: model.predict([img]))
    n = sum(each.n_multiply_add for each in layers)
    return {
        "size": list(size),
        "input": list(model.prepare(img.astype(np.float32)).shape),
        "seconds": seconds,
        "peak_bytes": memory.peak,
        "n_multiply_add": n,
        "flops": 2 * n,
        "functions": functions,
        "layers": [each._asdict() for each in layers],
    }


def _print(record: dict[str, Any]) -> None:
    names, cost = record["label_names"], record["prediction"]
    some = "" if names is None else f": {', '.join(names[:6])}{' ...' if len(names) > 6 else ''}"
    lines = [
        ("class", record["class"]),
        ("classes", "not named" if names is None else f"{len(names)}{some}"),
        ("preparation", record["preparation"] or "of its own"),
        ("thresholds", ", ".join(f"{name} {value}" for name, value in (record["thresholds"] or {}).items())),
        ("presets", ", ".join(f"{name} {score}" for name, score in (record["presets"] or {}).items())),
        ("quantized", (record["quantization"] or {}).get("summary")),
        ("parameters", f"{record['n_parameter']:,}, {record['nbytes'] / 1e6:.1f} MB"),
    ]
    print(printable(str(record["model"])))
    for what, words in lines:
        if words:
            print(f"  {what:<12} {printable(words)}")
    macs = _macs_of_parts(record)
    print(f"    {'part':<20} {'parameters':>14} {'multiply-adds':>16}")
    for name, part in record["parts"].items():
        print(f"    {name:<20} {part['n_parameter']:>14,} {macs[name]:>16,}")
    kinds = Counter(each["kind"] for each in cost["layers"])
    print(f"  layers       {len(cost['layers'])}: {', '.join(f'{n} {kind}' for kind, n in kinds.most_common())}")
    shape = " x ".join(map(str, cost["input"][1:]))
    macs, flops = cost["n_multiply_add"] / 1e9, cost["flops"] / 1e9
    print(f"  operations   {macs:.3g} GMACs (multiply-adds), twice as many GFLOPs: {flops:.3g}, of {shape} pixels")
    height, width = cost["size"]
    print(
        f"  prediction   of {height} x {width} pixels: {cost['seconds']:.3f} s, {cost['peak_bytes'] / 1e6:.1f} MB of "
        "arrays at once; functions, with their times measured one by one:"
    )
    for label, each in list(cost["functions"].items())[:_SHOWN]:
        calls = counted(each["calls"], "call ", "calls", spec=">5")
        print(f"    {label:<32} {calls}  {each['seconds']:8.4f} s  {each['bytes'] / 1e6:9.1f} MB made")
