"""Networks drawn at random: maps of 4 or 6 channels through layers and functions, some of them results."""

import numpy as np

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.links.chain import Chain


class Drawn(Chain):
    """For maps of `size`, n_step steps; what each does is drawn from the generator, as is which maps are given back."""

    def __init__(self, generator, size=(5, 6), n_step=12):
        self.size = size
        self.plan = []
        self.constants = {}  # by channels: those of a GPU lie there before
        channels = [4]
        with self.init_scope():
            for k in range(n_step):
                self.draw(generator, k, channels)
        n_result = int(generator.integers(1, 4))
        self.results = [int(k) for k in generator.choice(len(channels), n_result, replace=False)]

    def draw(self, generator, k, channels):
        reads = [int(i) for i in generator.integers(max(len(channels) - 4, 0), len(channels), 2)]
        c = channels[reads[0]]
        alike = channels[reads[1]] == c
        kinds = ["conv", "point", "grouped", "norm", "one", "one", "pool", "cut", "turn", "constant"]
        kinds += ["two"] * 4 if alike else []
        kinds += ["join"] if c + channels[reads[1]] <= 12 else []
        kind = str(generator.choice(kinds))
        made, extra = c, 0
        if kind in ("conv", "point", "grouped"):
            groups = 2 if kind == "grouped" else 1
            made = int(generator.choice([4, 6]))
            size = 1 if kind == "point" else 3
            nobias = bool(generator.integers(2))
            setattr(self, f"l{k}", L.Convolution2D(c, made, size, pad=size // 2, groups=groups, nobias=nobias))
        elif kind == "norm":
            setattr(self, f"l{k}", L.BatchNormalization(c))
        elif kind == "join":
            made = c + channels[reads[1]]
        elif kind == "cut":
            made = max(c // 2 // 2 * 2, 2)
        elif kind == "one":
            extra = int(generator.integers(len(ONE)))
        elif kind == "two":
            extra = int(generator.integers(len(TWO)))
        self.plan.append((kind, reads, made, extra))
        channels.append(made)

    def forward(self, x):
        maps = [x]
        for k, (kind, (i, j), made, extra) in enumerate(self.plan):
            maps.append(self.apply(k, kind, maps[i], maps[j], made, extra))
        return tuple([maps[k] for k in self.results])

    def apply(self, k, kind, a, b, made, extra):
        if kind in ("conv", "point", "grouped", "norm"):
            return getattr(self, f"l{k}")(a)
        if kind == "one":
            return ONE[extra](a)
        if kind == "two":
            return TWO[extra](a, b)
        if kind == "pool":
            return F.max_pooling_2d(a, 3, 1, 1)
        if kind == "join":
            return F.concat([a, b], axis=1)
        if kind == "cut":
            return a[:, -made:]
        if kind == "turn":
            return F.transpose(F.reshape(F.transpose(a, (0, 2, 3, 1)), (-1, *self.size, made)), (0, 3, 1, 2))
        constant = self.constants.get(made)
        return a * 0.5 + (np.full((1, made, 1, 1), 0.25, np.float32) if constant is None else constant)


ONE = (
    F.relu,
    lambda x: F.leaky_relu(x, 0.2),
    F.sigmoid,
    F.tanh,
    F.relu6,
    F.hard_swish,
    lambda x: F.clip(x, -1, 1),
    lambda x: x - F.average(x, axis=(2, 3), keepdims=True),
    lambda x: F.softmax(x, axis=1),
    lambda x: x,
    lambda x: -x,
)
TWO = (
    lambda x, y: x + y,
    lambda x, y: x + F.relu(y),
    lambda x, y: F.relu(x + y),
    lambda x, y: x * F.sigmoid(y),
    lambda x, y: x - y,
    lambda x, y: F.maximum(x, y),
    lambda x, y: (x + y) + x,
)
