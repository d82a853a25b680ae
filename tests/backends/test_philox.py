"""Philox4x32-10 gives the known answers of its authors; what is made of its words has the right distribution."""

import numpy as np
import pytest
from philox import philox_blocks, standard_normal, uniform_float32, uniform_float64

# Random123's kat_vectors: counter (4 words), key (2 words), the answer; the words of lowest weight first
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def words(text):
    return [int(word, 16) for word in text.split()]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN, ids=["zeros", "ones", "pi"])
def test_the_authors_known_answers(counter, key, answer):
    low = [word << 32 * (k % 2) for k, word in enumerate(words(counter))]
    found = philox_blocks(
        sum(w << 32 * k for k, w in enumerate(words(key))), low[0] + low[1], 1, stream=low[2] + low[3]
    )
    assert found.tolist() == [words(answer)]


def test_a_sequence_can_be_entered_anywhere():
    whole = philox_blocks(99, 2**32 - 3, 10)
    assert np.array_equal(whole[4:7], philox_blocks(99, 2**32 + 1, 3))


def test_uniform_numbers_are_even_and_below_one():
    numbers = philox_blocks(5, 0, 50_000)
    for uniform in (uniform_float32(numbers), uniform_float64(numbers)):
        assert uniform.min() >= 0
        assert uniform.max() < 1
        np.testing.assert_allclose(uniform.mean(), 0.5, atol=3e-3)
        np.testing.assert_allclose(uniform.var(), 1 / 12, atol=1e-3)
    assert uniform_float32(np.uint32([0xFFFFFFFF])) == np.float32(1 - 2.0**-24)
    assert uniform_float64(np.uint32([0xFFFFFFFF, 0xFFFFFFFF])) == 1 - 2.0**-53


@pytest.mark.parametrize("uniform", [uniform_float32, uniform_float64])
def test_normal_numbers_are_normal(uniform):
    normal = standard_normal(uniform(philox_blocks(6, 0, 50_000)))
    moments = [np.mean(normal.astype(float) ** k) for k in (1, 2, 3, 4)]
    np.testing.assert_allclose(moments, [0, 1, 0, 3], atol=0.06)
    assert normal.dtype == uniform(np.zeros((1, 4), np.uint32)).dtype
