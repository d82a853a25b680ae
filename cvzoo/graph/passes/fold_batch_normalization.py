"""Folding of batch normalization into the preceding convolution's filters."""

from typing import Any

import numpy as np

from cvzoo.autodiff.prepared_weights import PreparedWeights
from cvzoo.backends.float_types import filters_of_pack, scaled_filters
from cvzoo.functions.connection.convolution_2d import Convolution2D, FusedConvolution2D
from cvzoo.functions.normalization.fixed_batch_normalization import FixedBatchNormalization
from cvzoo.graph.def_use_chains import DefUseChains
from cvzoo.graph.records import Graph, Record


def fold_batch_normalization(graph: Graph) -> int:
    """Fold batch normalizations into the preceding convolutions; returns their number.

    Only where all of them are constants and the convolution's result has no other use.
    """
    uses = DefUseChains(graph)
    folded = 0
    for record in list(graph.records):
        if not isinstance(record.function, FixedBatchNormalization):
            continue
        x, *statistics = record.reads
        conv = uses.writers.get(x)
        if conv is None or not _is_plain(conv) or uses.only_reader(x) is None:
            continue
        source, *weights = conv.reads
        if any(value not in graph.constants for value in (*statistics, *weights)):
            continue
        gamma, beta, mean, var = (graph.constants[value].astype(np.float64) for value in statistics)
        settings = fused_settings(conv)
        w = filters_of_pack(graph.constants[weights[0]], settings["pack"])
        b = graph.constants[weights[1]] if len(weights) == 2 else np.zeros_like(mean)
        # in float64: one rounding instead of four
        scale = gamma / np.sqrt(var + record.function._eps)
        reads = (
            source,
            graph.add_constant(scaled_filters(w, scale)),
            graph.add_constant((beta + (b - mean) * scale).astype(w.dtype)),
        )
        function = FusedConvolution2D({**settings, "pack": PreparedWeights()}, True, False)
        seconds = conv.seconds + record.seconds
        uses.put(Record(function, reads, record.writes, dict(vars(function)), seconds), conv, (record,))
        folded += 1
    graph.drop_unused()
    return folded


def fold_scales(graph: Graph, products: dict[tuple[int, int], np.ndarray]) -> None:
    """Replace filters that kernels multiply by a scale, which is kept in their cache, by the products.

    products: those of other graphs of the same network, by the `id`s of filters and scale; new ones are added
    """
    for record in graph.records:
        if not isinstance(record.function, FusedConvolution2D):
            continue
        settings = record.settings["_settings"]
        pack = settings["pack"]
        if pack is None or pack.scale is None:
            continue
        x, w, *others = record.reads
        key = id(graph.constants[w]), id(pack.scale)
        if key not in products:
            products[key] = scaled_filters(graph.constants[w], pack.scale)
        record.reads = (x, graph.add_constant(products[key]), *others)
        record.settings = {**record.settings, "_settings": {**settings, "pack": None}}


def _is_plain(record: Record) -> bool:
    """Whether it is a convolution without fused operations."""
    function = record.function
    if isinstance(function, FusedConvolution2D):
        return function._settings["activation"] is None and not function._has[1]
    return isinstance(function, Convolution2D)


def fused_settings(record: Record) -> dict:
    """The settings of a convolution, for the fused one."""
    function: Any = record.function  # a Convolution2D, if it is not fused already
    if isinstance(function, FusedConvolution2D):
        return dict(function._settings)
    pack = PreparedWeights() if function._pack is None else function._pack
    after = {"activation": None, "alpha": 0.0, "beta": 0.0}
    return {**function._window, **after, "pack": pack, "winograd": function._winograd}
