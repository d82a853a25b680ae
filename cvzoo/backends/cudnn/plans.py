"""Lookup of the plan for a graph: in memory, on disk, else built, by autotuning if config.autotune is set."""

import functools
import statistics
import threading
from collections import OrderedDict

from cvzoo.backends.arrays import device_address
from cvzoo.backends.cudnn.graph import Graph, Tensor
from cvzoo.backends.cudnn.library import CudnnError, library
from cvzoo.backends.cudnn.plan_store import PlanStore, StoredPlan, plan_key, store_name
from cvzoo.backends.cudnn.planner import ExecutionPlan, Rules, build, first_candidates
from cvzoo.backends.cudnn.session import Session, run_once
from cvzoo.backends.cupy.library import cupy
from cvzoo.config.switches import switches
from cvzoo.files.home import cvzoo_home

_WORKSPACE = 256 << 20
_STRICT_WORKSPACE = 1 << 30  # kernels without tensor cores need NCHW, to which they convert in the workspace

_MOST_PLANS = 4096  # about 60 KB each; images of varying sizes need many

_plans: OrderedDict[tuple[str, str], ExecutionPlan | None] = OrderedDict()
_compiled: list[ExecutionPlan] = []  # never freed, since a captured CUDA graph may launch their kernels
_lock = threading.Lock()


def rules_now() -> Rules:
    """The constraints that this thread's switches imply."""
    strict = switches.dtype != "tf32"
    return Rules(strict, switches.deterministic, _STRICT_WORKSPACE if strict else _WORKSPACE)


@functools.lru_cache(64)
def _store(device: int, home: str) -> PlanStore:
    runtime = cupy().cuda.runtime
    facts = runtime.getDeviceProperties(device)
    name = facts["name"].decode() if isinstance(facts["name"], bytes) else facts["name"]
    sm = f"{facts['major']}{facts['minor']}"
    driver = runtime.driverGetVersion() // 1000
    return PlanStore(f"{home}/plans/{store_name(library().version, name, sm, facts['multiProcessorCount'], driver)}")


def find_plan(graph: Graph, rules: Rules, session: Session, *, autotune: bool) -> ExecutionPlan | None:
    """The plan for the current device, or None if cuDNN has no kernel that satisfies the rules.

    autotune: choose by measuring, unless a CUDA graph is being captured
    """
    if autotune and cupy().cuda.get_current_stream().is_capturing():
        autotune = False  # timing synchronizes, which a capture does not allow
    store = _store(cupy().cuda.runtime.getDevice(), str(cvzoo_home()))
    key = plan_key(graph, rules, autotune)
    cache_key = (store.path.name, key)
    with _lock:
        if cache_key in _plans:
            _plans.move_to_end(cache_key)
            return _plans[cache_key]
    plan = _from_disk(store, key, graph, session) or _build(store, key, graph, rules, session, autotune)
    with _lock:
        plan = _plans.setdefault(cache_key, plan)
        if len(_plans) > _MOST_PLANS:
            _, evicted = _plans.popitem(last=False)
            if evicted is not None and evicted.compiled:
                _compiled.append(evicted)
    return plan


def _from_disk(store: PlanStore, key: str, graph: Graph, session: Session) -> ExecutionPlan | None:
    stored = store.get(key)
    if stored is None:
        return None
    try:
        plan = ExecutionPlan.from_json(stored.plan, graph.uids(), session.target)
    except CudnnError:
        store.drop(key)
        return None
    plan.milliseconds, plan.compiled = stored.milliseconds, stored.compiled
    return plan


def _build(
    store: PlanStore, key: str, graph: Graph, rules: Rules, session: Session, autotune: bool
) -> ExecutionPlan | None:
    plan = fastest(graph, rules, session) if autotune else build(graph, rules, session.target)
    if plan is not None:
        store.put(key, StoredPlan(plan.to_json(), plan.milliseconds, plan.compiled))
    return plan


def forget_plans() -> None:
    """Clear the cache in memory, and reopen that on disk."""
    with _lock:
        _plans.clear()
        _compiled.clear()
    _store.cache_clear()


CANDIDATES = 8
COMPILED = 2  # further candidates, compiled in a second or more: on a new GPU the fastest kernels are not precompiled
REPEATS = 7
_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}


def size_in_bytes(tensor: Tensor) -> int:
    """The size of a contiguous tensor in bytes."""
    last = sum((n - 1) * stride for n, stride in zip(tensor.dims, tensor.strides))
    return (last + 1) * _BYTES[tensor.dtype]


def fastest(graph: Graph, rules: Rules, session: Session) -> ExecutionPlan | None:
    """The plan with the smallest median time among the first candidates; None if there is no plan.

    It synchronizes with the device, so that it must not be called while a CUDA graph is being captured.
    """
    plans = first_candidates(graph, rules, session.target, CANDIDATES, COMPILED)
    if not plans:
        return None
    xp = cupy()
    with xp.cuda.using_allocator(xp.get_default_memory_pool().malloc):  # not a graph's private memory
        arrays = {t.uid: xp.zeros(size_in_bytes(t), "uint8") for t in graph.tensors if not t.virtual}
    pointers = tuple(device_address(arrays[uid]) for uid in graph.uids())
    measured: list[tuple[float, ExecutionPlan]] = []
    for plan in plans:
        try:
            plan.milliseconds = milliseconds = _median_time(plan, session, pointers)
        except CudnnError:
            continue  # a kernel that plans and does not start is no candidate
        measured.append((milliseconds, plan))
    return min(measured, key=lambda pair: pair[0])[1] if measured else None


def _median_time(plan: ExecutionPlan, session: Session, pointers: tuple[int, ...]) -> float:
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
