"""Names of results."""

import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.cli.picture_names import PictureNames


def names_of(*paths):
    names = PictureNames()
    return ["".join(names.of(pathlib.Path(path))) for path in paths]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["x/dog.jpg"], ["dog.jpg"]),
        (["x/dog.jpg", "y/dog.jpg", "z/dog.jpg"], ["dog.jpg", "dog_2.jpg", "dog_3.jpg"]),
        (["dog.jpg", "dog.png"], ["dog.jpg", "dog_2.png"]),  # their .json would be one
        (["x/dog.jpg", "y/dog.jpg", "dog_2.jpg"], ["dog.jpg", "dog_2.jpg", "dog_2_2.jpg"]),
        (["dog_2.jpg", "x/dog.jpg", "y/dog.jpg"], ["dog_2.jpg", "dog.jpg", "dog_3.jpg"]),
        (["dog.jpg", "DOG.JPG"], ["dog.jpg", "DOG_2.JPG"]),  # one file where case does not count
        (["é.jpg", "e\u0301.jpg"], ["é.jpg", "e\u0301_2.jpg"]),  # likewise for composed letters
        (["deep.tif", "film.gif", "no ending"], ["deep.jpg", "film.jpg", "no ending.jpg"]),
        (["a.b.c.png"], ["a.b.c.png"]),
        ([".jpg"], [".jpg.jpg"]),
    ],
)
def test_names_differ_and_stay_near_the_photos(paths, expected):
    assert names_of(*paths) == expected


def test_a_long_name_is_cut_and_still_fits():
    first, second = names_of("é" * 120 + ".png", "é" * 120 + ".png")
    assert len(first.encode()) <= 204
    assert first != second


@given(st.lists(st.sampled_from(["a", "A", "a_2", "a_2_2", "b"]), max_size=12))
def test_no_two_photos_share_a_name(stems):
    names = PictureNames()
    given = [names.of(pathlib.Path(f"{stem}.jpg"))[0].casefold() for stem in stems]
    assert len(set(given)) == len(given)


def test_many_equal_names_are_found_quickly():
    names = PictureNames()
    assert [names.of(pathlib.Path(f"{i}/dog.jpg"))[0] for i in range(20_000)][-1] == "dog_20000"
