"""Compilation of a link and its child links: what `Link.compile` does."""

from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import force_backprop_mode, no_backprop_mode, using_config
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.graph.compiled_graph import CompiledGraph
from cvzoo.graph.guards import LinkAbove
from cvzoo.graph.replayed_method import ReplayedMethod, replay_methods
from cvzoo.graph.training_graph import TrainingGraph
from cvzoo.typing.aliases import Array


def compile_link(
    link: LinkAbove, example: tuple[Variable | Array, ...], *, limit: int, train: bool, recompute: bool
) -> CompiledGraph | TrainingGraph | None:
    """Returns the graph of the example, or None without one or if the link stays eager; see `Link.compile`.

    Raises ValueRangeError for a limit below 1, GraphError for `train` of a quantized model.
    """
    if limit < 1:
        raise ValueRangeError("compile: limit must be at least 1", got=limit)
    if train:
        link.check_learns("compile(train=True)")
    replay_methods(link, limit, train=train, recompute=recompute)
    _replay_below(link, limit, train=train, recompute=recompute)
    method = link.__dict__.get(link.replayed[0])
    if not example or method is None:  # a link with hooks is not replayed by itself
        return None
    if not train:
        with using_config("train", False), no_backprop_mode():
            return method.compile(example)
    if not all(parameter.is_initialized for parameter in link.params()):
        with using_config("train", False), no_backprop_mode():
            link.forward(*example)
    with using_config("train", True), force_backprop_mode():
        return method.learning.compile(example)


def _replay_below(link: LinkAbove, limit: int, *, train: bool, recompute: bool) -> None:
    """Compile child links that are more than a single layer: a detector calls its heads one by one."""
    for child in link.children():
        if next(child.children(), None) is not None and (train or not child.rows_vary):
            replay_methods(child, limit, train=train, recompute=recompute)
            _replay_below(child, limit, train=train, recompute=recompute)


def uncompile_link(link: LinkAbove) -> None:
    """Discard all graphs of the link and its child links, and restore their eager methods."""
    for each in link.links():
        for name in each.__dict__.pop("_replays", ()):
            del each.__dict__[name]


def graphs_of(link: LinkAbove) -> list[CompiledGraph | TrainingGraph]:
    """The graphs that this thread has compiled for the link and its child links."""
    methods: list[ReplayedMethod] = []
    for each in link.links():
        methods += each.__dict__.get("_replays", {}).values()
    return [graph for method in methods for graph in method.graphs()]
