"""Docstrings as reStructuredText: what the dialect of CONTRIBUTING means to the documentation's generator."""

import pytest
from site_docstrings import inline, to_rst

PUBLIC = {"ShapeError": "cvzoo.errors.ShapeError", "nms": "cvzoo.geometry.nms", "nms()": "cvzoo.geometry.nms"}


def lines_of(docstring):
    return [line for line in to_rst(docstring, PUBLIC.get) if line.strip()]


def test_a_name_with_a_colon_is_a_term_with_its_definition():
    made = lines_of("Overlaps.\n\nbbox: (N, 4) float32, pixels,\n    half-open\nlabel: (N,) int32")
    assert made == ["Overlaps.", "``bbox``", "    (N, 4) float32, pixels, half-open", "``label``", "    (N,) int32"]


def test_names_that_share_a_line_share_a_definition():
    assert lines_of("Kept.\n\nmean, std: of the channels")[1:] == ["``mean``, ``std``", "    of the channels"]


def test_methods_may_be_terms():
    assert lines_of("Kept.\n\nepoch, next(): as in Chainer")[1] == "``epoch``, ``next()``"


def test_a_second_name_on_the_line_begins_another_definition():
    made = lines_of("Photos.\n\nimg: (3, H, W) float32; label: (R,) int32")
    assert made[1:] == ["``img``", "    (3, H, W) float32", "``label``", "    (R,) int32"]


def test_a_value_with_a_colon_stays_in_the_definition():
    made = lines_of("Kept.\n\nlimit: how many; None: all of them")
    assert made[1:] == ["``limit``", "    how many; None: all of them"]


def test_the_first_sentence_may_have_a_colon():
    assert lines_of("sizes: heights and widths.") == ["sizes: heights and widths."]


@pytest.mark.parametrize("label", ["Returns", "Raises", "Source"])
def test_labels_begin_definitions_of_their_own(label):
    mark = ":" if label == "Source" else ""
    assert lines_of(f"Kept.\n\nx: an array\n{label}{mark} what follows\nand goes on")[-2:] == [
        f"**{label}**",
        "    what follows and goes on",
    ]


def test_a_short_line_that_ends_in_a_full_stop_ends_its_statement():
    assert lines_of("Kept.\n\nRaises ShapeError if empty.\nThe graph stays.")[-1] == "The graph stays."


def test_a_line_broken_for_want_of_room_goes_on():
    first = "A sentence that fills its line up to the margin because there is more to say than fits into it. Indeed,."
    assert lines_of(f"Kept.\n\n{first}\nso it is.") == ["Kept.", f"{first} so it is."]


def test_fields_below_a_label_are_nested():
    made = lines_of("Kept.\n\nReturns\n  ap: a number\n  names: of the classes\nNone stands for no number.")
    assert made[1:] == [
        "**Returns**",
        "    ``ap``",
        "        a number",
        "    ``names``",
        "        of the classes",
        "None stands for no number.",
    ]


def test_examples_stay_as_they_are():
    assert ">>> f(x)  # y_1 * 2" in lines_of("Kept.\n\n>>> f(x)  # y_1 * 2\n\nMore.")


def test_code_that_is_a_public_name_becomes_a_reference():
    assert "`nms <cvzoo.geometry.nms>`" in inline("see `nms`", PUBLIC.get)
    assert "``other``" in inline("see `other`", PUBLIC.get)


def test_an_errors_name_needs_no_marks_to_become_a_reference():
    assert "<cvzoo.errors.ShapeError>" in inline("Raises ShapeError if", PUBLIC.get)


def test_signs_of_markup_in_words_are_escaped():
    assert inline("y_min * 2 | x_", PUBLIC.get) == r"y\_min \* 2 \| x\_"


def test_addresses_are_left_whole():
    assert inline("see https://arxiv.org/abs/1412_6980.", PUBLIC.get) == "see https://arxiv.org/abs/1412_6980."
