"""How one size follows from others."""

import pytest

from cvzoo.export.onnx.sizes import Sources, find_sources, is_fixed

N, H = ("x", 0), ("x", 2)
PLACES = {(2, 3, 2, 2): N, (32, 32, 33, 64): H}


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((2, 3, 2, 2), Sources((N,))),
        ((100, 150, 100, 100), Sources((N,), 50)),
        ((64, 64, 66, 128), Sources((H,), 2)),
        ((33, 33, 34, 65), Sources((H,), plus=1)),
        ((64, 96, 66, 128), Sources((N, H))),
        ((32, 48, 33, 64), Sources((N, H), 1, 2)),
        ((1024, 1024, 1089, 4096), Sources((H, H))),
        ((7, 5, 11, 13), None),
    ],
)
def test_the_simplest_way_is_found(sizes, expected):
    assert find_sources(sizes, PLACES) == expected


def test_sizes_that_are_the_same_everywhere_are_fixed():
    assert is_fixed((3, 3, 3))
    assert not is_fixed((3, 3, 4))


def test_nothing_follows_from_nothing():
    assert find_sources((2, 3), {}) is None
    assert find_sources((2, 3), {(0, 0): N}) is None
