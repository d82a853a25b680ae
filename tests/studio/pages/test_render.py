"""How values are written on a page."""

import pytest

pytest.importorskip("fastapi")

from cvzoo.studio.pages.render import middle_cut


def test_a_long_path_keeps_its_beginning_and_its_end():
    assert middle_cut("voc:data/BCCD") == "voc:data/BCCD"
    assert middle_cut("sroie:/work/shared/work/runs/data/sroie_split", 20) == "sroie:…a/sroie_split"
    assert {len(middle_cut("x" * n)) for n in (28, 29, 100)} == {28}
