import base64
import hashlib
import html.parser
import re

import numpy as np
import pytest

from cvzoo.visualizations.report.detection_report import ReportPicture, detection_report_html, write_detection_report
from cvzoo.visualizations.report.page import Markup, bar, report_page, score, table
from cvzoo.visualizations.svg.photo_overlay import OverlayBox

RECORD = {
    "AP": 0.25,
    "AP50": 0.5,
    "APs": -1.0,
    "per_class": [
        {"name": "cat <b>", "n_objects": 3, "AP": 0.5, "AP50": 0.75, "AP75": None, "AR": 0.5},
        {"name": "dog", "n_objects": 0, "AP": None, "AP50": None, "AP75": None, "AR": None},
    ],
    "counts": {"images": 2, "objects": 3},
    "notes": ["gt_id_zero: <i>"],
    "analysis": {
        "iou_thresh": 0.5,
        "pr_curves": {
            "recall": [0, 1], "mean": {"0.50": [1, 0.5]}, "classes": [{"label": "cat <b>", "precision": [1, 0]}],
        },
        "thresholds": {
            "wished_precision": 0.9,
            "classes": [
                {"label": "cat <b>", "f1": 0.7, "f1_score": 0.3, "f1_precision": 0.8, "f1_recall": 0.6,
                 "wished_score": None, "wished_recall": None},
            ],
        },
        "errors": {
            "iou_thresh": 0.5, "ap": 0.5, "dap_fp": 0.1, "dap_fn": None,
            "types": [{"type": "missed", "count": 2, "dap": None}, {"type": "duplicate", "count": 1, "dap": 0.1}],
        },
        "confusion": {
            "names": ["cat <b>", "dog", "background"], "counts": [[1, 0, 2], [0, 0, 0], [1, 0, 0]],
            "score_thresh": [0.3, None], "iou_thresh": 0.5,
        },
        "reliability": {
            "iou_thresh": 0.5, "ece": 0.1,
            "bins": [
                {"low": 0, "high": 0.5, "count": 0, "confidence": None, "precision": None},
                {"low": 0.5, "high": 1, "count": 4, "confidence": 0.75, "precision": 0.5},
            ],
        },
    },
}  # fmt: skip
PICTURE = ReportPicture(np.zeros((3, 20, 30), np.float32), [OverlayBox((1, 2, 9, 9), "<cat>", "red")], "a<.jpg")

VOID = {"meta", "br", "img", "input", "link"}


class Checker(html.parser.HTMLParser):
    """Tags close in their order; addresses are collected."""

    def __init__(self):
        super().__init__()
        self.open, self.addresses = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href", "srcset", "action")]

    def handle_startendtag(self, tag, attrs):
        self.addresses += [value for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def checked(text):
    checker = Checker()
    checker.feed(text)
    assert checker.open == []
    return checker


@pytest.fixture(scope="module")
def page():
    return detection_report_html(RECORD, pictures=[PICTURE])


def test_the_page_is_whole_and_asks_nobody_for_anything(page):
    for address in checked(page).addresses:
        assert address.startswith(("#", "data:image/jpeg;base64,"))
    assert "default-src 'none'" in page
    assert page.count("<script>") == 1
    assert not re.search(r"https?://|@import|url\((?!#)", page)  # url(#name) is a shape of the page itself


def test_every_part_is_there(page):
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    assert headings == [
        "Scores", "Classes", "Precision and recall", "Kinds of errors", "Confusion", "Reliability of scores",
        "Worst images",
    ]  # fmt: skip
    assert "Without objects: dog" in page
    assert "2 images, 3 objects" in page
    assert "score for precision 0.9" in page


def test_no_script_may_run_but_the_one_that_sorts(page):
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]
    allowed = re.findall(r"script-src ([^;\"]*)", page)
    assert allowed == [f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"]
    assert "script" not in report_page("plain", "", [("a", table(("x",), [(1,)]))])


def test_classes_stand_in_a_stated_order_under_heads_that_can_be_clicked():
    rows = [{"name": name, "n_objects": 1, "AP": ap} for name, ap in (("a", 0.2), ("b", None), ("c", 0.9), ("d", 0.2))]
    text = detection_report_html({"per_class": rows})
    assert re.findall(r"<tr><td>(.)</td>", text) == ["c", "a", "d", "b"]
    assert "Sorted by AP, the best first" in text
    assert '<th aria-sort="descending"><button>AP</button></th>' in text
    # the number stands at the end of its cell, below the right-aligned head
    assert re.search(r'<td><span class="track">.*</span> 0.900</td>', text)


def test_the_page_says_what_was_evaluated_and_how():
    text = detection_report_html({"AP": 0.5}, about={"model": "net <1>", "command": "cvzoo evaluate 'a b'"})
    checked(text)
    assert "<dt>model</dt><dd>net &lt;1&gt;</dd>" in text
    assert "cvzoo evaluate &#x27;a b&#x27;" in text


def test_names_from_outside_are_escaped(page):
    assert "cat <b>" not in page
    assert "cat &lt;b&gt;" in page
    assert "gt_id_zero: &lt;i&gt;" in page
    assert "a&lt;.jpg" in page


@pytest.mark.parametrize("part", ["pr_curves", "thresholds", "errors", "confusion", "reliability"])
def test_each_part_of_the_analysis_may_be_missing(part):
    analysis = {key: value for key, value in RECORD["analysis"].items() if key != part}
    checked(detection_report_html(RECORD | {"analysis": analysis}))


@pytest.mark.parametrize("record", [{}, {"map": 0.5}, {"map": -1.0, "per_class": [], "analysis": None}])
def test_scores_alone_make_a_page(record):
    text = detection_report_html(record)
    checked(text)
    assert "Kinds of errors" not in text


def test_an_explanation_stands_with_the_scores():
    assert "comes from: use_cats" in detection_report_html(
        RECORD | {"explanation": {"verdict": "comes from: use_cats"}}
    )


def test_the_file_is_what_the_text_is(tmp_path, page):
    write_detection_report(tmp_path / "r.html", RECORD, pictures=[PICTURE])
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == page
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


def test_a_photos_name_that_is_no_unicode_does_not_stop_the_writing(tmp_path):
    write_detection_report(tmp_path / "r.html", {"notes": ["\udcff.jpg"]})
    assert "?.jpg" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("value", "text"), [(0.12345, "0.123"), (None, "–"), (-1, "–"), (float("nan"), "–"), (0, "0.000")]
)
def test_a_score_that_is_none_is_a_dash(value, text):
    assert score(value) == text
    assert bar(value).endswith(text)


def test_cells_are_text_unless_they_are_markup():
    text = table(["<a>"], [["<b>"], [Markup("<i>x</i>")]])
    assert "&lt;a&gt;" in text
    assert "&lt;b&gt;" in text
    assert "<i>x</i>" in text
