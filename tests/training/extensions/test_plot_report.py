"""Curves as pictures."""

import math
import re
import sys
import xml.etree.ElementTree as ET

import matplotlib
import pytest
from PIL import Image

from cvzoo.errors.exceptions import MissingExtraError, ValueRangeError
from cvzoo.reporting.plot_figure import COLORS, plot_figure
from cvzoo.reporting.reporter import report
from cvzoo.training.extensions.plot_report import PlotReport
from cvzoo.training.extensions.variable_statistics_plot import VariableStatisticsPlot


def act(iteration):
    values = {"main/loss": 1 / iteration}
    if iteration > 4:
        values["validation/main/map"] = iteration / 10
    report(values)


def texts(path):
    return [each.text for each in ET.parse(path).iter() if each.tag.endswith("text")]


def curves(path):
    """The points of each curve: a path in a color of curves, without an area."""
    paths = [each for each in ET.parse(path).iter() if each.tag.endswith("}path")]
    drawn = [each for each in paths if any(f"stroke: {color}" in each.get("style", "") for color in COLORS)]
    return [re.findall(r"[ML] ", each.get("d")) for each in drawn if each.get("clip-path")]


def test_curves_are_drawn_as_svg(counting_trainer, tmp_path):
    extension = PlotReport(
        ["main/loss", "validation/main/map", "absent"], "epoch", filename="a.svg", marker=None, title="T < 1"
    )
    counting_trainer([extension], act, (4, "epoch")).run()
    assert [len(points) for points in curves(tmp_path / "a.svg")] == [4, 3]
    found = texts(tmp_path / "a.svg")
    assert {"T < 1", "epoch", "main/loss", "validation/main/map"} <= set(found)
    assert "absent" not in found


def test_curves_are_drawn_as_png(counting_trainer, tmp_path):
    counting_trainer([PlotReport("main/loss", trigger=(1, "iteration"), size=(200, 320))], act).run()
    with Image.open(tmp_path / "plot.png") as pil:
        assert pil.size == (320, 200)
        colors = {color for _, color in pil.convert("RGB").getcolors(100_000)}
    assert (0x2F, 0x6F, 0xB3) in colors


def test_nothing_is_drawn_before_the_first_value(counting_trainer, tmp_path):
    counting_trainer([PlotReport("validation/main/map", filename="a.svg")], act, (1, "epoch")).run()
    assert not (tmp_path / "a.svg").exists()


def test_values_that_are_no_numbers_are_borne(counting_trainer, tmp_path):
    counting_trainer([PlotReport("x", filename="a.svg")], lambda i: report({"x": math.nan if i < 5 else 1.0})).run()
    assert "x" in texts(tmp_path / "a.svg")


@pytest.mark.parametrize("stop", [1, 4, 5])
def test_a_run_that_goes_on_draws_the_curves_of_one_never_stopped(counting_trainer, tmp_path, stop):
    def make():
        keys = ["main/loss", "validation/main/map"]
        return counting_trainer([PlotReport(keys, trigger=(2, "iteration"), filename="a.svg")], act, (9, "iteration"))

    make().run()
    whole = (tmp_path / "a.svg").read_bytes()
    states = []
    first = make()
    first.extend(lambda trainer: states.append(trainer.state()), trigger=(stop, "iteration"), priority=-1000)
    first.run()
    (tmp_path / "a.svg").unlink()
    second = make()
    second.load_state(states[0])
    second.run()
    assert (tmp_path / "a.svg").read_bytes() == whole


def test_the_figure_may_be_changed_before_it_is_written(counting_trainer, tmp_path):
    seen = []

    def postprocess(figure, axes, summary):
        seen.append((len(figure.axes), summary.compute_mean()))
        axes.set_title("mine")

    extension = PlotReport("main/loss", "iteration", (2, "iteration"), postprocess, "a.svg", marker="o", grid=False)
    counting_trainer([extension], act, (4, "iteration")).run()
    assert seen == [(1, {"main/loss": 0.75}), (1, {"main/loss": pytest.approx((1 / 3 + 1 / 4) / 2)})]
    assert "mine" in texts(tmp_path / "a.svg")


@pytest.mark.parametrize("extension", [PlotReport, VariableStatisticsPlot])
def test_programs_may_ask_whether_matplotlib_is_there(extension, monkeypatch):
    assert extension.available()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match="matplotlib is not installed"), plot_figure((9, 9)):
        pass


def test_a_logarithmic_axis_has_its_numbers(counting_trainer, tmp_path):
    plot = PlotReport("main/loss", filename="a.svg", postprocess=lambda figure, axes, summary: axes.set_yscale("log"))
    counting_trainer([plot], act, (4, "epoch")).run()
    assert "mathdefault" not in (tmp_path / "a.svg").read_text()


def test_the_programs_own_style_changes_nothing(counting_trainer, tmp_path):
    counting_trainer([PlotReport("main/loss", filename="a.svg")], act).run()
    with matplotlib.rc_context({"lines.linewidth": 9, "font.size": 20, "axes.facecolor": "red"}):
        counting_trainer([PlotReport("main/loss", file_name="b.svg")], act).run()
        assert matplotlib.rcParams["font.size"] == 20
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize(
    "settings", [{"x_key": "time"}, {"filename": "a.gif"}, {"filename": "a.png", "file_name": "b.png"}]
)
def test_what_cannot_be_drawn_is_refused(settings):
    with pytest.raises(ValueRangeError, match="PlotReport"):
        PlotReport("main/loss", **settings)


def test_a_picture_that_cannot_be_written_is_told(counting_trainer, tmp_path):
    with pytest.warns(RuntimeWarning, match=r"plots/a\.svg could not be written"):
        counting_trainer([PlotReport("main/loss", filename="plots/a.svg")], act, (1, "epoch")).run()
