"""Sums that the convolution before them does: the same numbers, and only where nobody looks between."""

import numpy as np
import pytest

from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.links.model.darknet.network import DarknetNetwork

NET = "[net]\nwidth=16\nheight=12\nchannels=3\n"


def conv(filters, activation="linear", bn=1):
    return f"[convolutional]\nfilters={filters}\nsize=3\npad=1\nbatch_normalize={bn}\nactivation={activation}\n"


def shortcut(place, activation="linear"):
    return f"[shortcut]\nfrom={place}\nactivation={activation}\n"


CASES = {
    # what follows [net]; the sums that are part of a convolution: its place, the sum's
    "a sum": (conv(4, "leaky") + conv(4) + shortcut(-2), {1: 2}),
    "dropout between": (conv(4) + conv(4) + "[dropout]\nprobability=0.2\n" * 2 + shortcut(0), {1: 4}),
    "an activation behind": (conv(4, "relu") + conv(4) + shortcut(-2, "leaky"), {1: 2}),
    "two in a row": (conv(4) + conv(4) + shortcut(0) + conv(4) + shortcut(-2) + conv(5), {1: 2, 3: 4}),
    "an activation that kernels lack": (conv(4) + conv(4) + shortcut(-2, "mish"), {}),
    "an activation between": (conv(4) + conv(4, "leaky") + shortcut(-2), {}),
    "no normalization": (conv(4) + conv(4, bn=0) + shortcut(-2), {}),
    "fewer channels": (conv(3) + conv(4) + shortcut(-2), {}),
    "three summands": (conv(4) + conv(4) + conv(4) + "[shortcut]\nfrom=-2,-3\nactivation=linear\n", {}),
    "read by a route, too": (conv(4) + conv(4) + shortcut(-2) + "[route]\nlayers=-2,-1\n", {}),
    "added to itself": (conv(4) + conv(4) + shortcut(-1), {}),
}


@pytest.mark.parametrize(("cfg", "fused"), CASES.values(), ids=CASES)
def test_a_sum_is_the_same_wherever_it_is_done(cfg, fused):
    set_seed(0)
    network = DarknetNetwork(NET + cfg)
    assert {place: each.place for place, each in network._sums.items()} == fused
    for link in network.links():
        if hasattr(link, "gamma"):
            link.gamma.array[...] = np.linspace(0.5, 2, link.gamma.size)
            link.avg_mean[...] = np.linspace(-1, 1, link.gamma.size)
    x = np.random.default_rng(0).random((2, 3, 12, 16), np.float32)
    with using_config("train", False):
        apart = network(x).array  # with gradients nothing is fused
        with no_backprop_mode():
            np.testing.assert_allclose(network(x).array, apart, rtol=1e-4, atol=1e-5)
