"""ChainerCV's functions draw on matplotlib's axes, of the caller or of a figure without a display."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from cvzoo.errors import DtypeError, ShapeError, ValueRangeError
from cvzoo.geometry import RLEs
from cvzoo.labels import voc_semantic_segmentation_label_colors
from cvzoo.visualizations import (
    label_color,
    vis_bbox,
    vis_image,
    vis_instance_segmentation,
    vis_point,
    vis_semantic_segmentation,
    voc_colormap,
)

IMG = np.random.default_rng(0).integers(0, 256, (3, 8, 10)).astype(np.float32)
BBOX = np.array([[1, 2, 5, 6], [0, 0, 3, 3]], np.float32)
MASK = np.zeros((2, 8, 10), bool)
MASK[0, 1:5, 2:6] = MASK[1, :3, :3] = True


@pytest.fixture
def ax():
    return Figure().add_subplot()


def pixels(ax, n=0):
    return np.asarray(ax.images[n].get_array())


def color(rgb):
    return tuple(part / 255 for part in rgb)


@pytest.mark.parametrize(
    "vis",
    [
        lambda ax: vis_image(IMG, ax=ax),
        lambda ax: vis_bbox(IMG, BBOX, ax=ax),
        lambda ax: vis_instance_segmentation(IMG, MASK, ax=ax),
        lambda ax: vis_point(IMG, np.ones((1, 2, 2)), ax=ax),
        lambda ax: vis_semantic_segmentation(IMG, np.zeros((8, 10), np.int32), ax=ax)[0],
    ],
)
def test_the_axes_come_back_with_the_image_in_them(vis, ax):
    assert vis(ax) is ax
    np.testing.assert_array_equal(pixels(ax), IMG.transpose(1, 2, 0))
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 10), (8, 0))
    assert isinstance(vis(None), Axes)


def test_without_axes_pyplot_is_left_alone_unless_the_program_has_imported_it():
    program = """if True:
        import sys
        import numpy as np
        from cvzoo.visualizations import vis_image
        vis_image(np.zeros((3, 4, 5)))
        assert "matplotlib.pyplot" not in sys.modules
        import matplotlib; matplotlib.use("agg")
        from matplotlib import pyplot
        ax = vis_image(np.zeros((3, 4, 5)))
        assert pyplot.gcf() is ax.figure and pyplot.gca() is ax
    """
    subprocess.run([sys.executable, "-c", program], check=True)


def test_boxes_have_their_places_colours_and_captions(ax):
    vis_bbox(IMG, BBOX, [3, 1], [0.25, 0.5], ["a", "b", "c", "$d$"], alpha=0.5, linewidth=2.0, ax=ax)
    assert [patch.get_bbox().bounds for patch in ax.patches] == [(2, 1, 4, 4), (0, 0, 3, 3)]
    assert [patch.get_edgecolor() for patch in ax.patches] == [(*color(label_color(k)), 0.5) for k in (3, 1)]
    assert [patch.get_linewidth() for patch in ax.patches] == [2.0, 2.0]
    assert [text.get_text() for text in ax.texts] == ["$d$ 0.25", "b 0.50"]
    assert not ax.texts[0].get_parse_math()


def test_the_best_box_is_drawn_last_unless_asked_otherwise(ax):
    vis_bbox(None, BBOX, score=[0.9, 0.1], ax=ax)
    assert [text.get_text() for text in ax.texts] == ["0.10", "0.90"]
    other = vis_bbox(None, BBOX, score=[0.9, 0.1], sort_by_score=False, instance_colors=[(0, 0, 255)])
    assert [text.get_text() for text in other.texts] == ["0.90", "0.10"]
    assert [to_rgb(patch.get_edgecolor()) for patch in other.patches] == [(0, 0, 1)] * 2


def test_boxes_without_an_image_are_in_view(ax):
    vis_bbox(None, BBOX, ax=ax)
    assert not ax.images
    assert ax.get_xlim()[1] >= 6


@pytest.mark.parametrize("masks", [MASK, MASK.tolist(), RLEs.from_masks(MASK)], ids=["bool", "list", "RLEs"])
def test_the_best_mask_lies_on_top(ax, masks):
    vis_instance_segmentation(IMG, masks, [0, 1], [0.9, 0.1], ["a", "b"], [(255, 0, 0), (0, 0, 255)], alpha=0.6, ax=ax)
    tint = pixels(ax, 1)
    np.testing.assert_array_equal(tint[MASK[0]], [[255, 0, 0, 153]] * 16)
    np.testing.assert_array_equal(tint[MASK[1] & ~MASK[0]], [[0, 0, 255, 153]] * 7)
    assert not tint[~MASK.any(0)].any()
    assert [(text.get_text(), text.get_position()) for text in ax.texts] == [("b 0.10", (1.5, 1.5)), ("a 0.90", (4, 3))]


def test_no_instances_leave_the_image_alone():
    none = np.zeros((0, 8, 10), bool)
    for masks in (none, RLEs.from_masks(none)):
        ax = vis_instance_segmentation(IMG, masks, np.zeros(0, np.int32), np.zeros(0))
        assert len(ax.images) == 1
    assert not vis_bbox(IMG, np.zeros((0, 4))).patches


def test_each_class_has_its_colour_and_the_legend_names_those_that_are_shown(ax):
    label = np.array([[-1, 0, 2, 2]] * 3, np.int32)
    colors = [(10, 20, 30), (1, 2, 3), (40, 50, 60)]
    _, handles = vis_semantic_segmentation(None, label, ["a", "b", "c"], colors, (9, 9, 9), 0.2, ax=ax)
    np.testing.assert_array_equal(pixels(ax)[0], [[9, 9, 9, 51], [10, 20, 30, 51], [40, 50, 60, 51], [40, 50, 60, 51]])
    assert [(each.get_label(), to_rgb(each.get_facecolor())) for each in handles] == [
        ("a", color(colors[0])),
        ("c", color(colors[2])),
    ]
    _, handles = vis_semantic_segmentation(None, label, ["a", "b", "c"], colors, all_label_names_in_legend=True)
    assert [each.get_label() for each in handles] == ["a", "b", "c"]
    ax, handles = vis_semantic_segmentation(None, label)
    assert [each.get_label() for each in handles] == ["0", "2"]
    np.testing.assert_array_equal(pixels(ax)[0, 1:3, :3], voc_colormap([0, 2]))


def test_points_that_are_invisible_or_nan_are_left_out(ax):
    point = np.array([[[1, 2], [3, 4], [5, np.nan]], [[6, 50], [1, 1], [2, 2]]], np.float32)
    vis_point(IMG, point, [[True, False, True], [True, False, True]], ax=ax)
    (dots,) = ax.collections
    np.testing.assert_array_equal(dots.get_offsets(), [[2, 1], [50, 6], [2, 2]])
    np.testing.assert_allclose(dots.get_facecolors()[:, :3], [color(label_color(k)) for k in (0, 0, 2)])
    assert ax.get_xlim() == (0, 10)  # though a point lies outside


def test_the_colours_are_pascal_vocs():
    np.testing.assert_array_equal(voc_colormap(range(21)), voc_semantic_segmentation_label_colors)
    assert voc_colormap([255]).tolist() == [[224, 224, 192]]
    assert voc_colormap([]).shape == (0, 3)
    assert voc_colormap([1]).dtype == np.float32


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: vis_bbox(IMG, BBOX, [1]), ShapeError, "label must have one value"),
        (lambda: vis_bbox(IMG, BBOX, None, [1]), ShapeError, "score must have one value"),
        (lambda: vis_bbox(IMG, BBOX, [0, 2], None, ["a", "b"]), ValueRangeError, "no name"),
        (lambda: vis_instance_segmentation(IMG, MASK[:, :7]), ShapeError, "one size"),
        (lambda: vis_instance_segmentation(IMG, RLEs.from_masks(MASK[:, :7])), ShapeError, "one size"),
        (lambda: vis_instance_segmentation(IMG, MASK[0]), ShapeError, r"\(R, H, W\)"),
        (lambda: vis_instance_segmentation(IMG, MASK, [1]), ShapeError, "label must have one value"),
        (lambda: vis_semantic_segmentation(IMG, np.zeros((3, 3), int)), ShapeError, "image's size"),
        (lambda: vis_semantic_segmentation(None, np.full((3, 3), 2), ["a", "b"]), ValueRangeError, "no name"),
        (lambda: vis_semantic_segmentation(None, np.full((3, 3), -2)), ValueRangeError, "no name"),
        (
            lambda: vis_semantic_segmentation(None, np.ones((3, 3), int), None, [(0, 0, 0)]),
            ValueRangeError,
            "no colour",
        ),
        (lambda: vis_semantic_segmentation(None, np.zeros((3, 3))), DtypeError, "label must be of integers"),
        (lambda: vis_point(IMG, np.zeros((2, 3))), ShapeError, r"\(R, K, 2\)"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_the_255_of_a_small_integer_is_a_class_not_what_is_ignored(ax):
    vis_semantic_segmentation(None, np.full((2, 2), 255, np.uint8), ax=ax)
    assert pixels(ax)[0, 0, :3].tolist() == [224, 224, 192]


def test_names_and_colors_of_a_label_map_are_one_to_one():
    label = np.zeros((4, 4), np.int32)
    with pytest.raises(ValueRangeError, match="one colour a name"):
        vis_semantic_segmentation(None, label, label_names=("a", "b"), label_colors=((1, 2, 3),))
