"""Normalizations."""

from collections.abc import Callable

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.export.onnx.step import Step
from cvzoo.functions.normalization.fixed_batch_normalization import FixedBatchNormalization
from cvzoo.functions.normalization.group_normalization import GroupNormalization
from cvzoo.functions.normalization.layer_normalization import LayerNormalization
from cvzoo.functions.normalization.local_response_normalization import LocalResponseNormalization


def fixed_batch_normalization(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    return (g.add("BatchNormalization", step.inputs, {"epsilon": float(step.setting("_eps"))}),)


def layer_normalization(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    return (g.add("LayerNormalization", step.inputs, {"axis": 1, "epsilon": float(step.setting("_eps"))}),)


def group_normalization(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    """Each group of channels becomes one row of an instance normalization, as opset 17 has no group normalization."""
    x, gamma, beta = step.inputs
    groups = step.setting("_groups")
    rows = g.add("Reshape", [x, g.integers(0, groups, -1)])
    ones, zeros = np.ones(groups, np.float32), np.zeros(groups, np.float32)
    inputs = [rows, g.constant(ones), g.constant(zeros)]
    rows = g.add("InstanceNormalization", inputs, {"epsilon": float(step.setting("_eps"))})
    y = g.add("Reshape", [rows, g.add("Shape", [x])])
    across = g.integers(*range(1, len(step.in_shapes[0]) - 1))
    gamma, beta = (g.add("Unsqueeze", [each, across]) for each in (gamma, beta))
    return (g.add("Add", [g.add("Mul", [y, gamma]), beta]),)


def local_response_normalization(g: OnnxGraph, step: Step) -> tuple[str, ...]:
    settings = step.setting("_settings")
    n = settings["n"]
    if n % 2 == 0:
        raise step.refuse("with an even `n`, ONNX's window has one more channel above, cvzoo's below")
    attributes = {
        "size": n,
        "alpha": float(settings["alpha"] * n),
        "beta": float(settings["beta"]),
        "bias": float(settings["k"]),
    }
    return (g.add("LRN", step.inputs, attributes),)


CONVERTERS: dict[type[FunctionNode], Callable[[OnnxGraph, Step], tuple[str, ...]]] = {
    FixedBatchNormalization: fixed_batch_normalization,
    GroupNormalization: group_normalization,
    LayerNormalization: layer_normalization,
    LocalResponseNormalization: local_response_normalization,
}
