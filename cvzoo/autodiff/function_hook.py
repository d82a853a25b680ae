"""What is called before and after every function, forward and backward."""

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cvzoo.autodiff.function_node import FunctionNode


class AbstractFunctionHook:
    """Override what is needed, then `with MyHook() as hook: ...`; in this thread only.

    `in_data` is the tuple of input arrays; `grad_outputs` the tuple of Variables (or None) that backward gets.
    """

    def __enter__(self) -> "AbstractFunctionHook":
        _thread.hooks = (*_thread.hooks, self)
        return self

    def __exit__(self, *error: object) -> None:
        _thread.hooks = tuple(hook for hook in _thread.hooks if hook is not self)

    def forward_preprocess(self, function: "FunctionNode", in_data: tuple[Any, ...]) -> None:
        """Before `forward`."""

    def forward_postprocess(self, function: "FunctionNode", in_data: tuple[Any, ...]) -> None:
        """After `forward`."""

    def backward_preprocess(
        self, function: "FunctionNode", target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> None:
        """Before `backward`."""

    def backward_postprocess(
        self, function: "FunctionNode", target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> None:
        """After `backward`."""


class _Thread(threading.local):
    def __init__(self) -> None:
        self.hooks: tuple[AbstractFunctionHook, ...] = ()


_thread = _Thread()


def active_hooks() -> tuple[AbstractFunctionHook, ...]:
    """The hooks that this thread is inside of, outermost first."""
    return _thread.hooks
