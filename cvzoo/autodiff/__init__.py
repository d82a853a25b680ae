"""The define-by-run core: variables, functions and backpropagation."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.autodiff.computational_graph import ComputationalGraph, build_computational_graph
    from cvzoo.autodiff.final_gradients import final_gradients
    from cvzoo.autodiff.function import Function
    from cvzoo.autodiff.function_hook import AbstractFunctionHook
    from cvzoo.autodiff.function_node import FunctionNode
    from cvzoo.autodiff.grad import grad
    from cvzoo.autodiff.gradient_check import check_backward, check_double_backward, numerical_grad
    from cvzoo.autodiff.hooks.memory_hook import MemoryHook
    from cvzoo.autodiff.hooks.print_hook import PrintHook
    from cvzoo.autodiff.hooks.timer_hook import TimerHook
    from cvzoo.autodiff.parameter import Parameter
    from cvzoo.autodiff.variable import Variable, as_array, as_variable
    from cvzoo.autodiff.variable_node import VariableNode

__all__ = [
    "AbstractFunctionHook",
    "as_array",
    "as_variable",
    "build_computational_graph",
    "check_backward",
    "check_double_backward",
    "ComputationalGraph",
    "final_gradients",
    "Function",
    "FunctionNode",
    "grad",
    "MemoryHook",
    "numerical_grad",
    "Parameter",
    "PrintHook",
    "TimerHook",
    "Variable",
    "VariableNode",
]

import_on_demand(__name__)
