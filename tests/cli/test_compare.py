"""`cvzoo compare`."""

import json

import numpy as np
import pytest
from PIL import Image

NAMES = ("cat", "dog")


@pytest.fixture
def coco(tmp_path):
    """The ground truth of 20 images with three objects each, and a function that writes results of a given skill."""
    rng = np.random.default_rng(0)
    (tmp_path / "annotations").mkdir()
    (tmp_path / "val").mkdir()
    images, annotations = [], []
    for i in range(20):
        images.append({"id": i + 1, "file_name": f"{i}.png", "width": 64, "height": 64})
        Image.fromarray(rng.integers(0, 256, (64, 64, 3), "uint8")).save(tmp_path / "val" / f"{i}.png")
        for k in range(3):
            box = [float(v) for v in (*rng.integers(0, 30, 2), *rng.integers(12, 30, 2))]
            one = {"id": 3 * i + k + 1, "image_id": i + 1, "category_id": k % 2 + 1, "bbox": box, "iscrowd": 0}
            annotations.append(one | {"area": box[2] * box[3]})
    categories = [{"id": k + 1, "name": name} for k, name in enumerate(NAMES)]
    path = tmp_path / "annotations" / "instances_val.json"
    path.write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))

    def results(name, skill, seed=1):
        rng = np.random.default_rng(seed)
        found = [
            {key: each[key] for key in ("image_id", "category_id")}
            | {"bbox": each["bbox"] if rng.random() < skill else [0.0, 0.0, 5.0, 5.0], "score": float(rng.random())}
            for each in annotations
        ]
        (tmp_path / name).write_text(json.dumps(found))
        return tmp_path / name

    return path, results


def test_two_results_are_compared_with_intervals_classes_and_changed_images(run, coco, tmp_path):
    path, results = coco
    a, b = results("a.json", 0.4), results("b.json", 0.9)
    words = (
        "--data",
        f"coco:{path}",
        "--resamples",
        200,
        "--json",
        tmp_path / "o.json",
        "--report",
        tmp_path / "r.html",
    )
    status, out, err = run("compare", a, b, *words)
    assert status == 0, err
    record = json.loads((tmp_path / "o.json").read_text())
    for side, file in (("a", a), ("b", b)):
        given = ("--gt", path, "--results", file, "--json", tmp_path / "one.json")
        assert run("evaluate", *given)[0] == 0
        alone = json.loads((tmp_path / "one.json").read_text())
        assert [row[side]["value"] for row in record["scores"]] == pytest.approx(
            [alone[key] for key in ("AP", "AP50", "AP75")]
        )
        assert [row[side]["value"] for row in record["per_class"]] == pytest.approx(
            [row["AP"] for row in alone["per_class"]]
        )
    ap = record["scores"][0]
    assert ap["difference"]["low"] > 0
    assert ap["differs"]
    assert ap["p_value"] < 0.02
    assert ap["difference"]["value"] == pytest.approx(ap["b"]["value"] - ap["a"]["value"])
    assert [row["n_objects"] for row in record["per_class"]] == [40, 20]
    better = record["changed_images"]["better"]
    assert better[0]["a"] - better[0]["b"] == max(each["a"] - each["b"] for each in better) > 0
    assert "better with B" in out
    assert record["notes"] == ["20 images are few: intervals of fewer than 30 are too narrow"]
    page = (tmp_path / "r.html").read_text()
    n = len(better) + len(record["changed_images"]["worse"])
    assert page.count("data:image/jpeg;base64,") == 2 * n
    again = run("compare", a, b, *words[:4], "--json", "-", "--quiet")[1]
    assert json.loads(again)["scores"] == record["scores"]


def test_results_do_not_differ_from_themselves(run, coco, tmp_path):
    path, results = coco
    a = results("a.json", 0.6)
    assert run("compare", a, a, "--gt", path, "--resamples", 50, "--json", tmp_path / "o.json")[0] == 0
    record = json.loads((tmp_path / "o.json").read_text())
    assert not any(row["differs"] for row in record["scores"] + record["per_class"])
    assert record["changed_images"]["better"] == record["changed_images"]["worse"] == []


def test_vocs_metric_and_a_model_on_one_side(run, coco, net, tmp_path):
    path, results = coco
    words = ("--data", f"coco:{path}", "--resamples", 20, "--metric", "voc", "--json", tmp_path / "o.json")
    rows = ["photo,label,score,x,y,width,height"]
    rows += [
        ",".join(
            map(str, (f"{each['image_id'] - 1}.png", NAMES[each["category_id"] - 1], each["score"], *each["bbox"]))
        )
        for each in json.loads(results("a.json", 0.9).read_text())
    ]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    assert run("convert", *net, "--to", tmp_path / "net.safetensors")[0] == 0
    status, _, err = run("compare", tmp_path / "a.csv", tmp_path / "net.safetensors", *words, "--device", "cpu")
    assert status == 0, err
    record = json.loads((tmp_path / "o.json").read_text())
    given = ("--gt", path, "--results", tmp_path / "a.csv", "--metric", "voc", "--json", tmp_path / "one.json")
    assert run("evaluate", *given)[0] == 0
    assert record["scores"][0]["a"]["value"] == pytest.approx(json.loads((tmp_path / "one.json").read_text())["map"])
    assert record["scores"][0]["b"]["value"] < 0.5


@pytest.mark.parametrize("metric", ["coco", "voc"])
def test_a_model_that_cannot_be_opened_is_refused_before_the_other_side_is_evaluated(run, coco, tmp_path, metric):
    path, _ = coco
    (tmp_path / "a.json").write_text("no JSON")  # which an evaluation would stumble over
    (tmp_path / "cut.safetensors").write_bytes((1 << 40).to_bytes(8, "little") + b"{")
    words = ("--data", f"coco:{path}", "--metric", metric)
    for b in ("no_such_model", "cut.safetensors"):
        status, _, err = run("compare", tmp_path / "a.json", b if "_" in b else tmp_path / b, *words)
        assert status == 2
        assert b in err.splitlines()[0]


def test_label_maps_are_compared(run, tmp_path):
    rng = np.random.default_rng(0)
    for name in ("gt", "a", "b"):
        (tmp_path / name).mkdir()
    for i in range(8):
        gt = rng.integers(0, 3, (20, 20)).astype(np.uint8)
        other = np.where(rng.random((20, 20)) < 0.3, rng.integers(0, 3, (20, 20)), gt).astype(np.uint8)
        for name, label in (("gt", gt), ("a", other), ("b", gt if i else other)):
            Image.fromarray(label).save(tmp_path / name / f"{i}.png")
    words = ("--gt", f"labels:{tmp_path / 'gt'}", "--json", tmp_path / "o.json", "--report", tmp_path / "r.html")
    status, _, err = run("compare", tmp_path / "a", tmp_path / "b", *words, "--resamples", 50)
    assert status == 0, err
    record = json.loads((tmp_path / "o.json").read_text())
    assert [row["name"] for row in record["scores"]] == ["miou", "pixel_accuracy"]
    assert record["scores"][0]["differs"]
    assert len(record["changed_images"]["better"]) == 7
    assert (tmp_path / "r.html").read_text().count("data:image/jpeg;base64,") == 7


def test_classes_are_compared(run, tmp_path):
    rng = np.random.default_rng(0)
    for name in NAMES:
        (tmp_path / "root" / name).mkdir(parents=True)
        for i in range(10):
            Image.fromarray(rng.integers(0, 256, (8, 8, 3), "uint8")).save(tmp_path / "root" / name / f"{name}{i}.png")
    for file, n_wrong in (("a", 4), ("b", 0)):
        rows = [
            f"{name}{i}.png,{NAMES[1 - k] if i < n_wrong else name},0.8"
            for k, name in enumerate(NAMES)
            for i in range(10)
        ]
        (tmp_path / f"{file}.csv").write_text("\n".join(["photo,label,score", *rows]))
    words = ("--gt", f"folder:{tmp_path / 'root'}", "--json", tmp_path / "o.json", "--report", tmp_path / "r.html")
    status, _, err = run("compare", tmp_path / "a.csv", tmp_path / "b.csv", *words, "--resamples", 50)
    assert status == 0, err
    record = json.loads((tmp_path / "o.json").read_text())
    assert record["scores"][0]["a"]["value"] == 0.6
    assert [each["b"] for each in record["changed_images"]["better"]] == [0.8] * 8
    assert record["per_class"][0]["n_images"] == 10


def test_panoptic_segmentations_are_compared(run, tmp_path):
    categories = [{"id": 1, "isthing": 1, "name": "cat"}, {"id": 9, "isthing": 0, "name": "sky"}]
    for name, gap in (("gt", 0), ("a", 12), ("b", 2)):
        (tmp_path / name).mkdir()
        records = []
        for i in range(6):
            ids = np.zeros((30, 40, 3), np.uint8)
            ids[: 20 - gap, :, 0], ids[20 - gap :, :, 1] = 5, 1
            Image.fromarray(ids).save(tmp_path / name / f"{i}.png")
            segments = [{"id": 5, "category_id": 9}, {"id": 256, "category_id": 1}]
            records.append({"image_id": i, "file_name": f"{i}.png", "segments_info": segments})
        (tmp_path / f"{name}.json").write_text(json.dumps({"annotations": records, "categories": categories}))
    words = ("--gt", f"panoptic:{tmp_path / 'gt.json'}", "--json", tmp_path / "o.json", "--resamples", 20)
    status, _, err = run("compare", tmp_path / "a.json", tmp_path / "b.json", *words)
    assert status == 0, err
    record = json.loads((tmp_path / "o.json").read_text())
    for side in ("a", "b"):
        given = ("--gt", words[1], "--results", tmp_path / f"{side}.json", "--json", tmp_path / "one.json")
        assert run("evaluate", *given)[0] == 0
        assert record["scores"][0][side]["value"] == pytest.approx(
            json.loads((tmp_path / "one.json").read_text())["pq"]
        )
    assert len(record["changed_images"]["better"]) == 6


def test_what_cannot_be_compared_is_said(run, coco, tmp_path):
    path, results = coco
    a = results("a.json", 0.5)
    (tmp_path / "nan.json").write_text(a.read_text().replace('"score": 0.', '"score": NaN, "x": 0.', 1))
    (tmp_path / "text.json").write_text("hello")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "best.safetensors").touch()
    truth = ("--gt", path)
    for words, says in (
        ((a, a), "needs one ground truth"),
        ((tmp_path / "run", a, *truth), f"try:      {tmp_path / 'run' / 'best.safetensors'}"),
        ((a, tmp_path / "absent.json", *truth), "absent.json does not exist"),
        ((a, "yolo_fastest", *truth), "is a model and needs images"),
        ((a, tmp_path / "nan.json", *truth), "got:      nan"),
        ((a, tmp_path / "text.json", *truth), "JSON"),
        ((a, a, *truth, "--confidence", 1), "--confidence or --resamples is out of range"),
        ((a, a, *truth, "--ignore", 3), "--ignore applies to label maps only"),
        ((a, a, *truth, "--iou-type", "segm"), "segmentation"),
        ((a, a, *truth, "--metric", "miou"), "applies to label maps"),
        ((a, a, "--gt", f"folder:{tmp_path}"), "no column for the photo"),
        ((a, a, *truth, "--report", tmp_path), "is a folder"),
    ):
        status, out, err = run("compare", *words)
        assert (status, out) == (2, ""), words
        assert says in err, (words, err)
