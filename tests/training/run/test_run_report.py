"""A run's page."""

import html.parser
import json
import re

import pytest

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.links.connection.linear import Linear
from cvzoo.reporting.plot_figure import COLORS
from cvzoo.serializers.safetensors import save_safetensors
from cvzoo.training.run.anchor_reach import write_anchor_reach
from cvzoo.training.run.run_report import write_run_report
from cvzoo.training.run.run_status import RunStatus, write_status


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


def curves(page):
    """The paths of the plots' curves, without the lines of legends."""
    return re.findall(rf'<path d="([^"]*)" clip-path="[^"]*" style="fill: none; stroke: (?:{"|".join(COLORS)})', page)


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


def test_of_equal_scores_the_last_is_the_best_as_of_models(tmp_path):
    fill(tmp_path, n=5)
    assert "best main/loss, epoch 5" in plain_text(page_of(tmp_path, best="main/loss"))


def test_the_smallest_may_be_the_best(tmp_path):
    fill(tmp_path)
    assert "best main/loss, epoch 3" in plain_text(page_of(tmp_path, best="main/loss", best_is="smallest"))


def test_a_curve_begins_with_one_point(tmp_path):
    fill(tmp_path, n=1)
    assert len(re.findall(rf"<use [^>]*fill: (?:{'|'.join(COLORS)})", page_of(tmp_path))) == 3


def test_losses_are_drawn_before_an_epoch_ends(tmp_path):
    fill(tmp_path, n=0)
    rows = [{"epoch": 0, "iteration": i, "elapsed_time": 1.0, "main/loss": 1 / i} for i in (1, 2, 3)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "iterations.jsonl").write_text(text + '{"epoch": 0, "iter')  # torn by a kill
    page = page_of(tmp_path)
    assert "No epoch is complete yet." in page
    assert len(curves(page)) == 1


def test_the_recipe_stands_above_a_networks_settings_and_the_seed_once(tmp_path):
    fill(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config["recipe"] = {"settings": {"depth": 18}, "lr": 0.1, "seed": 4}
    (tmp_path / "config.json").write_text(json.dumps(config))
    page = page_of(tmp_path)
    assert page.count(">seed<") == 1
    assert page.index(">lr<") < page.index(">command<") < page.index("<summary>settings: 1 more") < page.index(".depth")


def fill_classes(folder, names, *, n=3):
    keys = [f"validation/main/{kind}/{name}" for kind in ("ap", "iou") for name in names]
    fill(folder, keys=("validation/main/map", *keys), n=n)
    data = {"val": {"n_example": 1, "keys": [], "label_names": names, "files": None, "content": {}}}
    (folder / "data.json").write_text(json.dumps(data))


def test_scores_of_classes_have_a_table_of_their_own(tmp_path):
    fill_classes(tmp_path, ["car", "a/b & c", "map", "bus"])
    page = page_of(tmp_path, best="validation/main/map")
    text = plain_text(page)
    assert "By class" in text
    for head in ("ap, last", "iou, last", "ap, best", "iou, best"):
        assert head in text
    assert re.search(r"a/b &amp; c\s+0\.000\s+0\.500\s+0\.000\s+0\.500", text)
    assert "validation/main/ap/car" not in text  # in no row of the other table, and in no plot
    assert page.count("<svg") == 1  # of the mAP: four classes have eight scores


def test_few_classes_are_plotted_as_well(tmp_path):
    fill_classes(tmp_path, ["car", "bus"])
    assert page_of(tmp_path).count("<svg") == 5


def test_the_classes_of_the_last_validation_are_shown_where_the_last_epoch_had_none(tmp_path):
    fill_classes(tmp_path, ["car"])
    lines = (tmp_path / "metrics.jsonl").read_text()
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write(json.dumps({"epoch": 9, "iteration": 90, "elapsed_time": 9.0, "main/loss": 1.0}) + "\n")
    assert lines
    assert re.search(r"car\s+0\.000\s+0\.000", plain_text(page_of(tmp_path)))


def test_the_anchors_reach_is_in_the_page(tmp_path):
    fill(tmp_path)
    assert "Anchors" not in plain_text(page_of(tmp_path))
    counts = {"n_box": 4, "reached": 0.25, "mean_iou": 0.4}
    rows = [{"name": "<cat>", **counts}, {"name": "dog", "n_box": 0, "reached": None, "mean_iou": None}]
    write_anchor_reach(tmp_path, {"thresh": 0.5, "n_image": 2, **counts, "classes": rows, "sizes": rows[:1]})
    text = plain_text(page_of(tmp_path))
    assert "25.0% of 4 boxes in 2 augmented training images have an anchor with an IoU of 0.5 or more" in text
    assert "cvzoo data anchors" in text
    assert "&lt;cat&gt;" in text
    assert "dog" not in text


def test_images_that_were_drawn_are_in_the_page(tmp_path):
    fill(tmp_path)
    (tmp_path / "images").mkdir()
    (tmp_path / "images/first_batch.jpg").write_bytes(b"\xff\xd8")
    page = page_of(tmp_path)
    assert 'src="data:image/jpeg;base64,/9g="' in page
    assert "the first batch, with data augmentation" in plain_text(page)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("running", "process has ended"),
        ("killed", "The process was killed, or the machine stopped"),
        ("stopped by SIGTERM", "Resume with"),
    ],
)
def test_a_run_that_has_not_finished_says_when_it_last_lived_and_how_to_resume(tmp_path, state, words):
    fill(tmp_path)
    write_status(tmp_path, RunStatus(state=state, epoch=1.5, iteration=15, resume_with="train --resume <x>"))
    page = page_of(tmp_path)
    assert re.search(rf"{state}, \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d UTC;", page)
    assert words in page
    assert "<pre>train --resume &lt;x&gt;</pre>" in page


def test_a_finished_run_asks_for_nothing(tmp_path):
    fill(tmp_path)
    write_status(tmp_path, RunStatus(state="finished", epoch=3, iteration=30, resume_with="train --resume"))
    assert "train --resume" not in page_of(tmp_path)


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
    assert "No epoch is complete yet." in page_of(tmp_path)


def test_values_that_are_no_numbers_interrupt_their_curve(tmp_path):
    fill(tmp_path, n=5)
    rows = (tmp_path / "metrics.jsonl").read_text().splitlines()
    rows[2] = rows[2].replace('"main/loss": 0.0', '"main/loss": null')
    (tmp_path / "metrics.jsonl").write_text("\n".join(rows) + "\n")
    # one of three curves is in two pieces
    assert sorted(each.count("M ") for each in curves(page_of(tmp_path))) == [1, 1, 2]


def test_more_values_than_fit_are_counted(tmp_path):
    fill(tmp_path, keys=tuple(f"main/ap/{i}" for i in range(100)))
    page = page_of(tmp_path)
    assert page.count("<svg") == 60
    assert "40 more values are in metrics.csv" in page


@pytest.mark.parametrize("name", ["metrics.jsonl", "config.json", "status.json"])
def test_a_damaged_file_is_named(tmp_path, name):
    fill(tmp_path)
    (tmp_path / name).write_text("{\n")
    with pytest.raises(FileFormatError, match=f"{name} is damaged"):
        write_run_report(tmp_path)
