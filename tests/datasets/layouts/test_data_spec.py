"""How a command line names a data set."""

import pathlib

import pytest

from cvzoo.datasets.layouts.data_spec import DataSpec, parse_data_spec
from cvzoo.errors.exceptions import ConfigError


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in (
        "voc/Annotations",
        "voc/JPEGImages",
        "yolo/labels",
        "sroie/img",
        "sroie/box",
        "coco/annotations",
        "a,b",
    ):
        pathlib.Path(folder).mkdir(parents=True)
    pathlib.Path("coco/annotations/instances_val.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("voc:voc", DataSpec("voc", pathlib.Path("voc"))),
        ("voc", DataSpec("voc", pathlib.Path("voc"))),
        ("yolo", DataSpec("yolo", pathlib.Path("yolo"))),
        ("sroie", DataSpec("sroie", pathlib.Path("sroie"))),
        ("coco", DataSpec("coco", pathlib.Path("coco"))),
        ("voc:a,b", DataSpec("voc", pathlib.Path("a,b"))),
        ("voc:voc,split=train,base=0", DataSpec("voc", pathlib.Path("voc"), split="train", base=0)),
        ("voc:voc,photos=yolo", DataSpec("voc", pathlib.Path("voc"), photos=pathlib.Path("yolo"))),
    ],
)
def test_the_words_mean_a_place(here, text, expected):
    assert parse_data_spec(text) == expected


def test_the_folder_around_voc_means_the_year_in_it(here):
    year = here / "data" / "VOCdevkit" / "VOC2012"
    (year / "Annotations").mkdir(parents=True)
    for text in ("voc:data", "data", "voc:data/VOCdevkit", "voc:data/VOCdevkit/VOC2012"):
        assert parse_data_spec(text) == DataSpec("voc", pathlib.Path("data/VOCdevkit/VOC2012")), text
    (year.with_name("VOC2007") / "Annotations").mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"several data sets of VOC\n  expected: voc:.*VOC2007 or voc:.*VOC2012"):
        parse_data_spec("voc:data")


@pytest.mark.parametrize(
    "text",
    ["", "voc:", "voc:nowhere", "nowhere", "tar:voc", "a,b", "voc:voc,base=2", "voc:voc,photos=nowhere", ":", ","],
)
def test_other_words_are_refused(here, text):
    with pytest.raises(ConfigError):
        parse_data_spec(text)


@pytest.mark.parametrize(
    ("text", "words"), [("folder:toys", "classes of images, not boxes"), ("camvid:x", "label maps, not boxes")]
)
def test_data_without_boxes_are_told_apart(here, text, words):
    with pytest.raises(ConfigError, match=f"{text} has {words}"):
        parse_data_spec(text)


def test_a_spec_says_its_own_words(here):
    for text in ("voc:voc", "voc:a,b,photos=yolo,split=train,lists=sroie,base=0,outside=1"):
        assert parse_data_spec(parse_data_spec(text).text) == parse_data_spec(text)


def test_xml_files_in_a_folder_annotations_are_vocs(here):
    pathlib.Path("kaggle/annotations").mkdir(parents=True)
    pathlib.Path("kaggle/annotations/a.xml").write_text("")
    assert parse_data_spec("kaggle").kind == "voc"
    assert parse_data_spec("coco").kind == "coco"
    with pytest.raises(ConfigError, match="lists= does not apply to COCO"):
        parse_data_spec("coco:coco,lists=voc")
