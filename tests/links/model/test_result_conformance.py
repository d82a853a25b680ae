"""Whatever a model predicts can be drawn, shown, saved, filtered and converted by the same methods."""

import pathlib
import re
import subprocess
import sys
import types
import warnings

import numpy as np
import pytest
from matplotlib.figure import Figure

from cvzoo.errors import ImageError, UnsupportedError, ValueRangeError
from cvzoo.geometry import RLEs
from cvzoo.images import read_image
from cvzoo.links import Classifications, Detections, InstanceSegmentations, KeypointDetections, LabelMaps
from cvzoo.links.model.result import AbstractResult

IMG = np.full((3, 8, 10), 90, np.float32)
BBOXES, LABELS, SCORES = [np.array([[1, 2, 5, 6]], np.float32)], [np.array([1])], [np.array([0.5], np.float32)]
ABOUT = {"label_names": ["ant", "bee"], "sources": [IMG]}
MASK = np.zeros((1, 8, 10), bool)
MASK[0, :4] = True
POINTS = [np.ones((1, 2, 2), np.float32)]

# a result of one image, in which the bee is found and the ant is not, or is less probable; a new class is listed here
RESULTS = {
    Detections: lambda **about: Detections(BBOXES, LABELS, SCORES, **about),
    InstanceSegmentations: lambda **about: InstanceSegmentations([RLEs.from_masks(MASK)], LABELS, SCORES, **about),
    KeypointDetections: lambda **about: KeypointDetections(
        POINTS, LABELS, SCORES, bboxes=BBOXES, point_scores=[np.zeros((1, 2))], **about
    ),
    LabelMaps: lambda **about: LabelMaps([np.ones((8, 10), np.int32)], **about),
    Classifications: lambda **about: Classifications(np.array([[0.25, 0.75]], np.float32), **about),
}
every_result = pytest.mark.parametrize("kind", RESULTS, ids=lambda kind: kind.__name__)


def test_every_class_of_results_is_listed():
    def concrete(base):
        classes = set() if base.__name__.startswith("Abstract") else {base}
        return classes.union(*map(concrete, base.__subclasses__()))

    assert {each for each in concrete(AbstractResult) if each.__module__.startswith("cvzoo")} == set(RESULTS)


def test_the_table_of_the_documentation_has_the_methods_and_the_classes():
    page = pathlib.Path(__file__).parents[3].joinpath("docs/zoo.md").read_text()
    head, _, *rows = next(table for table in page.split("\n\n") if table.startswith("| method |")).splitlines()
    assert set(re.findall(r"`(\w+)`", head)) == {kind.__name__ for kind in RESULTS}
    methods = [re.match(r"\| `(\w+)\(", row)[1] for row in rows]
    assert sorted(methods) == sorted((AbstractResult.__abstractmethods__ | {"to_df"}) - {"n_image"})


@every_result
def test_a_result_has_every_method(kind):
    assert not getattr(kind, "__abstractmethods__", None)


def texts(ax):
    legend = ax.get_legend()
    found = [text.get_text() for text in ax.texts] + [ax.get_title()]
    return " ".join(found + ([] if legend is None else [text.get_text() for text in legend.get_texts()]))


@every_result
def test_a_result_shows_itself(kind):
    result = RESULTS[kind](**ABOUT)
    ax = Figure().add_subplot()
    assert result.show(0, ax=ax) is ax
    np.testing.assert_array_equal(np.asarray(ax.images[0].get_array()), IMG.transpose(1, 2, 0))
    assert "bee" in texts(ax)
    assert result.show(img=IMG + 1, ax=Figure().add_subplot()).images[0].get_array().max() == 91


@every_result
def test_what_is_shown_is_drawn_and_saved(kind, tmp_path):
    result = RESULTS[kind](**ABOUT)
    drawn = result.draw()
    assert drawn.dtype == np.float32
    assert drawn.ndim == 3
    assert drawn.min() >= 0
    assert drawn.max() <= 255
    assert drawn.std() > 0
    assert (IMG == 90).all()
    assert result.save(0, tmp_path / "drawn.png") == tmp_path / "drawn.png"
    np.testing.assert_array_equal(read_image(tmp_path / "drawn.png"), drawn)
    result.save(0, tmp_path / "other.png", img=IMG * 2)
    assert not np.array_equal(read_image(tmp_path / "other.png"), drawn)


@every_result
@pytest.mark.parametrize("method", ["draw", "show", "save"])
def test_no_picture_without_its_image(kind, method, tmp_path):
    path = [tmp_path / "drawn.png"] if method == "save" else []
    with pytest.raises(ValueRangeError, match="no such image"):
        getattr(RESULTS[kind](**ABOUT), method)(1, *path)
    with pytest.raises(ImageError, match="img="):
        getattr(RESULTS[kind](label_names=["ant", "bee"], sources=[None]), method)(0, *path)
    assert not list(tmp_path.iterdir())


@every_result
def test_a_filtered_result_has_only_the_classes_asked_for(kind):
    result = RESULTS[kind](**ABOUT)
    for classes in (["bee"], [1]):
        assert {each["name"] for each in result.filter(classes=classes).to_records()} == {"bee"}
    for classes in (["ant"], [0], []):
        filtered = result.filter(classes=classes)
        assert type(filtered) is kind
        assert "bee" not in {each["name"] for each in filtered.to_records()}
        filtered.draw()
    with pytest.raises(ValueRangeError, match="wasp"):
        result.filter(classes=["wasp"])


@every_result
def test_records_are_of_all_images_or_of_one(kind, monkeypatch):
    result = RESULTS[kind](**ABOUT)
    records = result.to_records()
    assert result.to_records(i=0) == records
    assert records[0]["photo"] == 0
    assert records[0]["name"] == "bee"
    with pytest.raises(ValueRangeError, match="no such image"):
        result.to_records(i=1)
    frames = types.SimpleNamespace(DataFrame=types.SimpleNamespace(from_records=lambda rows: ("table", rows)))
    monkeypatch.setitem(sys.modules, "pandas", frames)
    assert result.to_df() == ("table", records)


@every_result
def test_annotations_are_written_or_refused(kind):
    result = RESULTS[kind](**ABOUT)
    if kind is Classifications:
        for convert in (result.to_coco, result.to_voc):
            with pytest.raises(UnsupportedError, match="cannot represent the classes of whole images"):
                convert()
        return
    assert [each["name"] for each in result.to_coco()["categories"]] == ["ant", "bee"]
    assert len(result.to_voc()) == 1


@every_result
@pytest.mark.parametrize("subfigures", [False, True])
def test_a_plain_savefig_holds_the_whole_picture(kind, subfigures):
    names = ["a class with a rather long name", "another one whose name is even longer than that"]
    figure = Figure()
    ax = (figure.subfigures() if subfigures else figure).add_subplot()
    RESULTS[kind](label_names=names, sources=[IMG]).show(ax=ax)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.draw_without_rendering()
    inside = ax.get_tightbbox()
    assert inside.x0 >= 0
    assert inside.y0 >= 0
    assert inside.x1 <= figure.bbox.width
    assert inside.y1 <= figure.bbox.height


def test_a_layout_of_the_users_own_stays():
    figure = Figure(layout="tight")
    engine = figure.get_layout_engine()
    RESULTS[LabelMaps](**ABOUT).show(ax=figure.add_subplot())
    assert figure.get_layout_engine() is engine


def test_a_long_legend_has_columns():
    label = np.arange(60, dtype=np.int32).reshape(6, 10)
    ax = LabelMaps([label], sources=[np.zeros((3, 6, 10), np.float32)]).show(ax=Figure().add_subplot())
    ax.figure.draw_without_rendering()
    assert ax.get_legend().get_window_extent().height <= ax.figure.bbox.height


def test_without_axes_pyplot_shows_a_figure_of_its_own_and_forgets_it():
    program = """if True:
        import numpy as np
        import matplotlib; matplotlib.use("agg")
        from matplotlib import pyplot
        from cvzoo.links import Classifications
        shown = []
        pyplot.show = lambda: shown.append(pyplot.get_fignums())
        img = np.zeros((3, 4, 5), np.float32)
        ax = Classifications(np.array([[1.0]]), label_names=["ant"], sources=[img]).show()
        assert ax.get_title() == "ant 1.000"
        assert shown == [[1]] and pyplot.get_fignums() == []
    """
    subprocess.run([sys.executable, "-c", program], check=True)
