import html.parser

import numpy as np

from cvzoo.visualizations import ReportPicture, classification_report_html, write_classification_report

RECORD = {
    "accuracy": 0.75,
    "top5_accuracy": 1.0,
    "per_class": [
        {"id": 0, "name": "<b>cat", "n_photos": 3, "accuracy": 2 / 3},
        {"id": 1, "name": "dog", "n_photos": 0, "accuracy": None},
    ],
    "counts": {"images": 4, "classes": 2},
    "notes": ["a & b"],
    "analysis": {
        "confusion": {"names": ["<b>cat", "dog"], "counts": [[2, 1], [0, 1]]},
        "confused": [{"label": "<b>cat", "guess": "dog", "count": 1, "share": 1 / 3}],
        "reliability": {
            "ece": 0.1,
            "bins": [{"low": 0.0, "high": 1.0, "count": 4, "confidence": 0.8, "precision": 0.75}],
        },
        "worst_photos": [],
    },
}
PICTURE = ReportPicture(np.zeros((3, 20, 30), np.float32), [], "x <y>")


class Parser(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.tags = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in ("meta", "rect", "image", "line", "circle", "path", "polyline"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            assert self.open.pop() == tag


def test_the_page_is_whole_and_names_are_text():
    text = classification_report_html(RECORD, pictures=[PICTURE])
    parser = Parser()
    parser.feed(text)
    assert parser.open == []
    assert "b" in parser.tags  # of the tiles
    assert "<b>cat" not in text
    for words in ("&lt;b&gt;cat", "a &amp; b", "Often confused", "Reliability", "Worst images", "x &lt;y&gt;", "0.750"):
        assert words in text


def test_what_is_missing_is_left_out():
    text = classification_report_html({"accuracy": 0.5})
    assert "Confusion" not in text
    assert "Worst images" not in text
    many = {"names": [str(i) for i in range(99)], "counts": np.eye(99, dtype=int).tolist()}
    assert "too many" in classification_report_html({"analysis": {"confusion": many}})


def test_the_file_is_written(tmp_path):
    write_classification_report(tmp_path / "r.html", RECORD, title="T")
    assert "<title>T</title>" in (tmp_path / "r.html").read_text()
