"""`cvzoo data` as a user types it."""

import html.parser
import json
import re
import shlex

import numpy as np
import pytest
from PIL import Image

from cvzoo.cli import data_anchors, data_check, data_show
from cvzoo.cli.data_report import data_report_html
from cvzoo.cli.main import main
from cvzoo.datasets.doctor.examine_dataset import examine_dataset
from cvzoo.datasets.layouts.data_spec import parse_data_spec
from cvzoo.images.read_image import read_image


@pytest.fixture
def coco(tmp_path):
    """A COCO file of three photos: one box sticks out, one image breaks off, a mask and keypoints are there."""
    root = tmp_path / "set"
    (root / "val").mkdir(parents=True)
    (root / "annotations").mkdir()
    for i in range(3):
        coarse = Image.fromarray(np.random.default_rng(i).integers(0, 256, (6, 8, 3), dtype=np.uint8))
        coarse.resize((80, 60), Image.Resampling.BICUBIC).save(root / f"val/{i}.jpg", quality=95)
    (root / "val/2.jpg").write_bytes((root / "val/2.jpg").read_bytes()[:-300])
    rows = [(1, [10, 10, 30, 20]), (1, [60, 5, 40, 20]), (2, [1, 2, 30, 40]), (3, [5, 5, 9, 9])]
    annotations = [
        {"id": i + 1, "image_id": image, "category_id": 1 + i % 2, "bbox": box, "area": box[2] * box[3], "iscrowd": 0}
        for i, (image, box) in enumerate(rows)
    ]
    annotations[0] |= {
        "segmentation": [[10, 10, 40, 10, 40, 30]],
        "keypoints": [12, 13, 2, 0, 0, 0],
        "num_keypoints": 1,
    }
    file = {
        "images": [{"id": i + 1, "file_name": f"{i}.jpg", "height": 60, "width": 80} for i in range(3)],
        "annotations": annotations,
        "categories": [{"id": 1, "name": "<b>cat</b>"}, {"id": 2, "name": "dog"}],
    }
    path = root / "annotations/instances_val.json"
    path.write_text(json.dumps(file))
    return path


@pytest.fixture
def run(capsys):
    def run(*words):
        status = main(["data", *map(str, words)])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def test_faults_are_told_with_their_places_and_remedies(run, coco):
    status, out, err = run("check", f"coco:{coco}")
    assert status == 1
    assert "error: photo-truncated (1)" in out
    assert "0.jpg, object 1: (60, 5, 40, 20) in an image of 60 x 80 (H x W), by 20 pixels" in out
    assert "--fix: clipped to the image" in out
    assert out.splitlines()[-2] == "1 error, 1 warning"
    assert "3 of 3 images" in err


def test_json_holds_every_finding(run, coco, tmp_path):
    status, out, _ = run("check", f"coco:{coco}", "--json", "-", "--quiet")
    record = json.loads(out)
    assert status == 1
    assert record["counts"] == {"photo-truncated": 1, "box-outside": 1}
    assert {"kind", "severity", "photo", "annotation", "others", "message", "fix"} == set(record["findings"][0])
    run("check", f"coco:{coco}", "--json", tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text()) == record


def test_the_corrected_copy_is_clean(run, coco, tmp_path):
    status, _, err = run("check", f"coco:{coco}", "--fix", tmp_path / "out")
    assert status == 0
    assert "corrected copy" in err
    assert "checked again: no faults left" in err
    status, out, _ = run("check", f"coco:{tmp_path / 'out'}")
    assert status == 0, out
    assert "no faults were found" in out
    assert "clipped to the image" in (tmp_path / "out/fix-log.txt").read_text()


def test_a_corrected_copy_with_something_left_to_decide_has_status_1(run, coco, tmp_path):
    file = json.loads(coco.read_text())
    file["annotations"][2]["bbox"] = [1, 2, 30, 0.5]
    coco.write_text(json.dumps(file))
    status, _, err = run("check", coco, "--fix", tmp_path / "out")
    assert status == 1
    assert "to be decided by you: box-sliver (1)" in err


def test_the_command_for_a_corrected_copy_can_be_pasted(run, coco, monkeypatch):
    spec = f"coco:{coco},photos={coco.parents[1] / 'val'}"
    _, out, _ = run("check", spec)
    words = shlex.split(out.rstrip().splitlines()[-1].partition(": ")[2])
    assert words[:3] == ["cvzoo", "data", "check"]
    assert run(*words[2:])[0] == 0
    assert (coco.parents[2] / "set_fixed/annotations").is_dir()
    _, out, _ = run("check", spec)
    assert out.rstrip().endswith("set_fixed2")
    assert "--fix" not in run("check", coco.parents[2] / "set_fixed")[1]
    monkeypatch.chdir(coco.parents[1])
    assert run("check", "coco:.")[1].rstrip().endswith("--fix ../set_fixed2")


def test_a_place_for_the_copy_that_is_taken_is_told_before_the_data_are_examined(run, coco, tmp_path, monkeypatch):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken/file").write_text("")
    monkeypatch.setattr(data_check, "examine_dataset", lambda *_, **__: pytest.fail("examined"))
    status, _, err = run("check", coco, "--fix", tmp_path / "taken")
    assert status == 2
    assert "already exists" in err


def test_files_that_cannot_be_written_are_told_before_the_data_are_read(run, coco, tmp_path, monkeypatch):
    for module in (data_check, data_show, data_anchors):
        for name in ("examine_dataset", "read_annotated_set"):
            if name in vars(module):
                monkeypatch.setattr(module, name, lambda *_, **__: pytest.fail("read"))
    for words in (
        ("check", coco, "--report", tmp_path / "no/r.html"),
        ("check", coco, "--json", tmp_path),
        ("show", coco, tmp_path / "no/s.png"),
        ("show", coco, "sheet.tar"),
        ("anchors", coco, "--json", tmp_path / "no/a.json"),
    ):
        assert run(*words)[0] == 2, words


def test_pictures_mark_the_object_at_fault(coco, tmp_path):
    def marked(spec):
        text = data_report_html(examine_dataset(parse_data_spec(spec)))
        rects = re.findall(r'<rect x="([\d.-]+)" y="([\d.-]+)" width="([\d.]+)" height="([\d.]+)"[^>]*#ff3b30', text)
        return [tuple(map(float, each)) for each in rects]

    file = json.loads(coco.read_text())
    file["annotations"] = file["annotations"][:1]
    (tmp_path / "set/val/2.jpg").unlink()
    for bbox, expected in (
        ([40, 30, 0, 0], (35, 25, 10, 10)),  # no area
        ([40, 59, 10, 0], (40, 50, 10, 10)),  # at the edge
        ([100, 10, 30, 20], (70, 10, 10, 20)),  # beyond it
        ([50, 30, -20, -10], (30, 20, 20, 10)),  # upside down
    ):
        file["annotations"][0] = {"id": 1, "image_id": 1, "category_id": 1, "bbox": bbox, "area": 0, "iscrowd": 0}
        coco.write_text(json.dumps(file))
        assert expected in marked(f"coco:{coco}"), bbox
    yolo = tmp_path / "yolo"
    for folder in ("images", "labels"):
        (yolo / folder).mkdir(parents=True)
    (tmp_path / "set/val/0.jpg").rename(yolo / "images/0.jpg")
    (yolo / "labels/0.txt").write_text("0 40 30 20 10\n0 0.5 0.5 0.5 0.5\n0 20 20 10 10\n")
    (yolo / "classes.txt").write_text("cat\n")
    assert marked(f"yolo:{yolo}") == [(30, 25, 20, 10), (15, 15, 10, 10)]


def test_nothing_that_a_terminal_obeys_is_printed(run, coco, tmp_path):
    names = ["\x1b]0;x\x07", "\x1b[31mred"]
    file = json.loads(coco.read_text())
    for each, name in zip(file["categories"], names):
        each["name"] = name
    (tmp_path / f"set/val/0{names[1]}.jpg").write_bytes(b"no photo")
    file["images"][0]["file_name"] = f"0{names[1]}.jpg"
    odd = coco.with_name(f"{names[1]}.json")
    odd.write_text(json.dumps(file))
    odd = f"coco:{odd},photos={tmp_path / 'set/val'}"
    printed = []
    for words in (
        ("check", odd, "--all", "--report", tmp_path / "\x1b.html"),
        ("check", odd, "--fix", tmp_path / "\x1bfix"),
        ("convert", odd, tmp_path / "\x1bout", "--to", "yolo"),
        ("show", odd, tmp_path / "\x1b.png"),
        ("anchors", odd),
    ):
        printed += run(*words)[1:]
    assert "\\x1b" in "".join(printed)
    assert "\x1b" not in "".join(printed)


def test_what_is_ignored_does_not_count(run, coco):
    status, out, _ = run("check", f"coco:{coco}", "--ignore", "box-outside,photo-truncated")
    assert status == 0
    assert "no faults" in out


class _Page(html.parser.HTMLParser):
    """The tags of a page, and all addresses that it would ask for."""

    def __init__(self):
        super().__init__()
        self.tags, self.addresses = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for key, value in attrs if key in ("src", "href") and not value.startswith("#")]


def test_the_report_shows_the_photos_and_asks_nobody(run, coco, tmp_path):
    run("check", f"coco:{coco}", "--report", tmp_path / "r.html", "--quiet")
    text = (tmp_path / "r.html").read_text()
    page = _Page()
    page.feed(text)
    assert page.tags.count("svg") == 1  # the truncated image has no picture
    assert all(address.startswith("data:image/jpeg;base64,") for address in page.addresses)
    assert "b" not in page.tags[page.tags.index("svg") :]
    assert "box-outside (1)" in text
    assert "by 20 pixels" in text


def test_a_set_of_broken_photos_is_unusable(run, coco):
    for path in (coco.parents[1] / "val").iterdir():
        path.write_bytes(b"no photo")
    assert run("check", f"coco:{coco}", "--quiet")[0] == 2


@pytest.mark.parametrize(
    "words",
    [
        ("check", "coco:nowhere.json"),
        ("check", "what:ever"),
        ("check", "{coco}", "--fix", "{root}/val/new"),
        ("convert", "{coco}", "{root}", "--to", "voc"),
        ("show", "{coco}", "sheet.tar"),
        ("show", "{coco}", "sheet.png", "--classes", "unicorn"),
        ("show", "{coco}", "sheet.png", "--names", "absent.jpg"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(run, coco, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, _, err = run(*(word.format(coco=coco, root=coco.parents[1]) for word in words))
    assert status == 2
    assert err.startswith("cvzoo data: error: ") or "cvzoo data: error: " in err
    assert not (tmp_path / "sheet.png").exists()


def test_words_that_make_no_sense_are_refused(run, coco):
    for words in (("check",), ("check", coco, "--ignore", "no-such-kind"), ("convert", coco, "x"), ("grow", coco), ()):
        with pytest.raises(SystemExit) as error:
            run(*words)
        assert error.value.code == 2


def test_conversion_tells_what_is_lost(run, coco, tmp_path):
    status, out, _ = run("convert", coco, tmp_path / "out", "--to", "yolo")
    assert status == 0
    assert "3 images, 4 objects as yolo" in out
    assert "areas of masks: 1, as in 0.jpg, object 0" in out
    assert "keypoints: 1" in out
    assert (tmp_path / "out/labels/0.txt").read_text().splitlines()[0].split()[0] == "0"


def test_conversion_says_that_crowds_are_left_out(run, coco, tmp_path):
    file = json.loads(coco.read_text())
    file["annotations"][1]["iscrowd"] = 1
    coco.write_text(json.dumps(file))
    _, out, _ = run("convert", coco, tmp_path / "out", "--to", "yolo", "--quiet")
    assert "3 images, 3 objects as yolo; 1 crowd dropped (--keep-crowds keeps them)" in out
    _, out, _ = run("convert", coco, tmp_path / "kept", "--to", "yolo", "--keep-crowds", "--no-polygons")
    assert "4 objects" in out
    assert "masks (polygons): 1" in out


def test_conversion_of_odd_records_has_its_own_status(run, coco, tmp_path):
    file = json.loads(coco.read_text())
    file["annotations"].append(None)
    coco.write_text(json.dumps(file))
    status, _, err = run("convert", coco, tmp_path / "out", "--to", "voc")
    assert status == 1
    assert "conversion-log.txt" in err


def test_the_contact_sheet_is_there_and_broken_photos_are_told(run, coco, tmp_path):
    status, out, err = run("show", coco, tmp_path / "sheet.png", "--side", 80, "--columns", 2)
    assert status == 1
    assert "2 of 3 images" in out
    assert "2.jpg" in err
    sheet = read_image(tmp_path / "sheet.png")
    assert sheet.shape == (3, 80 + 19 + 16, 2 * 88 + 8)
    run("show", coco, tmp_path / "plain.png", "--side", 80, "--columns", 2, "--no-boxes", "--no-masks", "--no-points")
    assert (read_image(tmp_path / "plain.png") != sheet).any()


def test_what_cannot_be_shown_for_want_of_a_photo_is_said(run, coco, tmp_path):
    (path,) = (tmp_path / "set/annotations").glob("*.json")
    (tmp_path / "set/val/1.jpg").rename(tmp_path / "outside.jpg")
    path.write_text(path.read_text().replace('"0.jpg"', '"../../outside.jpg"'))
    _, _, err = run("show", coco, tmp_path / "sheet.png")
    assert "2 images are missing or outside of the data set: ../../outside.jpg ..." in err


def test_chosen_photos_are_shown(run, coco, tmp_path):
    status, out, _ = run("show", coco, tmp_path / "sheet.png", "--names", "1.jpg", "--quiet")
    assert status == 0
    assert "1 of 3 images" in out
    assert run("show", coco, tmp_path / "first.png", "-n", 1, "--first")[0] == 0


def test_an_interruption_leaves_nothing(run, coco, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(data_check, "examine_dataset", interrupted)
    status, _, err = run("check", coco, "--fix", tmp_path / "out")
    assert status == 130
    assert "interrupted" in err
    assert not (tmp_path / "out").exists()
