"""A computer-vision model zoo and evaluation suite on its own define-by-run core.

>>> import cvzoo
>>> model = cvzoo.links.DarknetDetector("yolo-fastest-1.1.cfg", "yolo-fastest-1.1.weights", label_names="coco.names")
>>> bboxes, labels, scores = model.predict(["dog.jpg"])

Everything is imported when it is first asked for, so that `import cvzoo` costs nothing.
"""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo import (
        backends,
        chainer_experimental,
        config,
        dataset,
        datasets,
        distributed,
        errors,
        evaluations,
        experimental,
        export,
        extensions,
        files,
        function_hooks,
        functions,
        geometry,
        graph,
        images,
        initializers,
        iterators,
        labels,
        link_hooks,
        links,
        optimizer_hooks,
        optimizers,
        reporting,
        serializers,
        shapes,
        singa,
        testing,
        training,
        transforms,
        typing,
        utils,
        visualizations,
        weights,
    )
    from cvzoo.autodiff import computational_graph, gradient_check
    from cvzoo.autodiff.function import Function
    from cvzoo.autodiff.function_node import FunctionNode
    from cvzoo.autodiff.grad import grad
    from cvzoo.autodiff.parameter import Parameter
    from cvzoo.autodiff.variable import Variable, as_array, as_variable
    from cvzoo.backends.device import get_device
    from cvzoo.config.randomness import set_seed
    from cvzoo.config.switches import force_backprop_mode, no_backprop_mode, using_config
    from cvzoo.links.chain import Chain, ChainList, Link, Sequential
    from cvzoo.links.link_hook import LinkHook
    from cvzoo.reporting.reporter import report

__version__ = "0.1.0"

__all__ = [
    "as_array",
    "as_variable",
    "backends",
    "Chain",
    "chainer_experimental",
    "ChainList",
    "computational_graph",
    "config",
    "dataset",
    "datasets",
    "distributed",
    "errors",
    "evaluations",
    "experimental",
    "export",
    "extensions",
    "files",
    "force_backprop_mode",
    "Function",
    "function_hooks",
    "FunctionNode",
    "functions",
    "geometry",
    "get_device",
    "grad",
    "gradient_check",
    "graph",
    "images",
    "initializers",
    "iterators",
    "labels",
    "Link",
    "link_hooks",
    "LinkHook",
    "links",
    "no_backprop_mode",
    "optimizer_hooks",
    "optimizers",
    "Parameter",
    "report",
    "reporting",
    "Sequential",
    "serializers",
    "set_seed",
    "shapes",
    "singa",
    "testing",
    "training",
    "transforms",
    "typing",
    "using_config",
    "utils",
    "Variable",
    "visualizations",
    "weights",
]

# the operators of Variable are functions: without that room `x + y` would not be known
import_on_demand(__name__, after="cvzoo.functions")
