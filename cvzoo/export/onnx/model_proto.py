"""ONNX's protocol-buffer messages, as far as exported files need them.

Source: ONNX's `onnx.proto` (intermediate representation version 8), for the field numbers.
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
    """An input or output of a graph.

    shape: an int, or a name for a dynamic size; None: unknown
    """

    name: str
    dtype: str
    shape: tuple[int | str, ...] | None


@dataclasses.dataclass(frozen=True)
class Body:
    """The subgraph of an operator such as Loop; it may read values of the enclosing graph."""

    nodes: tuple["Node", ...]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


Attribute = int | float | str | Sequence[int] | Sequence[float] | Body


@dataclasses.dataclass(frozen=True)
class Node:
    """An operator with the names of its inputs and outputs; "" for an omitted input."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute]


class ExternalData(NamedTuple):
    """ONNX's external data: the name of the file with large constants, and each constant's offset in bytes."""

    location: str
    offsets: Mapping[str, int]


def element_type(dtype: np.dtype | str) -> int:
    """ONNX's number of the dtype. Raises DtypeError for an unsupported one."""
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
    external: ExternalData | None = None,
) -> Message:
    """A model with its graph, opset and metadata; external: the constants that are in another file."""
    graph = _graph_message(name, nodes, inputs, outputs, constants, external)
    model = Message().integer(1, IR_VERSION).text(2, "cvzoo").text(3, producer_version).message(7, graph)
    model.message(8, Message().text(1, "").integer(2, OPSET))
    for key, text in metadata.items():
        model.message(14, Message().text(1, key).text(2, text))
    return model


def tensor_message(name: str, array: np.ndarray) -> Message:
    """An array's shape, type and values, in C order, little-endian."""
    message = Message().integers(1, array.shape).integer(2, element_type(array.dtype)).text(8, name)
    return message.raw(9, array_bytes(array))


def array_bytes(array: np.ndarray) -> memoryview:
    """The values as ONNX stores them: in C order, little-endian."""
    contiguous = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return contiguous.reshape(-1).view(np.uint8).data


def _external_message(name: str, array: np.ndarray, external: ExternalData) -> Message:
    message = Message().integers(1, array.shape).integer(2, element_type(array.dtype)).text(8, name)
    entries = {"location": external.location, "offset": external.offsets[name], "length": array.nbytes}
    for key, value in entries.items():
        message.message(13, Message().text(1, key).text(2, str(value)))
    return message.integer(14, _EXTERNAL)


def _graph_message(
    name: str,
    nodes: Sequence[Node],
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    constants: Mapping[str, np.ndarray],
    external: ExternalData | None = None,
) -> Message:
    graph = Message()
    for k, node in enumerate(nodes):
        graph.message(1, _node_message(node, f"{name}/{node.op}_{k}"))
    graph.text(2, name)
    for constant, array in constants.items():
        if external is not None and constant in external.offsets:
            graph.message(5, _external_message(constant, array, external))
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
