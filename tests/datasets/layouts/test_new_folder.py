"""Folders that are whole or absent, and names that are safe."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.datasets.layouts.new_folder import new_folder, plain_names
from cvzoo.errors.exceptions import ConfigError


def test_a_folder_appears_when_it_is_whole(tmp_path):
    with new_folder(tmp_path / "deep/out") as folder:
        (folder / "x").write_text("x")
        assert not (tmp_path / "deep/out").exists()
    assert (tmp_path / "deep/out/x").read_text() == "x"


def test_an_empty_folder_is_filled_and_a_full_one_refused(tmp_path):
    (tmp_path / "out").mkdir()
    with new_folder(tmp_path / "out") as folder:
        (folder / "x").touch()
    with pytest.raises(ConfigError), new_folder(tmp_path / "out"):
        pass


def test_nothing_stays_when_writing_fails(tmp_path):
    def interrupted():
        with new_folder(tmp_path / "out") as folder:
            (folder / "x").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("names", "flat", "expected"),
    [
        (["a.jpg", "b.jpg"], False, ["a.jpg", "b.jpg"]),
        (["a.jpg", "A.jpg"], False, ["a.jpg", "A_2.jpg"]),
        (["x/a.jpg", "y/a.jpg"], False, ["x/a.jpg", "y/a.jpg"]),
        (["x/a.jpg", "y/a.jpg"], True, ["x_a.jpg", "y_a.jpg"]),
        (["a.jpg", "a.png"], True, ["a.jpg", "a_2.png"]),
        (["../../etc/a.jpg", "/b.jpg", "c\\d.jpg"], False, ["etc/a.jpg", "b.jpg", "c/d.jpg"]),
        (["cafe\u0301.jpg"], False, ["caf\u00e9.jpg"]),
        (["\udce9.jpg", "a\nb.jpg"], False, ["_.jpg", "a_b.jpg"]),
    ],
)
def test_names_become_plain(names, flat, expected):
    assert list(map(plain_names(names, flat=flat).get, names)) == expected


@given(st.lists(st.text(max_size=12), unique=True), st.booleans())
def test_plain_names_are_safe_and_differ(names, flat):
    plain = plain_names(names, flat=flat)
    assert set(plain) == set(names)
    folded = [name.casefold() for name in plain.values()]
    assert len(set(folded)) == len(names)
    for name in plain.values():
        assert not name.startswith("/")
        assert ".." not in name.split("/")
        assert name.isprintable()
