"""A compiled method of a link, with one graph per signature of argument shapes."""

import collections
import threading
import warnings
from collections.abc import Callable, Hashable
from typing import Any

from cvzoo.autodiff.function_hook import this_thread
from cvzoo.backends.capture import common_pool
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import GraphError
from cvzoo.graph.compiled_graph import CompiledGraph, NotReplayableError, build
from cvzoo.graph.guards import LinkAbove, ParameterGuard, SettingsGuard
from cvzoo.graph.recompilation import RecompilationPolicy, outermost
from cvzoo.graph.side_effects import SideEffectDetector
from cvzoo.graph.training_graph import TrainingGraph
from cvzoo.graph.training_method import TrainingMethod
from cvzoo.graph.trees import call_arguments, device_of_arguments, moved_beside


class _Local(threading.local):
    """Thread-local state: a graph belongs to the thread that made it."""

    def __init__(self) -> None:
        self.graphs: collections.OrderedDict[Hashable, CompiledGraph] = collections.OrderedDict()
        self.policy = RecompilationPolicy()
        self.guard: ParameterGuard | None = None
        self.settings = SettingsGuard()


class ReplayedMethod:
    """Replaces the method `name` of a link: calls in inference, or with gradients, are replayed.

    link: the owner of the method
    plain: the method of the class
    infers: whether calls in inference are replayed; learning: replays calls with gradients, or None. All other
        calls are eager
    limit: size of the graph cache (least recently used), one graph per signature of argument shapes and settings
    reason: why the link stays eager; None if it does not

    The first call of a shape is eager, the second is compiled, for further shapes a later one, see
    `RecompilationPolicy`. Each thread has its own graphs.
    """

    def __init__(self, link: LinkAbove, name: str, plain: Callable[..., Any], limit: int):
        self.link = link
        self.name = name
        self.limit = limit
        self.reason: str | None = None
        self.infers = False
        self.learning: TrainingMethod | None = None
        self._plain = plain
        self._local = _Local()
        self._hidden = link.replayed_names()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if this_thread.hooks or this_thread.link_hooks or outermost.busy:
            return self._plain(self.link, *args, **kwargs)
        if switches.enable_backprop and self.learning is not None:
            return self.learning(args, kwargs)
        if self.reason is not None or not self.infers or switches.train or switches.enable_backprop:
            return self._plain(self.link, *args, **kwargs)
        return self._call(args, kwargs, immediately=False)

    def turn_on(self, *, train: bool, recompute: bool = True) -> None:
        """Enable replay in inference, or with gradients."""
        if not train:
            self.infers = True
        elif self.learning is None or self.learning.recompute != recompute:
            self.learning = TrainingMethod(self.link, self.name, self._plain, self.limit, recompute, replay_children)

    def compile(self, args: tuple[Any, ...]) -> CompiledGraph | None:
        """Compile for such arguments, in inference; returns the graph, None if the link stays eager."""
        if self.reason is None:
            self._call(moved_beside(self.link.params(), args), {}, immediately=True)
        graphs = self._local.graphs
        return next(reversed(graphs.values())) if graphs else None

    def graphs(self) -> list[CompiledGraph | TrainingGraph]:
        """This thread's graphs, least recently used first, those for training last."""
        return [*self._local.graphs.values(), *(self.learning.graphs() if self.learning is not None else ())]

    def forget(self) -> None:
        """Discard this thread's graphs; they are recompiled on demand."""
        own = self._local
        own.graphs.clear()
        own.guard = None

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any], *, immediately: bool) -> Any:
        own = self._local
        given = call_arguments(args, kwargs)
        if given is None:
            return self._plain(self.link, *args, **kwargs)
        outermost.busy = True
        try:
            settings = own.settings.current(self.link, self._hidden)
            key = given.structure, given.metadata, settings, switches.backend, switches.dtype, switches.winograd
            if own.guard is not None and not own.guard.is_unchanged():
                self.forget()
            graph = own.graphs.get(key)
            if graph is not None and not graph.program.belongs_to_this_thread():
                del own.graphs[key]
                graph = None
            if graph is not None:
                own.graphs.move_to_end(key)
                own.policy.replayed(key)
                return graph(given.arrays)
            if immediately:
                return self._record(key, args, kwargs)
            if own.policy.should_compile(key):
                own.policy.compiled()
                return self._record(key, args, kwargs)
            return self._plain(self.link, *args, **kwargs)
        finally:
            outermost.busy = False

    def _record(self, key: Hashable, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        own = self._local
        call = self._plain.__get__(self.link)
        detector = SideEffectDetector(call, self.link.states, self._hidden)
        try:
            with device_of_arguments(args, kwargs) as device:
                pool = common_pool() if device.index >= 0 else None
                graph, result = build(call, args, kwargs, detector, pool)
            detector.detect_random_draws(args, kwargs)
            if detector.reason is not None:
                raise NotReplayableError(detector.reason, result)
        except NotReplayableError as error:
            detector.detect_random_draws(args, kwargs)
            self.reason = detector.reason or str(error)
            warnings.warn(
                f"{type(self.link).__name__}.{self.name} is not replayed as a graph: {self.reason}",
                RuntimeWarning,
                stacklevel=2,
            )
            replay_children(self.link, self.limit, train=False)
            return error.result
        graph.name = f"{type(self.link).__name__}.{self.name}"
        own.guard = ParameterGuard(self.link.params(), self.link.persistent_places())
        own.graphs[key] = graph
        while len(own.graphs) > self.limit:
            own.graphs.popitem(last=False)
        return result

    def __reduce__(self) -> tuple:
        raise GraphError(
            f"{type(self.link).__name__} is compiled, and a compiled link is not pickled",
            hint="link.uncompile() first, or save_npz(path, link)",
        )

    def __deepcopy__(self, memo: dict) -> "ReplayedMethod":
        twin = memo.get(id(self.link))
        if twin is None:
            raise GraphError("a replayed method is not copied without its link")
        copy = ReplayedMethod(twin, self.name, self._plain, self.limit)
        copy.infers = self.infers
        if self.learning is not None:
            copy.turn_on(train=True, recompute=self.learning.recompute)
        return copy


def replay_methods(link: LinkAbove, limit: int, *, train: bool, recompute: bool = True) -> None:
    """Compile the link's own methods: for inference, or with `train` for calls with gradients."""
    for name, plain in link.replayable_methods().items():
        replays = link.__dict__.setdefault("_replays", {})
        if name not in link.__dict__:
            link.__dict__[name] = replays[name] = ReplayedMethod(link, name, plain, limit)
        if name in replays:
            replays[name].turn_on(train=train, recompute=recompute)


def replay_children(link: LinkAbove, limit: int, *, train: bool, recompute: bool = True) -> None:
    """Compile all direct child links."""
    for child in link.children():
        if train or not child.rows_vary:
            replay_methods(child, limit, train=train, recompute=recompute)
