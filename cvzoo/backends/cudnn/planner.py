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

    strict: float32 is computed in float32; else tensor cores may round it to TF32. Without effect on 16-bit arrays
    deterministic: equal inputs give results equal to the bit
    workspace_limit: bytes
    compile: whether kernels that cuDNN has to compile (seconds each) are allowed, after all others
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


class Target(NamedTuple):
    """The device for which a plan is made: by a handle's address, or by a description where the device is absent."""

    handle: int | None = None
    properties: Descriptor | None = None

    @classmethod
    def described(cls, json: bytes) -> "Target":
        """json: as cuDNN itself describes a device"""
        return cls(None, Descriptor(Kind.DEVICE_PROPERTIES).set_text(Attribute.DEVICE_JSON, json).finalize())

    def put(self, descriptor: Descriptor, handle: Attribute | None, properties: Attribute | None) -> Descriptor:
        """The descriptor, with the target set as one of these attributes."""
        if self.handle is not None and handle is not None:
            descriptor.set(handle, Type.HANDLE, self.handle)
        if self.properties is not None and properties is not None:
            descriptor.set(properties, Type.DESCRIPTOR, self.properties)
        return descriptor


class ExecutionPlan:
    """A finalized execution plan of cuDNN.

    workspace: bytes; engine: cuDNN's index of it, -1 if read from JSON; compiled: whether its kernel was compiled
    """

    __slots__ = ("compiled", "descriptor", "engine", "milliseconds", "uids", "workspace")

    def __init__(self, descriptor: Descriptor, uids: tuple[int, ...], engine: int = -1, compiled: bool = False):
        self.descriptor = descriptor
        self.uids = uids
        self.engine = engine
        self.compiled = compiled
        self.workspace = descriptor.number(Attribute.PLAN_WORKSPACE)
        self.milliseconds: float | None = None  # if measured

    def to_json(self) -> bytes:
        """The plan as JSON, valid for the same version of cuDNN on the same device model."""
        return self.descriptor.text(Attribute.PLAN_JSON)

    @classmethod
    def from_json(cls, json: bytes, uids: tuple[int, ...], target: Target) -> "ExecutionPlan":
        """The plan of `to_json`. Raises CudnnError if it is not valid for this target."""
        descriptor = Descriptor(Kind.PLAN).set_text(Attribute.PLAN_JSON, json)
        target.put(descriptor, Attribute.PLAN_HANDLE, Attribute.PLAN_DEVICE)
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


def _described(graph: Graph, target: Target) -> Descriptor:
    tensors = {tensor.uid: _tensor(tensor) for tensor in graph.tensors}
    nodes = [
        _convolution(node, tensors) if isinstance(node, Convolution) else _pointwise(node, tensors)
        for node in graph.nodes
    ]
    made = Descriptor(Kind.OPERATION_GRAPH).set(Attribute.GRAPH_OPERATIONS, Type.DESCRIPTOR, *nodes)
    return target.put(made, Attribute.GRAPH_HANDLE, None).finalize()


def _configs(described: Descriptor, mode: int, target: Target) -> list[Descriptor]:
    heuristics = Descriptor(Kind.HEURISTICS)
    heuristics.set(Attribute.HEURISTICS_GRAPH, Type.DESCRIPTOR, described)
    heuristics.set(Attribute.HEURISTICS_MODE, Type.HEURISTICS_MODE, mode)
    target.put(heuristics, None, Attribute.HEURISTICS_DEVICE).finalize()
    count = heuristics.count(Attribute.HEURISTICS_RESULTS)
    return heuristics.fill(Attribute.HEURISTICS_RESULTS, [Descriptor(Kind.ENGINE_CONFIG) for _ in range(count)])


def candidates(
    graph: Graph, rules: Rules, target: Target, *, reasons: list[str] | None = None
) -> Iterator[ExecutionPlan]:
    """The plans that satisfy the rules, the one that cuDNN expects to be fastest first; made one by one.

    reasons: a line is appended for each rejected plan
    """
    reasons = [] if reasons is None else reasons
    forbidden = rules.forbidden(graph.tensors[0].dtype)
    to_compile = []
    try:
        described = _described(graph, target)
    except CudnnError as error:
        reasons.append(str(error))
        return
    for mode in (HEURISTICS_A, HEURISTICS_FALLBACK):
        try:
            configs = _configs(described, mode, target)
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
                reasons.append(f"engine {index}: numerical notes {sorted(notes & forbidden)}")
            elif RUNTIME_COMPILATION in behavior:
                to_compile.append((config, index))
            else:
                yield from _finished(config, index, False, graph, rules, target, reasons)
    if rules.compile:
        for config, index in to_compile:
            yield from _finished(config, index, True, graph, rules, target, reasons)
    elif to_compile:
        reasons.append(f"engines {[index for _, index in to_compile]} would have to be compiled")


def _finished(
    config: Descriptor, index: int, compiled: bool, graph: Graph, rules: Rules, target: Target, reasons: list[str]
) -> Iterator[ExecutionPlan]:
    try:
        made = Descriptor(Kind.PLAN).set(Attribute.PLAN_CONFIG, Type.DESCRIPTOR, config)
        target.put(made, Attribute.PLAN_HANDLE, Attribute.PLAN_DEVICE).finalize()
        plan = ExecutionPlan(made, graph.uids(), index, compiled)
    except CudnnError as error:
        reasons.append(f"engine {index}: {error}")
        return
    if plan.workspace > rules.workspace_limit:
        reasons.append(f"engine {index}: a workspace of {plan.workspace} bytes")
        return
    yield plan


def build(graph: Graph, rules: Rules, target: Target) -> ExecutionPlan | None:
    """The first of `candidates`, or None if there is none."""
    return next(candidates(graph, rules, target), None)


def first_candidates(graph: Graph, rules: Rules, target: Target, count: int, compiled: int) -> list[ExecutionPlan]:
    """The first `count` of `candidates`, and the first `compiled` of those that had to be compiled."""
    left = {False: count, True: compiled}
    plans = []
    for plan in candidates(graph, rules._replace(compile=compiled > 0), target):
        if left[plan.compiled]:
            left[plan.compiled] -= 1
            plans.append(plan)
        elif plan.compiled:
            break
    return plans
