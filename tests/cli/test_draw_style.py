"""How `cvzoo predict` draws, which classes, and the objects as images of their own."""

import argparse
import json

import numpy as np
import pytest
from PIL import Image

from cvzoo.cli.draw_style import draw_style, wanted_labels, write_crops
from cvzoo.cli.option_values import color_words
from cvzoo.errors import ConfigError, ValueRangeError
from cvzoo.geometry.rle import RLEs
from cvzoo.links import ResNet18
from cvzoo.links.model.detections import Detections
from cvzoo.links.model.instance_segmentations import InstanceSegmentations
from cvzoo.links.model.segnet.segnet_basic import SegNetBasic
from cvzoo.visualizations import voc_colormap
from cvzoo.visualizations.draw_bbox import DrawStyle

NAMES = ("ape", "bee/wasp")
BBOX = np.float32([[2, 3, 12, 18], [-4, 30, 12, 70], [50, 70, 60, 80]])  # the last one is outside of the image
LABEL, SCORE = np.int32([1, 0, 0]), np.float32([0.9, 0.7, 0.6])
IMG = np.random.default_rng(0).integers(0, 256, (3, 40, 60)).astype(np.float32)


def options(**given):
    return argparse.Namespace(
        **{"line_width": None, "colors": None, "no_labels": False, "no_scores": False, "classes": None, **given}
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("red, lime,#0000ff", ("red", "lime", "#0000ff")),
        ("ape=red,bee/wasp=#fff", {"ape": "red", "bee/wasp": "#fff"}),
        ("a=b=red", {"a=b": "red"}),  # a name may contain anything
        ("voc", "voc"),
    ],
)
def test_words_of_colors(text, value):
    assert color_words(text) == value


@pytest.mark.parametrize("text", ["", ",", "ape=red,lime", "=red", "ape="])
def test_words_that_are_no_colors(text):
    with pytest.raises(argparse.ArgumentTypeError, match="expected CLASS=COLOR"):
        color_words(text)


def test_the_style_of_the_options():
    assert draw_style(options(), NAMES) == DrawStyle()
    style = draw_style(options(line_width=3, colors={"ape": "red"}, no_labels=True, no_scores=True), NAMES)
    assert style == (3, {"ape": "red"}, False, False)
    assert draw_style(options(colors="voc"), NAMES).colors[0] == tuple(voc_colormap([1])[0])
    with pytest.raises(ValueRangeError, match="did you mean ape"):
        draw_style(options(colors={"appe": "red"}), NAMES)
    with pytest.raises(ValueRangeError, match="did you mean red"):
        draw_style(options(colors=("rde",)), NAMES)


def test_classes_are_names_or_numbers():
    model = SegNetBasic(label_names=("sky", "road", "2"))
    assert wanted_labels(options(), model) is None
    assert wanted_labels(options(classes=("road", "0", "2")), model) == [1, 0, 2]
    assert wanted_labels(options(classes=("1",)), SegNetBasic(3)) == [1]
    with pytest.raises(ValueRangeError, match="did you mean road"):
        wanted_labels(options(classes=("raod",)), model)
    with pytest.raises(ValueRangeError, match="did you mean road"):
        wanted_labels(options(classes=("ROAD",)), model)
    with pytest.raises(ValueRangeError, match="there is no class 3"):
        wanted_labels(options(classes=("3",)), SegNetBasic(3))
    with pytest.raises(ValueRangeError, match="--classes names no class"):
        wanted_labels(options(classes=()), model)
    with pytest.raises(ConfigError, match="classes of whole images"):
        wanted_labels(options(classes=("0",)), ResNet18(n_class=2))


def test_crops_are_in_folders_of_their_classes(tmp_path):
    found = Detections([BBOX], [LABEL], [SCORE], label_names=NAMES)
    files = write_crops(found, 0, IMG, tmp_path, "a", masked=False)
    assert files == ["bee_wasp/a_0.jpg", "ape/a_1.jpg"]
    with Image.open(tmp_path / files[1]) as crop:
        assert crop.size == (30, 12)  # what is in the image


def test_crops_are_transparent_outside_of_masks(tmp_path):
    masks = np.zeros((3, 40, 60), bool)
    masks[0, 4:8, 5:9] = True
    found = InstanceSegmentations([RLEs.from_masks(masks)], [LABEL], [SCORE], bboxes=[BBOX])
    files = write_crops(found, 0, IMG, tmp_path, "a", masked=True)
    with Image.open(tmp_path / files[0]) as crop:
        pixels = np.array(crop)
    assert files[0] == "1/a_0.png"
    np.testing.assert_array_equal(pixels[..., 3] == 255, masks[0, 2:12, 3:18])
    np.testing.assert_array_equal(pixels[..., :3], IMG[:, 2:12, 3:18].transpose(1, 2, 0))


def test_on_the_command_line(run, net, photos, tmp_path):
    out = tmp_path / "out"
    words = ("predict", photos / "a.jpg", *net, "--score-thresh", "0.1", "--out", out)
    status, _, errors = run(
        *words, "--crop", "--classes", "dog", "--colors", "dog=red", "--line-width", 2, "--no-labels"
    )
    assert status == 0, errors
    record = json.loads((out / "a.json").read_text())
    assert {each["name"] for each in record["objects"]} == {"dog"}
    assert record["crops"]
    assert all((out / name).is_file() for name in record["crops"])
    for wrong, message in (
        (("--classes", "dgo"), "did you mean dog"),
        (("--colors", "dog=rad"), "did you mean red"),
        (("--crop-masks",), "--crop-masks applies to instance segmentation"),
    ):
        status, _, errors = run(*words, *wrong)
        assert status == 2
        assert message in errors
    status, _, errors = run("predict", photos / "a.jpg", *net, "--crop")
    assert status == 2
    assert "--out DIR" in errors
