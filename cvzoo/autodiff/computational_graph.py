"""The computational graph of values, for Graphviz or as text."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ValueRangeError

if TYPE_CHECKING:
    from cvzoo.autodiff.function_node import FunctionNode
    from cvzoo.autodiff.variable_node import VariableNode


@dataclasses.dataclass(frozen=True)
class GraphValue:
    """A value: its name or None, shape, dtype and role in the graph."""

    name: str | None
    shape: tuple[int, ...]
    dtype: str
    requires_grad: bool
    is_leaf: bool
    is_output: bool
    released: bool

    @property
    def kind(self) -> str:
        """Its role: leaf, constant, released, output; empty for an intermediate value."""
        words = []
        if self.is_leaf and not self.released:
            words.append("leaf" if self.requires_grad else "constant")
        if self.released:
            words.append("graph released")
        if self.is_output:
            words.append("output")
        return ", ".join(words)


@dataclasses.dataclass(frozen=True)
class GraphFunction:
    """A function's application; `inputs` and `outputs` are indexes of values, None for an unused output."""

    label: str
    inputs: tuple[int, ...]
    outputs: tuple[int | None, ...]


@dataclasses.dataclass(frozen=True)
class ComputationalGraph:
    """A graph as plain data in topological order; it references no arrays."""

    values: tuple[GraphValue, ...]
    functions: tuple[GraphFunction, ...]

    def to_dot(self, *, rankdir: str = "TB") -> str:
        """The graph in Graphviz's language: values are ovals, functions are boxes.

        rankdir: where inputs are: "TB" top, "LR" left, "BT" bottom, "RL" right
        """
        if rankdir not in ("TB", "LR", "BT", "RL"):
            raise ValueRangeError(f"to_dot: unknown rankdir {rankdir!r}", expected="TB, LR, BT or RL")
        lines = ["digraph graphname {", f"  rankdir={rankdir};"]
        for i, value in enumerate(self.values):
            text = f"{value.shape}, {value.dtype}"
            text = f"{value.name}: {text}" if value.name else text
            style = "" if value.requires_grad else ", style=dashed"
            lines.append(f"  v{i} [label={_quoted(text)}, shape=oval{style}];")
        for i, function in enumerate(self.functions):
            lines.append(f"  f{i} [label={_quoted(function.label)}, shape=box];")
            lines += [f"  v{x} -> f{i};" for x in function.inputs]
            lines += [f"  f{i} -> v{y};" for y in function.outputs if y is not None]
        return "\n".join([*lines, "}", ""])

    def to_text(self) -> str:
        """The graph as a listing: one line per leaf or function, every value with a number.

        `  %2 = MatMul(%0, %1)  float32 (2, 4)  h`; an unused output is `_`.
        """
        computed = {y for function in self.functions for y in function.outputs if y is not None}
        rows = [(f"%{i}", *self._about((i,))) for i in range(len(self.values)) if i not in computed]
        for function in self.functions:
            left = ", ".join("_" if y is None else f"%{y}" for y in function.outputs)
            right = ", ".join(f"%{x}" for x in function.inputs)
            rows.append((f"  {left} = {function.label}({right})", *self._about(function.outputs)))
        widths = [max((len(row[i]) for row in rows), default=0) for i in (0, 1)]
        lines = [f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}".rstrip() for row in rows]
        return "\n".join([*lines, ""])

    def dump(self, format: str = "dot") -> str:
        """`to_dot()` or, for "text", `to_text()`."""
        if format == "dot":
            return self.to_dot()
        if format == "text":
            return self.to_text()
        raise ValueRangeError(f"dump: unknown format {format!r}", expected="'dot' or 'text'")

    def _about(self, numbers: Sequence[int | None]) -> tuple[str, str]:
        values = [self.values[i] for i in numbers if i is not None]
        kinds = [": ".join(word for word in (_printable(value.name or ""), value.kind) if word) for value in values]
        return "; ".join(f"{value.dtype} {value.shape}" for value in values), "; ".join(k for k in kinds if k)


def build_computational_graph(outputs: Variable | Sequence[Variable]) -> ComputationalGraph:
    """The graph that the outputs were computed by, in an order that depends on the graph only.

    outputs: a Variable or several; graphs that an earlier `backward()` released, and computations in
        `no_backprop_mode`, are missing
    """
    outputs = [outputs] if isinstance(outputs, Variable) else list(outputs)
    for y in outputs:
        if not isinstance(y, Variable):
            raise DtypeError("build_computational_graph takes Variables", got=type(y).__name__)
    roots = [y.node for y in outputs]
    return _graph(roots, [root.creator for root in roots], {})


def graph_behind_function(function: "FunctionNode", names: Mapping["VariableNode", str]) -> ComputationalGraph:
    """The graph that a function's outputs were computed by; for function hooks at the beginning of backward().

    names: what to call values, in front of their own names
    """
    roots = [node for node in (reference() for reference in function.outputs) if node is not None]
    return _graph(roots, [function], names)


def _graph(
    roots: Sequence["VariableNode"],
    creators: Sequence["FunctionNode | None"],
    names: Mapping["VariableNode", str],
) -> ComputationalGraph:
    functions = _in_order(creators)
    reached = set(roots).union(*(function.inputs for function in functions))
    numbers: dict[VariableNode, int] = {}
    for function in functions:
        for x in function.inputs:
            numbers.setdefault(x, len(numbers))
        for y in (reference() for reference in function.outputs):
            if y in reached:
                numbers.setdefault(y, len(numbers))
    for root in roots:
        numbers.setdefault(root, len(numbers))
    computed = {y for function in functions for y in (reference() for reference in function.outputs)}
    values = tuple(
        GraphValue(
            name=names.get(node) or _name_of(node),
            shape=tuple(node.shape),
            dtype=str(node.dtype),
            requires_grad=node.requires_grad,
            is_leaf=node not in computed,
            is_output=node in roots,
            released=node.released and node not in computed,
        )
        for node in numbers
    )
    rows = []
    for function in functions:
        alive = [reference() for reference in function.outputs]
        outputs = tuple(None if y is None else numbers.get(y) for y in alive)
        rows.append(GraphFunction(function.label, tuple(numbers[x] for x in function.inputs), outputs))
    return ComputationalGraph(values, tuple(rows))


def _in_order(creators: Sequence["FunctionNode | None"]) -> list["FunctionNode"]:
    """The functions and their ancestors in topological order; not recursive, since graphs may be deep."""
    done: set[int] = set()
    order: list[FunctionNode] = []
    stack = [(function, False) for function in reversed(creators)]
    while stack:
        function, inputs_done = stack.pop()
        if function is None or id(function) in done:
            continue
        if inputs_done:
            done.add(id(function))
            order.append(function)
        else:
            stack.append((function, True))
            stack.extend((x.creator, False) for x in reversed(function.inputs))
    return order


def _name_of(node: "VariableNode") -> str | None:
    variable = node.variable()
    return node.name if variable is None or variable.name is None else variable.name


def _printable(text: str) -> str:
    return text.encode("unicode_escape").decode() if any(not c.isprintable() for c in text) else text


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "").replace("\n", "\\n") + '"'
