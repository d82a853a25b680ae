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

_ARRAYS = "cvzoo.get_device and arrays' own methods: cupy.asarray(x), cvzoo.get_device('gpu:0').asarray(x)"
_REPLACED = {
    "AbstractSerializer": "cvzoo.serializers, and Link.state_arrays",
    "Deserializer": "cvzoo.serializers, and Link.state_arrays",
    "DeviceResident": "Link, whose to_device moves it",
    "Flag": "with cvzoo.no_backprop_mode(): ..., which took the place of volatile",
    "DictSummary": "cvzoo.reporting.DictSummary",
    "FunctionHook": "cvzoo.autodiff.AbstractFunctionHook",
    "FunctionSet": "class Net(cvzoo.Chain), with its links assigned in `with self.init_scope():`",
    "GradientMethod": "cvzoo.optimizers.AbstractOptimizer",
    "Initializer": "any function that fills an array, as those of cvzoo.initializers",
    "Optimizer": "cvzoo.optimizers.AbstractOptimizer",
    "OFF": "with cvzoo.no_backprop_mode(): ..., which took the place of volatile",
    "ON": "with cvzoo.no_backprop_mode(): ..., which took the place of volatile",
    "Reporter": "cvzoo.reporting.Reporter",
    "Serializer": "cvzoo.serializers, and Link.state_arrays",
    "UpdateRule": "cvzoo.optimizers.AbstractUpdateRule",
    "backend": "cvzoo.get_device, and x.xp of a Variable or a Link",
    "cuda": _ARRAYS,
    "get_current_reporter": "cvzoo.reporting.get_current_reporter",
    "global_config": "with cvzoo.using_config(name, value): ..., around the program's main part",
    "is_debug": "cvzoo.training.extensions.FailOnNonNumber",
    "set_debug": "cvzoo.training.extensions.FailOnNonNumber",
    "print_runtime_info": "the command `cvzoo doctor`",
    "report_scope": "cvzoo.reporting.report_scope",
    "should_use_cudnn": "cvzoo.config.backend",
    "static_graph": "link.compile()",
    "Summary": "cvzoo.reporting.Summary",
    "using_device": "with cvzoo.get_device('gpu:0'): ...",
}

# the operators of Variable are functions: without that room `x + y` would not be known
import_on_demand(__name__, after="cvzoo.functions", replaced=_REPLACED)
