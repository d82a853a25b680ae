"""Graph compilation: capture of a call, optimization passes, memory planning, and replay of a flat list of kernels."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.graph.capture import Capture
    from cvzoo.graph.compile_link import compile_link, graphs_of, uncompile_link
    from cvzoo.graph.compiled_graph import CompiledGraph, NotReplayableError, build
    from cvzoo.graph.lowering import lower
    from cvzoo.graph.memory_plan import Lifetime, MemoryPlan, most_alive, plan_memory
    from cvzoo.graph.program import Program
    from cvzoo.graph.records import Graph, Record, Value
    from cvzoo.graph.replayed_method import ReplayedMethod

__all__ = [
    "build",
    "Capture",
    "compile_link",
    "CompiledGraph",
    "Graph",
    "graphs_of",
    "Lifetime",
    "lower",
    "MemoryPlan",
    "most_alive",
    "NotReplayableError",
    "plan_memory",
    "Program",
    "Record",
    "ReplayedMethod",
    "uncompile_link",
    "Value",
]

import_on_demand(__name__)
