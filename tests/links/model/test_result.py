"""The images of a result, and its display in notebooks."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import ImageError, ValueRangeError
from cvzoo.links.model.label_maps import LabelMaps
from cvzoo.links.model.result import SHOWN, notebook_html, notebook_png

RED, BLUE = (np.full((3, 4, 5), value, np.float32) for value in (10, 200))


def of_images(n, sources=()):
    return LabelMaps([np.zeros((4, 5), np.int32)] * n, sources=sources)


@pytest.mark.parametrize(("i", "n", "indices"), [(0, 1, [0]), (2, 3, [2]), (-3, 3, [0]), (None, 2, [0, 1])])
def test_the_index_of_an_image(i, n, indices):
    assert list(of_images(n).indices(i)) == indices


@pytest.mark.parametrize(("i", "n"), [(0, 0), (3, 3), (-4, 3)])
def test_an_image_that_does_not_exist(i, n):
    for call in (of_images(n).check, of_images(n).indices, of_images(n).image, of_images(n).to_records):
        with pytest.raises(ValueRangeError, match="no such image"):
            call(i)


def test_an_image_is_read_from_its_source_unless_another_is_given():
    np.testing.assert_array_equal(of_images(2, [RED, BLUE]).image(1), BLUE)
    np.testing.assert_array_equal(of_images(2, [RED, BLUE]).image(1, RED), RED)
    np.testing.assert_array_equal(of_images(1).image(0, RED), RED)


@pytest.mark.parametrize("sources", [[], [None], [b"no image"]])
def test_an_image_that_cannot_be_read_is_an_error(sources):
    with pytest.raises(ImageError):
        of_images(1, sources).image(0)


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
