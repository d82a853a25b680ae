"""A link's method compiled for training: one graph with a backward pass per signature of argument shapes."""

import collections
import threading
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from cvzoo.autodiff.variable import Variable, make_output
from cvzoo.backends.arrays import device_number
from cvzoo.backends.capture import PrivatePool
from cvzoo.backends.device import Device
from cvzoo.backends.float_types import is_float
from cvzoo.config.switches import switches
from cvzoo.graph.learning_graph import NOTHING_TO_LEARN, LearningGraph, NotLearnableError, build_learning
from cvzoo.graph.memory_plan import Arena
from cvzoo.graph.recompilation import RecompilationPolicy, outermost
from cvzoo.graph.replay import Replay
from cvzoo.graph.side_effects import SideEffectDetector
from cvzoo.graph.trees import NotATreeError, device_of_arguments, flatten, moved_beside, unflatten
from cvzoo.graph.watch import Glance


class _Local(threading.local):
    """Thread-local state: a graph belongs to the thread that made it."""

    def __init__(self) -> None:
        self.graphs: collections.OrderedDict[Any, LearningGraph] = collections.OrderedDict()
        self.policy = RecompilationPolicy()
        self.missing: dict[Any, frozenset[int]] = {}  # results that came without gradients
        self.plain: set[Any] = set()  # what is not worth another try
        self.glance = Glance()
        self.arena = Arena()
        self.pools: dict[int, PrivatePool] = {}  # arenas of GPUs, by their numbers
        self.flight: weakref.ref[Replay] | None = None


class LearningMethod:
    """Compiled calls with gradients. All share one arena: a call before the previous call's backward is eager.

    link, name, plain: the link, the method's name, and the method of the class
    limit: size of the graph cache (least recently used)
    recompute: cheap results are recomputed in the backward pass (gradient checkpointing)
    instead: compiles the child links if the link itself cannot be replayed
    reason: why the link stays eager; None if it does not
    """

    def __init__(
        self,
        link: Any,
        name: str,
        plain: Callable[..., Any],
        limit: int,
        recompute: bool,
        instead: Callable[..., None],
    ):
        self.link = link
        self.name = name
        self.limit = limit
        self.recompute = recompute
        self._instead = instead
        self.plain = plain
        self.reason: str | None = None
        self._local = _Local()
        self._hidden = link.replayed_names()

    def compile(self, args: tuple[Any, ...]) -> LearningGraph | None:
        """Compile for such arguments; returns the graph, None if there is none."""
        args = moved_beside(self.link.params(), args)
        taken = self._key(args, {})
        if taken is None or taken[0] in self._local.plain:
            return None
        outermost.busy = True
        try:
            return self._known(taken[0]) or self._record(taken[0], args, {})
        finally:
            outermost.busy = False

    def graphs(self) -> list[LearningGraph]:
        """This thread's graphs, least recently used first."""
        return list(self._local.graphs.values())

    def forget(self) -> None:
        """Discard this thread's graphs; they are recompiled on demand."""
        self._local.__init__()  # type: ignore[misc]

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        own = self._local
        taken = None if switches.in_recomputing else self._key(args, kwargs)
        if taken is None or taken[0] in own.plain:
            return self.plain(self.link, *args, **kwargs)
        key, structure, leaves = taken
        outermost.busy = True
        try:
            flight = None if own.flight is None else own.flight()
            if flight is not None and flight.waits:
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
        return self.plain(self.link, *args, **kwargs)  # now its children may be replayed

    def _key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, list[Any]] | None:
        """What tells calls apart, what the arguments look like, their arrays and Variables; None for what stays as
        it is."""
        leaves: list[Any] = []
        if self.reason is not None:
            return None
        try:
            structure = flatten((args, kwargs), leaves)
        except NotATreeError:
            return None
        arrays = [x._array if isinstance(x, Variable) else x for x in leaves]
        # whole numbers are indices: a graph cannot know what else depends on them
        if not arrays or any(not is_float(a.dtype) or a.size == 0 for a in arrays):
            return None
        looks = tuple([(a.shape, a.strides, a.dtype, _asks(x), device_number(a)) for a, x in zip(arrays, leaves)])
        settings = self._local.glance.look(self.link, self._hidden)
        return (structure, looks, settings, switches.backend, switches.dtype, switches.train), structure, leaves

    def _known(self, key: Any) -> LearningGraph | None:
        own = self._local
        graph = own.graphs.get(key)
        if graph is None:
            return None
        if not graph.program.is_of_this_thread() or not graph.watch.is_unchanged():
            del own.graphs[key]
            return None
        own.graphs.move_to_end(key)
        return graph

    def _record(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> LearningGraph | None:
        own, link = self._local, self.link
        look = SideEffectDetector(self.plain.__get__(link), link.states, self._hidden)
        device = device_of_arguments(args, kwargs)
        try:
            with device:
                graph = build_learning(
                    look,
                    args,
                    kwargs,
                    without=own.missing.get(key, frozenset()),
                    arena=self._arena(device),
                    parameters=link.params(),
                    recompute=self.recompute,
                )
            look.detect_random_draws(args, kwargs)
            if look.reason is not None:
                raise NotLearnableError(look.reason)
        except NotLearnableError as error:
            look.detect_random_draws(args, kwargs)
            own.plain.add(key)
            if str(error) == NOTHING_TO_LEARN:
                return None
            self.reason = look.reason or str(error)
            warnings.warn(
                f"{type(link).__name__}.{self.name} does not learn as a graph: {self.reason}",
                RuntimeWarning,
                stacklevel=2,
            )
            self._instead(link, self.limit, train=True, recompute=self.recompute)
            return None
        graph.name = f"{type(link).__name__}.{self.name}, there and back"
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

    def _replay(self, graph: LearningGraph, key: Any, structure: Any, leaves: list[Any]) -> Any:
        own = self._local
        is_array = [not isinstance(x, Variable) for x in leaves]

        def again(*xs: Variable) -> tuple[Variable, ...]:
            before, outermost.busy = outermost.busy, True
            try:
                values = [x.array if plain else x for x, plain in zip(xs, is_array)]
                args, kwargs = unflatten(structure, iter(values), lambda variable: variable)
                found: list[Any] = []
                flatten(self.plain(self.link, *args, **kwargs), found)
            finally:
                outermost.busy = before
            return tuple([found[k] for k in graph.differentiable])

        def surprise(missing: frozenset[int]) -> None:
            own.graphs.pop(key, None)
            if key in own.missing or len(missing) == len(graph.differentiable):
                own.plain.add(key)
            own.missing[key] = missing

        node = Replay(graph, again, surprise)
        ys = node.apply((*leaves, *graph.parameters))
        own.flight = weakref.ref(node)
        results = {**dict(zip(graph.differentiable, ys)), **node.others}
        node.others = {}
        return unflatten(graph.structure, iter([results[k] for k in sorted(results)]), _variable)


def _asks(x: Any) -> bool:
    return isinstance(x, Variable) and x.requires_grad


def _variable(x: Any) -> Variable:
    return x if isinstance(x, Variable) else make_output(x, False)
