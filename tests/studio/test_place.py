"""Paths are made of identifiers of the server only."""

import os
import stat

import pytest

from cvzoo.errors.exceptions import UnsafeFileError
from cvzoo.studio.ids import id_of_path, is_id, new_id
from cvzoo.studio.place import Place, inside


def test_identifiers_have_their_prefix_and_differ():
    made = {new_id("jb") for _ in range(100)}
    assert len(made) == 100
    assert all(is_id(each, "jb") and not is_id(each, "wr") for each in made)
    assert id_of_path("wr", "/a") == id_of_path("wr", "/a") != id_of_path("wr", "/b")


@pytest.mark.parametrize("text", ["", "jb_", "jb_../../etc/passwd", "jb_aaaaaaaaaaaaaaaa\n", "jb_AAAAAAAAAAAAAAAA"])
def test_no_path_is_made_of_another_text(tmp_path, text):
    with pytest.raises(UnsafeFileError, match="not the identifier"):
        Place(tmp_path).run(text)


def test_the_folder_is_the_owners_only(tmp_path):
    place = Place(tmp_path / "studio")
    place.make()
    assert stat.S_IMODE(os.stat(place.home).st_mode) == 0o700


def test_a_link_that_leads_out_is_not_followed(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "secret").write_text("x")
    (tmp_path / "run" / "own").write_text("x")
    (tmp_path / "run" / "link").symlink_to(tmp_path / "secret")
    assert inside(tmp_path / "run", "own") is not None
    assert inside(tmp_path / "run", "link") is None
    assert inside(tmp_path / "run", "..", "secret") is None
    assert inside(tmp_path / "run", "none") is None
