"""The table on a terminal."""

import pytest

from cvzoo.cli.result_table import printable, result_table

BOX = {"y_min": 1.0, "x_min": 20.25, "y_max": 300.0, "x_max": 4000.75}


def test_columns_stand_under_their_heads():
    found = [
        {"label": 0, "name": "cat", "score": 0.987, **BOX},
        {"label": 1, "name": "a name that is longer", "score": 0.5, **BOX},
    ]
    assert result_table("x/a.jpg", found).splitlines() == [
        "x/a.jpg",
        "  label                  score    y_min    x_min    y_max    x_max",
        "  cat                     0.99      1.0     20.2    300.0   4000.8",
        "  a name that is longer   0.50      1.0     20.2    300.0   4000.8",
    ]


def test_without_names_there_are_numbers_and_without_objects_words():
    assert result_table("a.jpg", [{"label": 7, "name": None, "score": 1.0, **BOX}]).splitlines()[-1].startswith("  7 ")
    assert result_table("a.jpg", []) == "a.jpg\n  nothing found"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("zwei Bäume 木.jpg", "zwei Bäume 木.jpg"),
        ("a\nb", r"a\nb"),  # would look like two images
        ("\x1b[31mred", r"\x1b[31mred"),  # would color the terminal
        ("\udcff.jpg", r"\udcff.jpg"),  # could not be printed at all
    ],
)
def test_what_a_terminal_would_not_show_is_spelled(text, shown):
    assert printable(text) == shown
