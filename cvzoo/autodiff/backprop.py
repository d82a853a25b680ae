"""Backpropagation: one pass over the graph in reverse order that frees nodes as it goes."""

import heapq
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from cvzoo.autodiff.function_hook import this_thread
from cvzoo.backends.device import on_device_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import DtypeError, GraphError
from cvzoo.typing.aliases import Array

if TYPE_CHECKING:
    from cvzoo.autodiff.function_node import FunctionNode
    from cvzoo.autodiff.variable import Variable
    from cvzoo.autodiff.variable_node import VariableNode

MakeVariable = Callable[[Array, bool], "Variable"]

RELEASED = "the graph of this value was released by an earlier backward()"
RELEASED_HINT = "call the earlier one as backward(retain_graph=True)"


class _Gradients:
    """Gradients that are not final yet, each the sum over the functions that used the value."""

    def __init__(self, double: bool, make: MakeVariable):
        self.double = double
        self.make = make
        self.of: dict[VariableNode, Variable] = {}
        self.own: set[VariableNode] = set()  # values whose gradient was allocated here, so that adding in place is safe

    def add(self, node: "VariableNode", grad: "Variable") -> None:
        before = self.of[node]
        if self.double:
            self.of[node] = before + grad
        elif node in self.own and not this_thread.hooks:
            with on_device_of(before._array):
                backend_of(before._array).add(before._array, grad._array, out=before._array)
        else:
            # neither array may be changed: a function can return one array as the gradient of two inputs
            with on_device_of(before._array):
                total = backend_of(before._array).add(before._array, grad._array)
            self.of[node] = self.make(total, False)
            self.own.add(node)
            for hook in this_thread.hooks:
                hook.gradients_added(before._array, grad._array, total)


def sweep(
    seeds: Iterable[tuple["VariableNode", "Variable"]],
    *,
    finish: Callable[["VariableNode", "Variable"], None],
    double: bool,
    make: MakeVariable,
    release: bool = False,
    reach: "set[VariableNode] | None" = None,
    uses: "dict[VariableNode, int] | None" = None,
) -> None:
    """Traverse the graph from the seeds to the leaves and call `finish` with each value and its final gradient.

    seeds: the values to start from with their gradients
    double: the gradients are differentiable themselves
    make: builds a Variable from (array, requires_grad)
    release: detach the seeds, so that memory that is not referenced elsewhere is freed during the traversal
    reach: only these nodes are visited; None for all
    uses: how often functions use each leaf, to finish it with its last use; None: leaves are finished at the end
    """
    grads = _Gradients(double, make)
    heap: list[tuple[int, int, FunctionNode]] = []
    queued: set[int] = set()  # `id`s stay unique, since the heap and the loop reference the functions
    count = 0

    def arrive(node: "VariableNode", grad: "Variable") -> None:
        nonlocal count
        if node.given_up is not None:
            raise GraphError(RELEASED, got=node.name or f"a value of shape {node.shape}", hint=RELEASED_HINT)
        if node in grads.of:
            grads.add(node, grad)
        else:
            grads.of[node] = grad
        creator = node.creator
        if creator is not None and id(creator) not in queued:
            queued.add(id(creator))
            count += 1
            # a function's rank is above those of all functions before it, so its gradients are complete when it is
            # popped; `count` decides between equal ranks, since functions do not compare
            heapq.heappush(heap, (-creator.rank, count, creator))

    for node, grad in seeds:
        arrive(node, grad)
    passed = _give_up(grads.of) if release else None
    with using_config("enable_backprop", double):
        while heap:
            function = heapq.heappop(heap)[2]
            queued.discard(id(function))
            outs: list[Variable | None] = []
            out_node = gy = None
            for reference in function.outputs:
                out_node = reference()
                gy = None
                if out_node is not None:
                    grads.own.discard(out_node)
                    gy = grads.of.pop(out_node, None)
                    if gy is not None:
                        finish(out_node, gy)
                outs.append(gy)
            gys = tuple(outs)
            del outs, out_node, gy
            in_nodes = function.inputs
            requested = []
            for i, x in enumerate(in_nodes):
                if passed is not None and x.creator is not None:
                    passed.add(weakref.ref(x.creator))
                if x.requires_grad and (reach is None or x in reach):
                    requested.append(i)
            indexes = tuple(requested)
            if indexes:
                gxs = _backward(function, indexes, gys)
                for i, gx in zip(indexes, gxs):
                    if gx is not None:
                        try:
                            shape = gx._array.shape
                        except AttributeError:
                            raise DtypeError(
                                f"{function.label}.backward must return Variables", got=type(gx).__name__
                            ) from None
                        if shape != in_nodes[i].shape:
                            raise GraphError(
                                f"{function.label}.backward gave input {i} a gradient of another shape",
                                expected=in_nodes[i].shape,
                                got=shape,
                            )
                        arrive(in_nodes[i], gx)
                gxs = gx = None  # type: ignore[assignment]
            if uses is not None:
                for x in in_nodes:
                    if x in uses:
                        uses[x] -= 1
                        if not uses[x] and x in grads.of:
                            finish(x, grads.of.pop(x))
            # release this step's arrays before the next one allocates
            function = in_nodes = x = None  # type: ignore[assignment]
            del gys
        for node, grad in grads.of.items():
            finish(node, grad)
    if passed:
        _keep_outermost(passed)


def _uses_of_leaves(root: "VariableNode") -> "dict[VariableNode, int]":
    """How often the functions that the root depends on use each leaf."""
    uses: dict[VariableNode, int] = {}
    seen: set[FunctionNode] = set()
    functions = [] if root.creator is None else [root.creator]
    while functions:
        function = functions.pop()
        if function in seen:
            continue
        seen.add(function)
        for x in function.inputs:
            if x.creator is not None:
                functions.append(x.creator)
            elif x.requires_grad:
                uses[x] = uses.get(x, 0) + 1
    return uses


def _give_up(nodes: Iterable["VariableNode"]) -> "set[weakref.ref[FunctionNode]]":
    """Detach the nodes from their creators; weak references to these, which the traversal adds to."""
    passed: set[weakref.ref[FunctionNode]] = set()
    for node in nodes:
        if node.creator is not None:
            passed.add(weakref.ref(node.creator))
            node.creator = None
            node.given_up = passed
    return passed


def _keep_outermost(passed: "set[weakref.ref[FunctionNode]]") -> None:
    """Drop the functions that were freed, and those that another one references."""
    alive = [function for function in (reference() for reference in passed) if function is not None]
    held = {x.creator for function in alive for x in function.inputs}
    passed.clear()
    passed.update([weakref.ref(function) for function in alive if function not in held])


def _backward(
    function: "FunctionNode", indexes: tuple[int, ...], gys: "tuple[Variable | None, ...]"
) -> "tuple[Variable | None, ...]":
    hooks = this_thread.hooks
    for hook in hooks:
        hook.backward_preprocess(function, indexes, gys)
    try:
        first = None
        for gy in gys:
            if gy is not None:
                first = gy._array
                break
        # for every function of a graph, so the CPU's case does without a context manager
        if type(first) is np.ndarray or first is None:
            gxs = function.backward(indexes, gys)
        else:
            with on_device_of(first):
                gxs = function.backward(indexes, gys)
    finally:
        for hook in reversed(hooks):
            hook.backward_postprocess(function, indexes, gys)
    if type(gxs) is not tuple or len(gxs) != len(indexes):
        raise DtypeError(
            f"{function.label}.backward must return a tuple with one gradient for each requested input",
            expected=f"{len(indexes)} gradients",
            got=f"{len(gxs)} gradients" if isinstance(gxs, tuple) else type(gxs).__name__,
        )
    for hook in hooks:
        hook.gradients_made(function, gxs)
    return gxs


def _is_writeable(array: Array) -> bool:
    return type(array) is not np.ndarray or array.flags.writeable  # arrays of a GPU have no such flag


def _memory_of(array: Array) -> int:
    # NumPy gives a view of a view the owner as its base
    return id(array if array.base is None else array.base)


def backprop(root: "VariableNode", *, retain_grad: bool, double: bool, retain_graph: bool, make: MakeVariable) -> None:
    """Compute the gradients of the leaves that `root` depends on, starting from the gradient of `root`."""
    start = root.grad_var
    assert start is not None  # `Variable.backward` sets it
    # A function may return the same memory for two leaves (both inputs of an addition); each must own its gradient,
    # since optimizers change gradients in place.
    used_memory = {_memory_of(start._array)}

    def finish(node: "VariableNode", grad: "Variable") -> None:
        if node is root:
            return
        leaf = node.creator is None
        if not (leaf or retain_grad):
            node.grad_var = None  # the gradient of an earlier backward(retain_grad=True) is out of date
            return
        if node.variable() is None:
            return
        if leaf and node.grad_var is not None:
            if double:
                node.grad_var = node.grad_var + grad
                return
            before = node.grad_var._array
            with on_device_of(before):
                grad = make(backend_of(before).add(before, grad._array), False)
        elif _memory_of(grad._array) in used_memory or not _is_writeable(grad._array):
            with on_device_of(grad._array):
                grad = grad * 1 if double else make(grad._array.copy(order="K"), False)
        used_memory.add(_memory_of(grad._array))
        node.grad_var = grad
        if leaf and on_final is not None:
            variable = node.variable()
            if variable is not None:
                on_final(variable)

    on_final = None if double else this_thread.on_final
    uses = None if on_final is None else _uses_of_leaves(root)
    if root.given_up is not None:
        raise GraphError(RELEASED, got=root.name or f"a value of shape {root.shape}", hint=RELEASED_HINT)
    sweep([(root, start)], finish=finish, double=double, make=make, release=not retain_graph, uses=uses)


def unchain_behind(node: "VariableNode") -> None:
    """Remove from the graph every function that `node` depends on."""
    functions = node.behind()
    node.unchain()
    while functions:
        function = functions.pop()
        for x in function.inputs:
            functions.extend(x.behind())
            x.unchain()
        function.unchain()
