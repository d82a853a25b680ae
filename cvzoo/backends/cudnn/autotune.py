"""Autotuning: several plans are timed on the device, the fastest is used."""

import statistics

from cvzoo.backends.cudnn.graph import Graph, Tensor
from cvzoo.backends.cudnn.library import CudnnError
from cvzoo.backends.cudnn.planner import Plan, Rules, first_candidates
from cvzoo.backends.cudnn.session import Session
from cvzoo.backends.cudnn.variant_pack import run_once
from cvzoo.backends.cupy.library import cupy

CANDIDATES = 8
COMPILED = 2  # more of those that take a second or more to compile; the fastest ones of a new GPU are among them
REPEATS = 7
_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}


def size_in_bytes(tensor: Tensor) -> int:
    """The size of a contiguous tensor in bytes."""
    last = sum((n - 1) * stride for n, stride in zip(tensor.dims, tensor.strides))
    return (last + 1) * _BYTES[tensor.dtype]


def fastest(graph: Graph, rules: Rules, session: Session) -> Plan | None:
    """The plan with the smallest median time among the first candidates; None if there is no plan.

    It synchronizes with the device, so that it must not be called while a CUDA graph is being captured.
    """
    plans = first_candidates(graph, rules, session.place, CANDIDATES, COMPILED)
    if not plans:
        return None
    xp = cupy()
    with xp.cuda.using_allocator(xp.get_default_memory_pool().malloc):  # not a graph's private memory
        arrays = {t.uid: xp.zeros(size_in_bytes(t), "uint8") for t in graph.tensors if not t.virtual}
    pointers = tuple(arrays[uid].data.ptr for uid in graph.uids())
    measured: list[tuple[float, Plan]] = []
    for plan in plans:
        try:
            plan.milliseconds = milliseconds = _median_time(plan, session, pointers)
        except CudnnError:
            continue  # a kernel that plans and does not start is no candidate
        measured.append((milliseconds, plan))
    return min(measured, key=lambda pair: pair[0])[1] if measured else None


def _median_time(plan: Plan, session: Session, pointers: tuple[int, ...]) -> float:
    """Milliseconds, after one run that loads the kernel."""
    cuda = cupy().cuda
    run_once(plan, session, pointers)
    events = [(cuda.Event(), cuda.Event()) for _ in range(REPEATS)]
    for start, end in events:
        start.record()
        run_once(plan, session, pointers)
        end.record()
    events[-1][1].synchronize()
    return statistics.median(cuda.get_elapsed_time(start, end) for start, end in events)
