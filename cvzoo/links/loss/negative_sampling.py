"""Negative sampling."""

from collections.abc import Sequence

import numpy as np

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.loss.negative_sampling import negative_sampling
from cvzoo.functions.noise.draws import WalkerAlias
from cvzoo.links.link import Link
from cvzoo.typing.aliases import Array


class NegativeSampling(Link):
    """Negative sampling loss, against randomly sampled classes; see `cvzoo.functions.negative_sampling`.

    in_size: the length of an input row
    counts: frequencies of the L classes
    sample_size: number of classes sampled for each row
    power: sampling probabilities are proportional to the counts raised to this power

    W (L, in_size) is initially 0. Samples are drawn from cvzoo's generator.
    """

    def __init__(self, in_size: int, counts: Sequence[float] | np.ndarray, sample_size: int, power: float = 0.75):
        super().__init__()
        self.sample_size = sample_size
        self.sampler = WalkerAlias(np.asarray(counts, np.float64) ** power)
        with self.init_scope():
            self.W = Parameter(0, (len(counts), in_size))  # as word2vec's output vectors

    def forward(
        self, x: Variable | Array, t: Variable | Array, reduce: str = "sum", *, return_samples: bool = False
    ) -> Variable | tuple[Variable, Array]:
        """The loss of x (B, in_size) and classes t (B,): a number, or (B,) with reduce="no"."""
        return negative_sampling(
            x, t, self.W, self.sampler.sample, self.sample_size, reduce, return_samples=return_samples
        )
