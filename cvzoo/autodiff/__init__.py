"""The contract of define-by-run: variables, functions, one reverse sweep."""

from cvzoo.autodiff.function import Function
from cvzoo.autodiff.function_hook import AbstractFunctionHook
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.grad import grad
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.autodiff.variable_node import VariableNode

__all__ = [
    "AbstractFunctionHook",
    "as_array",
    "as_variable",
    "Function",
    "FunctionNode",
    "grad",
    "Parameter",
    "Variable",
    "VariableNode",
]
