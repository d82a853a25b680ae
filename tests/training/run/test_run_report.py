"""A run's page."""

import html.parser
import json
import re

import pytest

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.links.connection.linear import Linear
from cvzoo.serializers.safetensors import save_safetensors
from cvzoo.training.run.run_report import write_run_report


def fill(folder, *, keys=("main/loss", "validation/main/loss", "validation/main/map"), n=3):
    rows = [
        {
            "epoch": i + 1,
            "iteration": 10 * (i + 1),
            "elapsed_time": 1234.5 * (i + 1),
            **dict.fromkeys(keys, (i + 1) % 3 / 4),
        }
        for i in range(n)
    ]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = {
        "recipe": {"lr": 0.1, "sizes": [[1, 2]], "inner": {"name": "<b>bold</b>"}},
        "seed": 4,
        "command": {"script": "../train.py", "module": None, "arguments": ["--out", "{out}", "a b"], "folder": ".."},
    }
    (folder / "config.json").write_text(json.dumps(config))
    data = {
        "train": {"n_example": 1234, "keys": ["img", "bbox"], "label_names": ["a"], "files": "0" * 64, "content": {}},
        "val": {"n_example": 5, "keys": [], "label_names": None, "files": None, "content": {"10": "1" * 64}},
    }
    (folder / "data.json").write_text(json.dumps(data))
    (folder / "environment.json").write_text(json.dumps({"Python": "3.11"}))


class Closed(html.parser.HTMLParser):
    """Sees that every tag is closed, in order."""

    void = ("meta", "br", "img", "line", "polyline", "rect", "circle")

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        """Closed already."""

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def page_of(folder, **settings):
    text = write_run_report(folder, **settings).read_text()
    parser = Closed()
    parser.feed(text)
    assert parser.open == []
    return text


def plain_text(page):
    return re.sub(r"<[^>]*>", " ", page)


def test_a_page_has_scores_curves_and_settings(tmp_path):
    fill(tmp_path)
    page = page_of(tmp_path, best="validation/main/map", status="finished")
    text = plain_text(page)
    assert "best validation/main/map, epoch 2" in text
    assert re.search(r"main/loss\s+0\s+0\.5\s", text)  # the last row, then the best
    assert "1:01:44" in text  # the time of the last row
    assert page.count("<svg") == 2  # losses together, the score alone
    assert "python ../train.py --out FOLDER" in text
    assert "inner.name" in text
    assert "1,234" in text
    assert "each 10th" in text
    assert "Python" in text


def test_the_smallest_may_be_the_best(tmp_path):
    fill(tmp_path)
    assert "best main/loss, epoch 3" in plain_text(page_of(tmp_path, best="main/loss", best_is="smallest"))


def test_words_from_outside_are_escaped_and_nothing_is_asked_for(tmp_path):
    fill(tmp_path, keys=("main/<script>alert(1)</script>", "main/loss"))
    page = page_of(tmp_path, status="failed: <img src=x>")
    assert "<script" not in page
    assert "<b>bold" not in page
    assert "<img src=x" not in page
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)=\"?(http|//)", page)


def test_the_lines_to_use_a_model_are_told(tmp_path):
    fill(tmp_path)
    assert "load_model" not in page_of(tmp_path)
    save_safetensors(tmp_path / "best.safetensors", Linear(2, 3))
    assert "load_safetensors(&quot;best.safetensors&quot;, model)" in page_of(tmp_path)


def test_a_folder_without_files_gives_a_page(tmp_path):
    assert "Nothing was logged yet." in page_of(tmp_path)


def test_values_that_are_no_numbers_interrupt_their_curve(tmp_path):
    fill(tmp_path, n=5)
    rows = (tmp_path / "metrics.jsonl").read_text().splitlines()
    rows[2] = rows[2].replace('"main/loss": 0.0', '"main/loss": null')
    (tmp_path / "metrics.jsonl").write_text("\n".join(rows) + "\n")
    assert page_of(tmp_path).count("<polyline") == 4  # one of three curves is in two pieces


def test_more_values_than_fit_are_counted(tmp_path):
    fill(tmp_path, keys=tuple(f"main/ap/{i}" for i in range(100)))
    page = page_of(tmp_path)
    assert page.count("<svg") == 60
    assert "40 more values are in metrics.csv" in page


@pytest.mark.parametrize("name", ["metrics.jsonl", "config.json"])
def test_a_damaged_file_is_named(tmp_path, name):
    fill(tmp_path)
    (tmp_path / name).write_text("{")
    with pytest.raises(FileFormatError, match=f"{name}: is damaged"):
        write_run_report(tmp_path)
