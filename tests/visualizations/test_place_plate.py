"""Plates stay in the photo and keep clear of each other."""

from hypothesis import given
from hypothesis import strategies as st

from cvzoo.visualizations.place_plate import place_plate

SIDE = st.integers(1, 300)


@given(st.tuples(SIDE, SIDE, SIDE, SIDE), st.tuples(SIDE, SIDE), st.tuples(SIDE, SIDE))
def test_a_plate_that_can_be_in_the_photo_is(frame, plate_size, size):
    x, y = place_plate(frame, plate_size, size, [])
    assert x >= 0
    assert y >= 0
    assert plate_size[0] > size[0] or x + plate_size[0] <= size[0]
    assert plate_size[1] > size[1] or y + plate_size[1] <= size[1]


def test_places_are_tried_in_turn():
    frame, plate, size = (20, 40, 79, 89), (30, 10), (200, 200)
    taken, found = [], []
    for _ in range(4):
        found.append(place_plate(frame, plate, size, taken))
        taken.append((*found[-1], *plate))
    assert found == [(20, 30), (20, 40), (20, 90), (20, 80)]


def test_at_the_upper_border_the_plate_goes_inside():
    assert place_plate((5, 0, 90, 90), (30, 10), (100, 100), []) == (5, 0)


def test_where_nothing_is_free_the_first_place_is_taken():
    assert place_plate((0, 0, 9, 9), (10, 10), (10, 10), [(0, 0, 10, 10)]) == (0, 0)
