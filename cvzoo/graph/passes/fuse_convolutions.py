"""Operator fusion: convolution, sum and activation, in any order."""

from cvzoo.functions.connection.convolution_2d import Convolution2D, FusedConvolution2D
from cvzoo.functions.math.arithmetic import Add
from cvzoo.functions.math.elementwise import AbstractElementwise, AbstractElementwiseOfOutput
from cvzoo.graph.def_use_chains import DefUseChains
from cvzoo.graph.passes.fold_batch_normalization import fused_settings
from cvzoo.graph.records import Graph, Record

_BEFORE_SUMS = ("relu", "leaky_relu", "clip")  # kinds that the CPU's convolutions compute before they add


def fuse_convolutions(graph: Graph) -> int:
    """Fuse sums with earlier values, then activations, then sums behind them, into convolutions; returns the number of
    removed records."""
    saved = 0
    uses = DefUseChains(graph)
    for fuse in (_fuse_sum, _fuse_activation, _fuse_last_sum):
        for record in list(graph.records):
            if isinstance(record.function, Convolution2D | FusedConvolution2D):
                saved += fuse(graph, uses, record)
    graph.drop_unused()
    return saved


def _state(record: Record) -> tuple[dict, bool, bool]:
    if isinstance(record.function, FusedConvolution2D):
        return (fused_settings(record), *record.function._has)
    return fused_settings(record), len(record.reads) == 3, False


def _put(uses: DefUseChains, conv: Record, other: Record, function: FusedConvolution2D, reads: tuple[int, ...]) -> None:
    """Replace `other` by `function`, and remove `conv`."""
    seconds = conv.seconds + other.seconds
    uses.put(Record(function, reads, other.writes, dict(vars(function)), seconds), other, (conv,))


def _fuse_sum(graph: Graph, uses: DefUseChains, conv: Record) -> int:
    return 0 if _state(conv)[0]["activation"] is not None else _fuse_addend(graph, uses, conv)


def _fuse_last_sum(graph: Graph, uses: DefUseChains, conv: Record) -> int:
    if graph.is_on_device or _state(conv)[0]["activation"] not in _BEFORE_SUMS:
        return 0
    return _fuse_addend(graph, uses, conv)


def _fuse_addend(graph: Graph, uses: DefUseChains, conv: Record) -> int:
    settings, has_b, has_add = _state(conv)
    y = conv.writes[0]
    other = uses.only_reader(y)
    if has_add or other is None or not isinstance(other.function, Add):
        return 0
    added = other.reads[1] if other.reads[0] == y else other.reads[0]
    a, b = graph.values[y], graph.values[added]
    if added == y or a.shape != b.shape or a.dtype != b.dtype or not graph.is_fast(y):
        return 0
    writer = uses.writers.get(added)
    if writer is not None and isinstance(writer.function, Convolution2D | FusedConvolution2D):
        # the later of two convolutions takes the sum: moving the earlier one after it would extend its input's lifetime
        before = graph.records.index(writer) < graph.records.index(conv)
        if not before and uses.only_reader(added) is other and not _state(writer)[2]:
            return 0
    if settings["activation"] is not None:
        settings["adds_last"] = True
    function = FusedConvolution2D(settings, has_b, True)
    _put(uses, conv, other, function, (*conv.reads, added))
    return 1


def _fuse_activation(graph: Graph, uses: DefUseChains, conv: Record) -> int:
    settings, has_b, has_add = _state(conv)
    other = uses.only_reader(conv.writes[0])
    if settings["activation"] is not None or other is None or not graph.is_fast(conv.writes[0]):
        return 0
    kind = other.function
    # a convolution's fused ReLU turns NaN into 0, as links that fuse it do without a graph
    if not isinstance(kind, AbstractElementwise | AbstractElementwiseOfOutput):
        return 0
    settings = {**settings, "activation": kind.kind, "alpha": kind.alpha, "beta": kind.beta}
    _put(uses, conv, other, FusedConvolution2D(settings, has_b, has_add), conv.reads)
    return 1
