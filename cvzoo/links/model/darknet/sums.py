"""Which convolutions can do the sum behind them themselves, where nothing is learned."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

from cvzoo.links.connection.fused_activation import fused_activation
from cvzoo.links.model.darknet.activation import Activation
from cvzoo.links.model.darknet.convolution import DarknetConvolution
from cvzoo.links.model.darknet.layer import PHOTO, DarknetLayer


class FusedSum(NamedTuple):
    """A [shortcut] that a convolution can do.

    place: of the shortcut; other: of what it adds; activation: what it applies to the sum
    """

    place: int
    other: int
    activation: Activation | None


def fused_sums(layers: Sequence[DarknetLayer], outputs: Sequence[int]) -> dict[int, FusedSum]:
    """By the place of a convolution, the sum that follows it, but for dropout between; nobody else reads what lies
    between.

    outputs: places of what the network gives
    """
    n_reader = [0] * len(layers)
    for layer in layers:
        for place in layer.sources:
            if place != PHOTO:
                n_reader[place] += 1
    found = {}
    for place, layer in enumerate(layers):
        if layer.section.name != "shortcut" or len(layer.sources) != 2 or not isinstance(layer.run, functools.partial):
            continue
        first = place - 1
        while first > 0 and layers[first].section.name == "dropout":
            first -= 1
        conv, other = layers[first].run, layer.sources[1]
        alone = all(n_reader[k] == 1 and k not in outputs for k in range(first, place))
        plain = isinstance(conv, DarknetConvolution) and conv.activation is None and conv.bn is not None
        activation = layer.run.keywords["activation"]
        if (
            plain
            and alone
            and PHOTO < other < first
            and layers[other].shape == layer.shape
            and fused_activation(activation) is not None
        ):
            found[first] = FusedSum(place, other, activation)
    return found
