"""How values are written on a page."""

import pytest

pytest.importorskip("fastapi")

from cvzoo.studio.pages.render import middle_cut, moment, score_name


def test_a_long_path_keeps_its_beginning_and_its_end():
    assert middle_cut("voc:data/BCCD") == "voc:data/BCCD"
    assert middle_cut("sroie:/work/shared/work/runs/data/sroie_split", 20) == "sroie:…a/sroie_split"
    assert {len(middle_cut("x" * n)) for n in (28, 29, 100)} == {28}


def test_a_score_of_cocos_rules_has_a_short_name():
    assert score_name("validation/main/map/iou=0.50:0.95/area=all/max_dets=100") == "map, iou 0.50:0.95"
    assert score_name("validation/main/map") == "map"
    assert score_name("validation/main/map/iou=0.50:0.95/area=small/max_dets=100") == "map, iou 0.50:0.95, area small"


def test_the_time_of_a_runs_last_update_is_read_and_anything_else_is_none():
    assert moment("1970-01-02 00:00:01 UTC") == 86_401_000
    assert moment("") is moment("yesterday") is moment("2026-02-30 00:00:00 UTC") is None
