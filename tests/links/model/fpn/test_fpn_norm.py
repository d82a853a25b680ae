"""A pyramid with normalizations has no biases, and one that is not asked for them keeps its names."""

import numpy as np

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.links.model.fpn.fpn import FPN


def test_normalized_convolutions_fold_into_the_same_maps():
    fpn = FPN((4, 8), 6, n_extra=1, extra_from="pool", norm="batch")
    assert "inner/0/bn/avg_mean" in fpn.state_arrays()
    assert "inner/0/conv/b" not in fpn.state_arrays()
    rng = np.random.default_rng(0)
    maps = [rng.standard_normal((1, n, 16 // 2**i, 12 // 2**i)).astype(np.float32) for i, n in enumerate((4, 8))]
    with using_config("train", False):
        plain = [h.array for h in fpn(maps)]
        with no_backprop_mode():
            folded = [h.array for h in fpn(maps)]
    assert [h.shape for h in folded] == [(1, 6, 16, 12), (1, 6, 8, 6), (1, 6, 4, 3)]
    for one, other in zip(plain, folded):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_plain_pyramids_keep_their_names():
    assert "inner/0/W" in FPN((4, 8), 6).state_arrays()
