"""ONNX's messages, as many of them as our files need.

Source: ONNX's `onnx.proto` (intermediate representation version 8), whose numbers of fields are these.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.errors.exceptions import DtypeError
from cvzoo.export.onnx.message import Message

IR_VERSION = 8
OPSET = 17

_TYPES = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "int32": 6,
    "int64": 7,
    "bool": 9,
    "float16": 10,
    "float64": 11,
}
_EXTERNAL = 1
_FLOAT, _INT, _STRING, _GRAPH, _FLOATS, _INTS = 1, 2, 3, 5, 6, 7


@dataclasses.dataclass(frozen=True)
class Port:
    """What goes in or comes out.

    shape: a number, or a name for a size that is known only when the model runs; None where nothing is said
    """

    name: str
    dtype: str
    shape: tuple[int | str, ...] | None


@dataclasses.dataclass(frozen=True)
class Body:
    """What an operator such as Loop does again and again; it may read values of the graph around it."""

    nodes: tuple["Node", ...]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


Attribute = int | float | str | Sequence[int] | Sequence[float] | Body


@dataclasses.dataclass(frozen=True)
class Node:
    """One operator's application: the values that it reads and makes, by name; "" for one that is left out."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute]


class Outside(NamedTuple):
    """Where constants lie that are in a file of their own: its name beside the model's, and of each its first byte."""

    location: str
    offsets: Mapping[str, int]


def element_type(dtype: np.dtype | str) -> int:
    """ONNX's number of the dtype. Raises DtypeError if it has none that we use."""
    number = _TYPES.get(np.dtype(dtype).name)
    if number is None:
        raise DtypeError("ONNX: arrays of this dtype are not written", expected=", ".join(_TYPES), got=dtype)
    return number


def model_message(
    name: str,
    nodes: Sequence[Node],
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    constants: Mapping[str, np.ndarray],
    *,
    producer_version: str,
    metadata: Mapping[str, str],
    outside: Outside | None = None,
) -> Message:
    """A model with its graph, the opset that it wants, and texts about it; `outside`: constants in another file."""
    graph = _graph_message(name, nodes, inputs, outputs, constants, outside)
    model = Message().integer(1, IR_VERSION).text(2, "cvzoo").text(3, producer_version).message(7, graph)
    model.message(8, Message().text(1, "").integer(2, OPSET))
    for key, text in metadata.items():
        model.message(14, Message().text(1, key).text(2, text))
    return model


def tensor_message(name: str, array: np.ndarray) -> Message:
    """An array's shape, type and numbers, the last axis innermost and the low bytes first."""
    message = Message().integers(1, array.shape).integer(2, element_type(array.dtype)).text(8, name)
    return message.raw(9, array_bytes(array))


def array_bytes(array: np.ndarray) -> memoryview:
    """The numbers as ONNX has them: the last axis innermost and the low bytes first."""
    lying = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return lying.reshape(-1).view(np.uint8).data


def _outside_message(name: str, array: np.ndarray, outside: Outside) -> Message:
    message = Message().integers(1, array.shape).integer(2, element_type(array.dtype)).text(8, name)
    place = {"location": outside.location, "offset": outside.offsets[name], "length": array.nbytes}
    for key, value in place.items():
        message.message(13, Message().text(1, key).text(2, str(value)))
    return message.integer(14, _EXTERNAL)


def _graph_message(
    name: str,
    nodes: Sequence[Node],
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    constants: Mapping[str, np.ndarray],
    outside: Outside | None = None,
) -> Message:
    graph = Message()
    for k, node in enumerate(nodes):
        graph.message(1, _node_message(node, f"{name}/{node.op}_{k}"))
    graph.text(2, name)
    for constant, array in constants.items():
        if outside is not None and constant in outside.offsets:
            graph.message(5, _outside_message(constant, array, outside))
        else:
            graph.message(5, tensor_message(constant, array))
    for port in inputs:
        graph.message(11, _port_message(port))
    for port in outputs:
        graph.message(12, _port_message(port))
    return graph


def _node_message(node: Node, name: str) -> Message:
    message = Message()
    for value in node.inputs:
        message.text(1, value)
    for value in node.outputs:
        message.text(2, value)
    message.text(3, name).text(4, node.op)
    for key, attribute in node.attributes.items():
        message.message(5, _attribute_message(key, attribute, name))
    return message


def _attribute_message(name: str, value: Attribute, node: str) -> Message:
    message = Message().text(1, name)
    if isinstance(value, Body):
        graph = _graph_message(f"{node}/{name}", value.nodes, value.inputs, value.outputs, {})
        return message.message(6, graph).integer(20, _GRAPH)
    if isinstance(value, str):
        return message.text(4, value).integer(20, _STRING)
    if isinstance(value, int | np.integer):
        return message.integer(3, int(value)).integer(20, _INT)
    if isinstance(value, float | np.floating):
        return message.real(2, float(value)).integer(20, _FLOAT)
    if all(isinstance(each, int | np.integer) for each in value):
        for each in value:
            message.integer(8, int(each))
        return message.integer(20, _INTS)
    for each in value:
        message.real(7, float(each))
    return message.integer(20, _FLOATS)


def _port_message(port: Port) -> Message:
    tensor = Message().integer(1, element_type(port.dtype))
    if port.shape is not None:
        shape = Message()
        for size in port.shape:
            shape.message(1, Message().text(2, size) if isinstance(size, str) else Message().integer(1, size))
        tensor.message(2, shape)
    return Message().text(1, port.name).message(2, Message().message(1, tensor))
