"""How values are written on a page."""

import pytest

pytest.importorskip("fastapi")

from cvzoo.studio.pages.render import middle_cut, score_name


def test_a_long_path_keeps_its_beginning_and_its_end():
    assert middle_cut("voc:data/BCCD") == "voc:data/BCCD"
    assert middle_cut("sroie:/work/shared/work/runs/data/sroie_split", 20) == "sroie:…a/sroie_split"
    assert {len(middle_cut("x" * n)) for n in (28, 29, 100)} == {28}


def test_a_score_of_cocos_rules_has_a_short_name():
    assert score_name("validation/main/map/iou=0.50:0.95/area=all/max_dets=100") == "map, iou 0.50:0.95"
    assert score_name("validation/main/map") == "map"
    assert score_name("validation/main/map/iou=0.50:0.95/area=small/max_dets=100") == "map, iou 0.50:0.95, area small"
