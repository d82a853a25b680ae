"""Every training script trains, and is resumed, in its own process; each is short, without a loop."""

import pathlib
import runpy
import sys

import numpy as np
import pytest
from drawn_data import DRAWN

from cvzoo.errors import ConfigError
from cvzoo.serializers import load_model
from cvzoo.training.extensions import run_report
from cvzoo.training.extensions.plot_report import PlotReport
from cvzoo.training.recipes import RetinaNetRecipe, SSDRecipe, script_options

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = sorted(ROOT.glob("train_scripts/*/train_*.py"))
REGIONS = "model.n_layer=10 model.base_channels=8 model.channels=16 model.head_width=16 model.n_proposal=20 "
REGIONS += "model.min_size=64 model.max_size=96 model.norm=batch regions=16 warmup=1"
# script -> its task or data, and settings that make it tiny
TINY = {
    "train_resnet": ("classification", "--recipe resnet18_cifar model.insize=32"),
    "train_ssd": (
        "detection",
        "model.insize=64 model.base_channels=4 model.extras=halve model.sizes=10,24,44,60 "
        "model.aspect_ratios=[[2],[2],[2]] model.steps=none",
    ),
    "train_yolov3": ("detection", "model.insize=64 model.base_channels=4 model.blocks=1,1,1,1,1 sizes=32,64 warmup=1"),
    "train_retinanet": (
        "detection",
        "model.min_size=64 model.max_size=96 model.channels=16 model.base_channels=8 warmup=1 validate_every=1",
    ),
    "train_retinanet_text": (
        "rendered:4",
        "model.min_size=96 model.max_size=160 model.channels=16 model.base_channels=8 warmup=1",
    ),
    "train_faster_rcnn": (
        "detection",
        "model.min_size=64 model.max_size=96 model.anchor_scales=1,2 model.base_channels=4 model.rpn_channels=8 "
        "model.fc_channels=16",
    ),
    "train_faster_rcnn_fpn": ("detection", f"{REGIONS} frozen=regions/extractor/conv1"),
    "train_mask_rcnn": (
        "instance segmentation",
        f"{REGIONS} frozen=regions/extractor/conv1 head.depth=1 head.channels=8",
    ),
    "train_any": (
        "keypoints",
        f"--recipe keypoint_rcnn_fpn_resnet18_small {REGIONS} head.depth=1 head.channels=8 head.roi_size=7",
    ),
    "train_segmentation": ("segmentation", "model.channels=4 model.insize=32,48 lr=0.01 ema=0.9"),
}


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Starts a script in this process, with the settings of TINY and further words."""
    monkeypatch.setattr(PlotReport, "__call__", lambda self, trainer: None)  # they have tests of their own
    monkeypatch.setattr(run_report, "write_run_report", lambda folder: None)

    def call(script, *words):
        data, settings = TINY[script.stem]
        data = DRAWN[data](tmp_path) if data in DRAWN else data
        common = ["--data", data, "--out", str(tmp_path / "run"), "pretrained=none", "batch_size=2", "processes=0"]
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", [str(script), *common, *settings.split(), *words])
            runpy.run_path(str(script), run_name="__main__")
        return load_model(tmp_path / "run/best.safetensors")

    return call


def test_every_script_is_tried_here():
    assert {script.stem for script in SCRIPTS} == TINY.keys()


SLOW = {"train_retinanet_text"}  # documents take a second each to draw


@pytest.mark.parametrize(
    "script",
    [pytest.param(each, marks=[pytest.mark.slow] if each.stem in SLOW else []) for each in SCRIPTS],
    ids=lambda path: path.stem,
)
def test_a_script_trains_and_is_resumed(script, start, capsys):
    start(script, "epochs=1")
    with pytest.warns(RuntimeWarning, match="epochs: 1 is now 2"):
        model = start(script, "epochs=2", "--resume")
    assert "resumes from" in capsys.readouterr().err
    assert all(np.isfinite(array).all() for array in model.state_arrays().values())


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_trains_on_two_ranks(script, tmp_path):
    from on_ranks import run_ranks  # skips where MPI is absent

    data, settings = TINY[script.stem]
    data = DRAWN[data](tmp_path) if data in DRAWN else data
    words = ["--data", data, "--out", tmp_path / "run", "pretrained=none", "batch_size=2", "processes=0", "epochs=1"]
    done = run_ranks(2, script, *words, *settings.split())
    assert done.returncode == 0, done.stdout
    model = load_model(tmp_path / "run/best.safetensors")
    assert all(np.isfinite(array).all() for array in model.state_arrays().values())


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_short_and_has_no_loop(script):
    lines = script.read_text().splitlines()
    assert len(lines) <= 61
    assert not [line for line in lines if line.lstrip().startswith(("for ", "while "))]


def test_the_command_line_prevails_over_the_script_and_the_script_over_the_recipe():
    words = ["--data", "coco:a.json,b.json", "--out", "run", "lr=0.5"]
    recipe, out, resume = script_options("Trains.", SSDRecipe, "ssd300", {"lr": 0.1, "epochs": 7}, arguments=words)
    assert (recipe.lr, recipe.epochs, recipe.batch_size) == (0.5, 7, 8)
    assert (recipe.data, recipe.metric, out, resume) == ("coco:a.json,b.json", "coco", "run", False)


def published(script):
    """The settings in which a script follows a publication, by their name in the script; {} for our own schedules."""
    names = runpy.run_path(str(script))
    return {each: names[each] for each in ("PAPER", "CHAINERCV", "DETECTRON") if each in names}


def test_published_schedules_do_not_clip_gradients():
    """Recipes do by default."""
    clipped = {script.stem: each.get("clip", 10) for script in SCRIPTS for each in published(script).values()}
    assert len(clipped) == 6
    assert set(clipped.values()) == {None}


def test_another_recipe_is_taken_if_it_is_of_the_script_s_family():
    words = ["--data", "voc:x", "--out", "run", "--resume", "--recipe"]
    recipe, _, resume = script_options("Trains.", SSDRecipe, "ssd300", arguments=[*words, "ssd512"])
    assert (recipe.model.insize, resume) == (512, True)
    with pytest.raises(ConfigError, match="ssd300 is no recipe of this script"):
        script_options("Trains.", RetinaNetRecipe, "retinanet_resnet18", arguments=[*words, "ssd300"])


def test_nothing_of_the_package_needs_the_rendered_documents():
    needs = [path for path in (ROOT / "cvzoo").rglob("*.py") if "rendered_documents import" in path.read_text()]
    assert not needs
