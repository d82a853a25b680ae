"""The sums of an image have the same bits alone and in a batch, with our own kernel and without."""

import numpy as np
import pytest

from cvzoo.backends import sums

RNG = np.random.default_rng(0)


def channels_last(*shape):
    b, c, h, w = shape
    return RNG.standard_normal((b, h, w, c)).astype(np.float32).transpose(0, 3, 1, 2)


CASES = {
    "channels of small maps": (channels_last(3, 128, 10, 10), (1,)),
    "channels of large maps": (channels_last(3, 256, 38, 38), (1,)),
    "pixels of small maps": (channels_last(3, 64, 10, 10), (2, 3)),
    "pixels of large maps": (channels_last(3, 128, 75, 75), (2, 3)),
    "rows": (channels_last(3, 100, 75, 38), (2,)),
    "whole images": (channels_last(3, 40, 60, 60), (1, 2, 3)),
    "half of the channels": (channels_last(3, 400, 1, 1)[:, :200, 0, 0], (1,)),
    "half of the rows": (RNG.standard_normal((3, 20, 80)).astype(np.float32)[:, :10], (1, 2)),
}


@pytest.mark.parametrize("has_native", [True, False], ids=["native", "numpy"])
@pytest.mark.parametrize("name", CASES)
def test_an_images_sums_have_the_same_bits_alone_and_in_a_batch(name, has_native, monkeypatch):
    if not has_native:
        monkeypatch.setattr(sums, "sum_natively", lambda *_, **__: None)
    x, axes = CASES[name]
    together = sums.sum_along(x, axes)
    for k in range(len(x)):
        for image in (x[k : k + 1], x[k : k + 1].copy(order="K")):
            assert sums.sum_along(image, axes).tobytes() == together[k : k + 1].tobytes()
