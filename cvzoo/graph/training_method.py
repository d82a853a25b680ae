"""A link's method compiled for training: one graph with a backward pass per signature of argument shapes."""

import collections
import threading
import warnings
import weakref
from collections.abc import Callable, Hashable
from typing import Any

from cvzoo.autodiff.variable import Variable, make_output
from cvzoo.backends.capture import PrivatePool
from cvzoo.backends.device import Device
from cvzoo.config.switches import switches
from cvzoo.graph.guards import LinkAbove, SettingsGuard
from cvzoo.graph.memory_plan import Arena
from cvzoo.graph.recompilation import RecompilationPolicy, outermost
from cvzoo.graph.replay import Replay
from cvzoo.graph.side_effects import SideEffectDetector
from cvzoo.graph.training_graph import NO_GRADIENTS, NotTrainableError, TrainingGraph, build_training
from cvzoo.graph.trees import Structure, call_arguments, device_of_arguments, flatten, moved_beside, unflatten
from cvzoo.typing.aliases import Array


class _Local(threading.local):
    """Thread-local state: a graph belongs to the thread that made it."""

    def __init__(self) -> None:
        self.graphs: collections.OrderedDict[Hashable, TrainingGraph] = collections.OrderedDict()
        self.policy = RecompilationPolicy()
        self.missing: dict[Hashable, frozenset[int]] = {}  # indexes of results that got no gradients
        self.eager: set[Hashable] = set()  # signatures that are not compiled
        self.settings = SettingsGuard()
        self.arena = Arena()
        self.pools: dict[int, PrivatePool] = {}  # by GPU
        self.pending: weakref.ref[Replay] | None = None  # the last replay, whose backward may still come


class TrainingMethod:
    """Compiled calls with gradients. All share one arena: a call before the previous call's backward is eager.

    link, name, plain: the link, the method's name, and the method of the class
    limit: size of the graph cache (least recently used)
    recompute: cheap results are recomputed in the backward pass (gradient checkpointing)
    compile_children: compiles the child links if the link itself cannot be replayed
    reason: why the link stays eager; None if it does not
    """

    def __init__(
        self,
        link: LinkAbove,
        name: str,
        plain: Callable[..., Any],
        limit: int,
        recompute: bool,
        compile_children: Callable[..., None],
    ):
        self.link = link
        self.name = name
        self.limit = limit
        self.recompute = recompute
        self._compile_children = compile_children
        self.plain = plain
        self.reason: str | None = None
        self._local = _Local()
        self._hidden = link.replayed_names()

    def compile(self, args: tuple[Any, ...]) -> TrainingGraph | None:
        """Compile for such arguments; returns the graph, None if there is none."""
        args = moved_beside(self.link.params(), args)
        signature = self._signature(args, {})
        if signature is None or signature[0] in self._local.eager:
            return None
        outermost.busy = True
        try:
            return self._known(signature[0]) or self._record(signature[0], args, {})
        finally:
            outermost.busy = False

    def graphs(self) -> list[TrainingGraph]:
        """This thread's graphs, least recently used first."""
        return list(self._local.graphs.values())

    def forget(self) -> None:
        """Discard this thread's graphs; they are recompiled on demand."""
        self._local.__init__()  # type: ignore[misc]

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        own = self._local
        signature = None if switches.in_recomputing else self._signature(args, kwargs)
        if signature is None or signature[0] in own.eager:
            return self.plain(self.link, *args, **kwargs)
        key, structure, leaves = signature
        outermost.busy = True
        try:
            pending = None if own.pending is None else own.pending()
            if pending is not None and pending.is_pending:  # its values occupy the arena until its backward
                return self.plain(self.link, *args, **kwargs)
            graph = self._known(key)
            if graph is None and own.policy.should_compile(key):
                own.policy.compiled()
                graph = self._record(key, args, kwargs)
            elif graph is not None:
                own.policy.replayed(key)
            if graph is not None:
                return self._replay(graph, key, structure, leaves)
            if self.reason is None:
                return self.plain(self.link, *args, **kwargs)
        finally:
            outermost.busy = False
        return self.plain(self.link, *args, **kwargs)  # after `outermost` was reset: its children may be replayed

    def _signature(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Hashable, Structure, list[Variable | Array]] | None:
        """The cache key of a call, the arguments' structure, their arrays and Variables; None for calls that stay
        eager."""
        given = None if self.reason is not None else call_arguments(args, kwargs)
        if given is None:
            return None
        structure, leaves, _, metadata = given
        differentiable = tuple(map(_requires_grad, leaves))
        settings = self._local.settings.current(self.link, self._hidden)
        key = structure, metadata, differentiable, settings, switches.backend, switches.dtype, switches.train
        return key, structure, leaves

    def _known(self, key: Hashable) -> TrainingGraph | None:
        own = self._local
        graph = own.graphs.get(key)
        if graph is None:
            return None
        if not graph.program.belongs_to_this_thread() or not graph.guard.is_unchanged():
            del own.graphs[key]
            return None
        own.graphs.move_to_end(key)
        return graph

    def _record(self, key: Hashable, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TrainingGraph | None:
        own, link = self._local, self.link
        detector = SideEffectDetector(self.plain.__get__(link), link.states, self._hidden)
        device = device_of_arguments(args, kwargs)
        try:
            with device:
                graph = build_training(
                    detector,
                    args,
                    kwargs,
                    without=own.missing.get(key, frozenset()),
                    arena=self._arena(device),
                    parameters=link.params(),
                    recompute=self.recompute,
                )
            detector.detect_random_draws(args, kwargs)
            if detector.reason is not None:
                raise NotTrainableError(detector.reason)
        except NotTrainableError as error:
            detector.detect_random_draws(args, kwargs)
            own.eager.add(key)
            if str(error) == NO_GRADIENTS:
                return None
            self.reason = detector.reason or str(error)
            warnings.warn(
                f"{type(link).__name__}.{self.name} is not trained as a graph: {self.reason}",
                RuntimeWarning,
                stacklevel=2,
            )
            self._compile_children(link, self.limit, train=True, recompute=self.recompute)
            return None
        graph.name = f"{type(link).__name__}.{self.name}, forward and backward"
        own.graphs[key] = graph
        while len(own.graphs) > self.limit:
            own.graphs.popitem(last=False)
        return graph

    def _arena(self, device: Device) -> Arena | PrivatePool:
        """The arena of this thread's graphs on the device."""
        own = self._local
        if device.index < 0:
            return own.arena
        if device.index not in own.pools:
            own.pools[device.index] = PrivatePool()
        return own.pools[device.index]

    def _replay(self, graph: TrainingGraph, key: Hashable, structure: Structure, leaves: list[Variable | Array]) -> Any:
        own = self._local
        is_array = [not isinstance(x, Variable) for x in leaves]

        def eager_call(*xs: Variable) -> tuple[Variable, ...]:
            before, outermost.busy = outermost.busy, True
            try:
                values = [x.array if plain else x for x, plain in zip(xs, is_array)]
                args, kwargs = unflatten(structure, iter(values), lambda variable: variable)
                results: list[Any] = []  # Variables and arrays; the differentiable ones are Variables
                flatten(self.plain(self.link, *args, **kwargs), results)
            finally:
                outermost.busy = before
            return tuple([results[k] for k in graph.differentiable])

        def on_missing(missing: frozenset[int]) -> None:
            # recompiled once without these gradients; if others are missing then, the signature stays eager
            own.graphs.pop(key, None)
            if key in own.missing or len(missing) == len(graph.differentiable):
                own.eager.add(key)
            own.missing[key] = missing

        node = Replay(graph, eager_call, on_missing)
        ys = node.apply((*leaves, *graph.parameters))
        own.pending = weakref.ref(node)
        results = {**dict(zip(graph.differentiable, ys)), **node.constant_results}
        node.constant_results = {}
        return unflatten(graph.structure, iter([results[k] for k in sorted(results)]), _variable)


def _requires_grad(x: Variable | Array) -> bool:
    return isinstance(x, Variable) and x.requires_grad


def _variable(x: Variable | Array) -> Variable:
    return x if isinstance(x, Variable) else make_output(x, False)
