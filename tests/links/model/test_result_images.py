"""The photos behind a result."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import ImageError, ValueRangeError
from cvzoo.links.model.result_images import SHOWN, check_index, image_of, notebook_html, notebook_png

RED, BLUE = (np.full((3, 4, 5), value, np.float32) for value in (10, 200))


@pytest.mark.parametrize(("i", "n"), [(0, 1), (2, 3), (-3, 3)])
def test_a_photo_that_is_there(i, n):
    check_index(i, n)


@pytest.mark.parametrize(("i", "n"), [(0, 0), (3, 3), (-4, 3)])
def test_a_photo_that_is_not_there(i, n):
    with pytest.raises(ValueRangeError, match="no such image"):
        check_index(i, n)


def test_a_photo_is_read_from_its_source_unless_another_is_given():
    np.testing.assert_array_equal(image_of([RED, BLUE], 1), BLUE)
    np.testing.assert_array_equal(image_of([RED, BLUE], 1, RED), RED)
    np.testing.assert_array_equal(image_of([], 0, RED), RED)


@pytest.mark.parametrize("sources", [[], [None], [b"no image"]])
def test_a_photo_that_cannot_be_had_is_an_error(sources):
    with pytest.raises(ImageError):
        image_of(sources, 0)


def test_a_notebook_shows_the_first_photos_and_counts_the_others():
    assert notebook_html(2, str) == "0\n1"
    lines = notebook_html(SHOWN + 3, str).split("\n")
    assert lines == [*map(str, range(SHOWN)), "<p>... and 3 more images</p>"]
    assert notebook_png(2, lambda i: b"%d" % i) == b"0"


@pytest.mark.parametrize("error", [ImageError("gone"), FileNotFoundError("gone")])
def test_a_notebook_shows_nothing_without_photos(error):
    def fail(i):
        raise error

    assert notebook_html(0, str) is None
    assert notebook_png(0, bytes) is None
    assert notebook_html(3, fail) is None
    assert notebook_png(3, fail) is None
