"""Execution plans: the cuDNN engine for a graph, and its workspace."""

from collections.abc import Iterator
from typing import NamedTuple

from cvzoo.backends.cudnn.descriptor import Descriptor
from cvzoo.backends.cudnn.graph import ALIGNMENT, Convolution, Graph, Pointwise, Tensor
from cvzoo.backends.cudnn.library import CudnnError
from cvzoo.backends.cudnn.names import (
    CROSS_CORRELATION,
    DATA_TYPES,
    HEURISTICS_A,
    HEURISTICS_FALLBACK,
    POINTWISE_MODES,
    RUNTIME_COMPILATION,
    Attribute,
    Kind,
    Note,
    Type,
)

_CONVOLUTIONS = {
    # kind: the operation, and its attributes for alpha, beta, geometry, x, w and y
    "forward": (
        Kind.CONV_FORWARD,
        Attribute.FORWARD_ALPHA,
        Attribute.FORWARD_BETA,
        Attribute.FORWARD_CONVOLUTION,
        Attribute.FORWARD_X,
        Attribute.FORWARD_W,
        Attribute.FORWARD_Y,
    ),
    "input_grad": (
        Kind.CONV_INPUT_GRAD,
        Attribute.INPUT_GRAD_ALPHA,
        Attribute.INPUT_GRAD_BETA,
        Attribute.INPUT_GRAD_CONVOLUTION,
        Attribute.INPUT_GRAD_X,
        Attribute.INPUT_GRAD_W,
        Attribute.INPUT_GRAD_Y,
    ),
    "weight_grad": (
        Kind.CONV_WEIGHT_GRAD,
        Attribute.WEIGHT_GRAD_ALPHA,
        Attribute.WEIGHT_GRAD_BETA,
        Attribute.WEIGHT_GRAD_CONVOLUTION,
        Attribute.WEIGHT_GRAD_X,
        Attribute.WEIGHT_GRAD_W,
        Attribute.WEIGHT_GRAD_Y,
    ),
}


class Rules(NamedTuple):
    """Constraints on a plan.

    strict: float32 means float32; else tensor cores may round it to tf32 (16-bit arrays have nothing to be strict in)
    deterministic: the same inputs give the same bits
    workspace_limit: bytes
    compile: kernels that cuDNN would have to compile first (seconds each) are allowed, last
    """

    strict: bool = True
    deterministic: bool = True
    workspace_limit: int = 256 << 20
    compile: bool = False

    def forbidden(self, dtype: str) -> frozenset[int]:
        """Numerical notes that an engine must not have."""
        notes = {Note.REDUCED_PRECISION_SUMS}
        if dtype == "float32" and self.strict:
            notes |= {Note.TENSOR_CORE, Note.DOWN_CONVERTED_INPUTS, Note.FFT}
        if self.deterministic:
            notes.add(Note.NOT_DETERMINISTIC)
        return frozenset(notes)


class Place(NamedTuple):
    """What a plan is made for: a device by its handle's address, or by a description of it without a device."""

    handle: int | None = None
    properties: Descriptor | None = None

    @classmethod
    def described(cls, json: bytes) -> "Place":
        """json: as cuDNN itself describes a device"""
        return cls(None, Descriptor(Kind.DEVICE_PROPERTIES).set_text(Attribute.DEVICE_JSON, json).finalize())

    def put(self, descriptor: Descriptor, handle: Attribute | None, properties: Attribute | None) -> Descriptor:
        """The descriptor with the place set under the attribute that it has for it."""
        if self.handle is not None and handle is not None:
            descriptor.set(handle, Type.HANDLE, self.handle)
        if self.properties is not None and properties is not None:
            descriptor.set(properties, Type.DESCRIPTOR, self.properties)
        return descriptor


class Plan:
    """A finalized plan.

    workspace: bytes; engine: cuDNN's number of it, -1 if read from JSON; compiled: it was compiled for this plan
    """

    __slots__ = ("compiled", "descriptor", "engine", "milliseconds", "uids", "workspace")

    def __init__(self, descriptor: Descriptor, uids: tuple[int, ...], engine: int = -1, compiled: bool = False):
        self.descriptor = descriptor
        self.uids = uids
        self.engine = engine
        self.compiled = compiled
        self.workspace = descriptor.number(Attribute.PLAN_WORKSPACE)
        self.milliseconds: float | None = None  # as measured, where it was

    def to_json(self) -> bytes:
        """The plan, to be read again by the same version on the same kind of device."""
        return self.descriptor.text(Attribute.PLAN_JSON)

    @classmethod
    def from_json(cls, json: bytes, uids: tuple[int, ...], place: Place) -> "Plan":
        """The plan again. Raises CudnnError if it is not one for this place."""
        descriptor = Descriptor(Kind.PLAN).set_text(Attribute.PLAN_JSON, json)
        place.put(descriptor, Attribute.PLAN_HANDLE, Attribute.PLAN_DEVICE)
        return cls(descriptor.finalize(), uids)


def _tensor(tensor: Tensor) -> Descriptor:
    made = Descriptor(Kind.TENSOR)
    made.set(Attribute.TENSOR_TYPE, Type.DATA_TYPE, DATA_TYPES[tensor.dtype])
    made.set(Attribute.TENSOR_DIMS, Type.INT64, *tensor.dims)
    made.set(Attribute.TENSOR_STRIDES, Type.INT64, *tensor.strides)
    made.set(Attribute.TENSOR_UID, Type.INT64, tensor.uid)
    made.set(Attribute.TENSOR_ALIGNMENT, Type.INT64, ALIGNMENT)
    if tensor.virtual:
        made.set(Attribute.TENSOR_IS_VIRTUAL, Type.BOOLEAN, True)
    return made.finalize()


def _convolution(node: Convolution, tensors: dict[int, Descriptor]) -> Descriptor:
    geometry = Descriptor(Kind.CONVOLUTION)
    geometry.set(Attribute.CONVOLUTION_SPATIAL_DIMS, Type.INT64, 2)
    geometry.set(Attribute.CONVOLUTION_TYPE, Type.DATA_TYPE, DATA_TYPES["float32"])
    geometry.set(Attribute.CONVOLUTION_MODE, Type.CONVOLUTION_MODE, CROSS_CORRELATION)
    geometry.set(Attribute.CONVOLUTION_PRE_PADDINGS, Type.INT64, *node.pre)
    geometry.set(Attribute.CONVOLUTION_POST_PADDINGS, Type.INT64, *node.post)
    geometry.set(Attribute.CONVOLUTION_STRIDES, Type.INT64, *node.stride)
    geometry.set(Attribute.CONVOLUTION_DILATIONS, Type.INT64, *node.dilate)
    kind, alpha, beta, where, x, w, y = _CONVOLUTIONS[node.kind]
    made = Descriptor(kind).set(where, Type.DESCRIPTOR, geometry.finalize())
    made.set(alpha, Type.FLOAT, 1.0).set(beta, Type.FLOAT, node.beta)
    for name, uid in ((x, node.x), (w, node.w), (y, node.y)):
        made.set(name, Type.DESCRIPTOR, tensors[uid])
    return made.finalize()


def _pointwise(node: Pointwise, tensors: dict[int, Descriptor]) -> Descriptor:
    mode = Descriptor(Kind.POINTWISE)
    mode.set(Attribute.POINTWISE_MODE, Type.POINTWISE_MODE, POINTWISE_MODES[node.mode])
    mode.set(Attribute.POINTWISE_PRECISION, Type.DATA_TYPE, DATA_TYPES["float32"])
    made = Descriptor(Kind.OPERATION_POINTWISE)
    made.set(Attribute.OPERATION_POINTWISE, Type.DESCRIPTOR, mode.finalize())
    made.set(Attribute.OPERATION_POINTWISE_X, Type.DESCRIPTOR, tensors[node.x])
    if node.b is not None:
        made.set(Attribute.OPERATION_POINTWISE_B, Type.DESCRIPTOR, tensors[node.b])
    return made.set(Attribute.OPERATION_POINTWISE_Y, Type.DESCRIPTOR, tensors[node.y]).finalize()


def _described(graph: Graph, place: Place) -> Descriptor:
    tensors = {tensor.uid: _tensor(tensor) for tensor in graph.tensors}
    nodes = [
        _convolution(node, tensors) if isinstance(node, Convolution) else _pointwise(node, tensors)
        for node in graph.nodes
    ]
    made = Descriptor(Kind.OPERATION_GRAPH).set(Attribute.GRAPH_OPERATIONS, Type.DESCRIPTOR, *nodes)
    return place.put(made, Attribute.GRAPH_HANDLE, None).finalize()


def _configs(described: Descriptor, mode: int, place: Place) -> list[Descriptor]:
    asked = Descriptor(Kind.HEURISTICS)
    asked.set(Attribute.HEURISTICS_GRAPH, Type.DESCRIPTOR, described)
    asked.set(Attribute.HEURISTICS_MODE, Type.HEURISTICS_MODE, mode)
    place.put(asked, None, Attribute.HEURISTICS_DEVICE).finalize()
    count = asked.count(Attribute.HEURISTICS_RESULTS)
    return asked.fill(Attribute.HEURISTICS_RESULTS, [Descriptor(Kind.ENGINE_CONFIG) for _ in range(count)])


def candidates(graph: Graph, rules: Rules, place: Place, *, reasons: list[str] | None = None) -> Iterator[Plan]:
    """Plans that keep to the rules, the one that cuDNN expects to be the fastest first; each is made when asked for.

    reasons: gets a line for each that was left out
    """
    reasons = [] if reasons is None else reasons
    forbidden = rules.forbidden(graph.tensors[0].dtype)
    to_compile = []
    try:
        described = _described(graph, place)
    except CudnnError as error:
        reasons.append(str(error))
        return
    for mode in (HEURISTICS_A, HEURISTICS_FALLBACK):
        try:
            configs = _configs(described, mode, place)
        except CudnnError as error:
            reasons.append(str(error))
            continue
        for config in configs:
            try:
                (engine,) = config.fill(Attribute.CONFIG_ENGINE, [Descriptor(Kind.ENGINE)])
                notes = engine.notes(Attribute.ENGINE_NUMERICAL_NOTES, Type.NUMERICAL_NOTE)
                behavior = engine.notes(Attribute.ENGINE_BEHAVIOR_NOTES, Type.BEHAVIOR_NOTE)
                index = engine.number(Attribute.ENGINE_INDEX)
            except CudnnError as error:
                reasons.append(str(error))
                continue
            if notes & forbidden:
                reasons.append(f"engine {index}: notes on numbers {sorted(notes & forbidden)}")
            elif RUNTIME_COMPILATION in behavior:
                to_compile.append((config, index))
            else:
                yield from _finished(config, index, False, graph, rules, place, reasons)
    if rules.compile:
        for config, index in to_compile:
            yield from _finished(config, index, True, graph, rules, place, reasons)
    elif to_compile:
        reasons.append(f"engines {[index for _, index in to_compile]} would have to be compiled")


def _finished(
    config: Descriptor, index: int, compiled: bool, graph: Graph, rules: Rules, place: Place, reasons: list[str]
) -> Iterator[Plan]:
    try:
        made = Descriptor(Kind.PLAN).set(Attribute.PLAN_CONFIG, Type.DESCRIPTOR, config)
        place.put(made, Attribute.PLAN_HANDLE, Attribute.PLAN_DEVICE).finalize()
        plan = Plan(made, graph.uids(), index, compiled)
    except CudnnError as error:
        reasons.append(f"engine {index}: {error}")
        return
    if plan.workspace > rules.workspace_limit:
        reasons.append(f"engine {index}: {plan.workspace} bytes to work in")
        return
    yield plan


def build(graph: Graph, rules: Rules, place: Place) -> Plan | None:
    """The first of `candidates`, or None if there is none."""
    return next(candidates(graph, rules, place), None)


def first_candidates(graph: Graph, rules: Rules, place: Place, count: int, compiled: int) -> list[Plan]:
    """The first `count` of `candidates`, and the first `compiled` of those that had to be compiled."""
    left = {False: count, True: compiled}
    plans = []
    for plan in candidates(graph, rules._replace(compile=compiled > 0), place):
        if left[plan.compiled]:
            left[plan.compiled] -= 1
            plans.append(plan)
        elif plan.compiled:
            break
    return plans
