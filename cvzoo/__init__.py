"""A computer-vision model zoo and evaluation suite on its own define-by-run core.

>>> import cvzoo
>>> model = cvzoo.links.DarknetDetector("yolo-fastest-1.1.cfg", "yolo-fastest-1.1.weights", label_names="coco.names")
>>> bboxes, labels, scores = model.predict(["dog.jpg"])

Everything is imported when it is first asked for, so that `import cvzoo` costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors; at run time __getattr__ below does the same, later
    from cvzoo import (
        backends,
        computational_graph,
        config,
        datasets,
        errors,
        evaluations,
        export,
        functions,
        geometry,
        gradient_check,
        graph,
        images,
        initializers,
        iterators,
        links,
        optimizers,
        reporting,
        serializers,
        shapes,
        singa,
        training,
        transforms,
        visualizations,
        weights,
    )
    from cvzoo.autodiff.function import Function
    from cvzoo.autodiff.function_node import FunctionNode
    from cvzoo.autodiff.grad import grad
    from cvzoo.autodiff.parameter import Parameter
    from cvzoo.autodiff.variable import Variable, as_array, as_variable
    from cvzoo.config.randomness import set_seed
    from cvzoo.config.switches import force_backprop_mode, no_backprop_mode, using_config
    from cvzoo.links.chain import Chain, ChainList, Sequential
    from cvzoo.links.link import Link

__version__ = "0.1.0"

_ROOMS = (
    "backends",
    "config",
    "datasets",
    "errors",
    "evaluations",
    "export",
    "functions",
    "geometry",
    "graph",
    "images",
    "initializers",
    "iterators",
    "links",
    "optimizers",
    "reporting",
    "serializers",
    "shapes",
    "singa",
    "training",
    "transforms",
    "visualizations",
    "weights",
)
_MODULES = {
    "computational_graph": "cvzoo.autodiff.computational_graph",
    "gradient_check": "cvzoo.autodiff.gradient_check",
}
_NAMES = {
    "as_array": "cvzoo.autodiff.variable",
    "as_variable": "cvzoo.autodiff.variable",
    "Chain": "cvzoo.links.chain",
    "ChainList": "cvzoo.links.chain",
    "force_backprop_mode": "cvzoo.config.switches",
    "Function": "cvzoo.autodiff.function",
    "FunctionNode": "cvzoo.autodiff.function_node",
    "grad": "cvzoo.autodiff.grad",
    "Link": "cvzoo.links.link",
    "no_backprop_mode": "cvzoo.config.switches",
    "Parameter": "cvzoo.autodiff.parameter",
    "Sequential": "cvzoo.links.chain",
    "set_seed": "cvzoo.config.randomness",
    "using_config": "cvzoo.config.switches",
    "Variable": "cvzoo.autodiff.variable",
}

__all__ = [
    "as_array",
    "as_variable",
    "backends",
    "Chain",
    "ChainList",
    "computational_graph",
    "config",
    "datasets",
    "errors",
    "evaluations",
    "export",
    "force_backprop_mode",
    "Function",
    "FunctionNode",
    "functions",
    "geometry",
    "grad",
    "gradient_check",
    "graph",
    "images",
    "initializers",
    "iterators",
    "Link",
    "links",
    "no_backprop_mode",
    "optimizers",
    "Parameter",
    "reporting",
    "Sequential",
    "serializers",
    "set_seed",
    "shapes",
    "singa",
    "training",
    "transforms",
    "using_config",
    "Variable",
    "visualizations",
    "weights",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"cvzoo.{name}")
    if name in _MODULES:
        module = importlib.import_module(_MODULES[name])
        globals()[name] = module
        return module
    if name in _NAMES:
        # the operators of Variable are functions: without that room `x + y` would not be known
        importlib.import_module("cvzoo.functions")
        value = getattr(importlib.import_module(_NAMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'cvzoo' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
