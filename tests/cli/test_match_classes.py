import pytest

from cvzoo.cli.match_classes import class_indices, match_classes
from cvzoo.errors.exceptions import ConfigError


def test_case_underscores_and_vocs_words_do_not_matter():
    assert class_indices(("Potted_Plant", "SOFA", "ufo"), 3, ("couch", "pottedplant")).tolist() == [1, 0, -1]
    assert class_indices(("tv",), 1, ("aeroplane", "tvmonitor")).tolist() == [1]


def test_a_name_that_stands_for_two_classes_keeps_its_place_in_the_same_list():
    assert class_indices(("crane", "crane"), 2, ("crane", "crane")).tolist() == [0, 1]
    assert class_indices(("crane",), 1, ("crane", "crane")).tolist() == [0]


def test_without_names_the_order_counts():
    assert class_indices(None, 2, ("a", "b")).tolist() == [0, 1]
    with pytest.raises(ConfigError, match="3 classes without names"):
        class_indices(None, 3, ("a", "b"))
    with pytest.raises(ConfigError, match="no class in common"):
        class_indices(("c",), 1, ("a", "b"))


def test_classes_that_are_left_out_are_said(capsys):
    assert match_classes(("a", "ufo"), 2, ("a",)).tolist() == [0, -1]
    assert "ufo" in capsys.readouterr().err
