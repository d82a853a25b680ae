import numpy as np

from cvzoo.visualizations import ReportPicture, segmentation_report_html, write_segmentation_report

RECORD = {
    "miou": 0.5,
    "per_class": [
        {"id": 0, "name": "<sky>", "n_pixels": 30, "iou": 0.5, "accuracy": 0.6},
        {"id": 1, "name": "car", "n_pixels": 0, "iou": None, "accuracy": None},
    ],
    "counts": {"images": 1},
    "notes": ["x < y"],
    "analysis": {"confusion": {"names": ["<sky>", "car"], "counts": [[30, 0], [0, 0]]}},
}


def test_the_page_holds_scores_classes_and_pictures(tmp_path):
    picture = ReportPicture(np.zeros((3, 9, 30), np.float32), [], "photo <1>")
    write_segmentation_report(tmp_path / "r.html", RECORD, pictures=[picture], title="maps")
    text = (tmp_path / "r.html").read_text()
    for words in ("0.500", "&lt;sky&gt;", "x &lt; y", "photo &lt;1&gt;", "<title>maps</title>", "100.0%", "ted: car"):
        assert words in text
    assert "<sky>" not in text


def test_what_is_missing_is_left_out():
    text = segmentation_report_html({"miou": None})
    assert "Confusion" not in text
    assert "Worst" not in text
