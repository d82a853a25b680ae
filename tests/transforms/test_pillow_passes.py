"""The order of Pillow's passes is foretold, or said to be unknown."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from cvzoo.transforms import pillow_passes
from cvzoo.transforms.pillow_passes import rows_first

SIDES = st.integers(1, 120)


def test_the_order_of_this_pillow_is_known():
    assert rows_first((300, 300), (100, 100)) is True


@settings(max_examples=200, deadline=None)
@given(
    size=st.tuples(SIDES, SIDES),
    new=st.tuples(SIDES, SIDES),
    resampling=st.sampled_from([Image.BILINEAR, Image.BICUBIC, Image.LANCZOS, Image.BOX]),
)
def test_passes_in_that_order_have_pillows_bits(size, new, resampling):
    photo = Image.fromarray(np.random.default_rng(0).integers(0, 256, (*size, 3)).astype(np.uint8))
    first = (new[1], size[0]) if rows_first(size, new) else (size[1], new[0])
    in_passes = photo.resize(first, resampling).resize(new[::-1], resampling)
    np.testing.assert_array_equal(in_passes, photo.resize(new[::-1], resampling))


def test_an_order_that_no_rule_predicts_is_unknown(monkeypatch):
    pillow_passes._rule.cache_clear()
    monkeypatch.setattr(pillow_passes, "_predicts", lambda *arguments: False)
    try:
        assert rows_first((300, 300), (100, 100)) is None
    finally:
        pillow_passes._rule.cache_clear()
