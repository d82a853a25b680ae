"""Function hooks: callbacks before and after each function, forward and backward."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from cvzoo.typing.aliases import Array

if TYPE_CHECKING:
    from cvzoo.autodiff.function_node import FunctionNode
    from cvzoo.autodiff.variable import Variable

Hook = TypeVar("Hook", bound="AbstractFunctionHook")


class AbstractFunctionHook:
    """Base class of function hooks, used as `with MyHook() as hook: ...`; active in the current thread only.

    `in_data` is the tuple of input arrays; `grad_outputs` the tuple of Variables (or None) that backward gets. A
    backward is made of functions: hooks see those, too, between `backward_preprocess` and `backward_postprocess`.
    """

    def __enter__(self: Hook) -> Hook:
        this_thread.hooks = (*this_thread.hooks, self)
        return self

    def __exit__(self, *error: object) -> None:
        this_thread.hooks = tuple(hook for hook in this_thread.hooks if hook is not self)

    def forward_preprocess(self, function: "FunctionNode", in_data: tuple[Array, ...]) -> None:
        """Before `forward`."""

    def forward_postprocess(self, function: "FunctionNode", in_data: tuple[Array, ...]) -> None:
        """After `forward`, also when it raised."""

    def outputs_made(self, function: "FunctionNode", outputs: "tuple[Variable, ...]") -> None:
        """After the outputs have been put into the graph."""

    def backward_preprocess(
        self,
        function: "FunctionNode",
        target_input_indexes: tuple[int, ...],
        grad_outputs: "tuple[Variable | None, ...]",
    ) -> None:
        """Before `backward`."""

    def backward_postprocess(
        self,
        function: "FunctionNode",
        target_input_indexes: tuple[int, ...],
        grad_outputs: "tuple[Variable | None, ...]",
    ) -> None:
        """After `backward`, also when it raised."""

    def gradients_made(self, function: "FunctionNode", grad_inputs: "tuple[Variable | None, ...]") -> None:
        """After `backward`, with the gradients it returned."""

    def gradients_added(self, a: Array, b: Array, total: Array) -> None:
        """After two gradients of one value, arrays, were added to a new one."""


class _Thread(threading.local):
    def __init__(self) -> None:
        self.hooks: tuple[AbstractFunctionHook, ...] = ()  # the active ones, outermost first
        self.link_hooks: tuple[Any, ...] = ()  # those of `links.link_hook`, which a replayed graph would not call
        self.on_final: Callable[[Variable], object] | None = None  # see `final_gradients`


this_thread = _Thread()  # its attributes are read for every function and link, so without a call
