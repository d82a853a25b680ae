"""RegNet's widths along a line."""

import pytest

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.regnet.regnet import DESIGNS, Design, Stage, design_of, stages_of


def test_the_paper_s_smallest_has_the_paper_s_widths():
    assert stages_of(DESIGNS["x_400mf"]) == (Stage(32, 1, 16), Stage(64, 2, 16), Stage(160, 7, 16), Stage(400, 12, 16))
    assert stages_of(DESIGNS["y_32gf"]) == (
        Stage(232, 2, 232),
        Stage(696, 5, 232),
        Stage(1392, 12, 232),
        Stage(3712, 1, 232),
    )


def test_the_largest_has_as_many_parameters_as_published():
    # too large to build in a test: weights and the normalizations' pairs are counted
    design, n, n_in = DESIGNS["y_128gf"], 3 * 9 * 32 + 2 * 32, 32
    for stage in stages_of(design):
        for i in range(stage.n_block):
            hidden = round(design.squeeze * n_in)
            n += n_in * stage.width + stage.width * stage.group_width * 9 + stage.width**2 + 6 * stage.width
            n += 2 * stage.width * hidden + stage.width + hidden
            n += (n_in * stage.width + 2 * stage.width) if i == 0 else 0
            n_in = stage.width
    assert n + 1000 * n_in + 1000 == 644812894


@pytest.mark.parametrize("name", DESIGNS)
def test_widths_grow_and_divide_into_groups(name):
    stages = stages_of(design_of(name))
    assert len(stages) == 4
    assert sum(stage.n_block for stage in stages) == DESIGNS[name].depth
    assert [stage.width for stage in stages] == sorted({stage.width for stage in stages})
    assert all(stage.width % stage.group_width == 0 for stage in stages)


def test_a_group_is_not_wider_than_its_stage():
    assert stages_of(Design(2, 8, 0.0, 2.0, 64, None)) == (Stage(8, 2, 8),)


@pytest.mark.parametrize(
    "design",
    ["y_401mf", Design(0, 8, 1.0, 2.0, 8, None), Design(2, 8, -1.0, 2.0, 8, None), Design(2, 8, 1, 1, 8, None)],
)
def test_another_design_is_refused(design):
    with pytest.raises(ValueRangeError):
        design_of(design)
