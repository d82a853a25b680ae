"""`cvzoo evaluate` as a user types it."""

import argparse
import gzip
import json
import math
import re

import numpy as np
import pytest
from PIL import Image

from cvzoo.cli import evaluate
from cvzoo.cli.evaluate_coco import category_ids
from cvzoo.cli.options.evaluate import add_arguments
from cvzoo.cli.truth import COCOTruth
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.summarize import BOX_KEYS
from cvzoo.geometry.rle import RLEs

KEYS = [*BOX_KEYS]


@pytest.fixture
def coco(tmp_path):
    """ROOT/annotations/instances_val.json with images in ROOT/val: two images, three cats and a dog, one a crowd."""
    (tmp_path / "annotations").mkdir()
    (tmp_path / "val").mkdir()
    sizes = {"width": 60, "height": 40}
    images = [{"id": 3, "file_name": "a.jpg"} | sizes, {"id": 8, "file_name": "b.png"} | sizes]
    for image in images:
        pixels = np.random.default_rng(image["id"]).integers(0, 256, (40, 60, 3), "uint8")
        Image.fromarray(pixels).save(tmp_path / "val" / image["file_name"])
    rows = [
        (3, 1, [10, 5, 20, 20], 0),
        (3, 2, [30, 10, 10, 10], 0),
        (8, 1, [0, 0, 30, 40], 0),
        (8, 1, [20, 20, 40, 20], 1),
    ]
    annotations = [
        {"id": i + 1, "image_id": image, "category_id": cat, "bbox": bbox, "area": bbox[2] * bbox[3], "iscrowd": crowd}
        for i, (image, cat, bbox, crowd) in enumerate(rows)
    ]
    table = {
        "images": images,
        "annotations": annotations,
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}, {"id": 5, "name": "fox"}],
    }
    path = tmp_path / "annotations" / "instances_val.json"
    path.write_text(json.dumps(table))
    return path


RESULTS = [
    {"image_id": 3, "category_id": 1, "bbox": [10, 5, 20, 20], "score": 0.9},
    {"image_id": 3, "category_id": 2, "bbox": [30, 10, 10, 9], "score": 0.8},
    {"image_id": 8, "category_id": 1, "bbox": [40, 0, 10, 10], "score": 0.95},
    {"image_id": 8, "category_id": 1, "bbox": [0, 0, 30, 39], "score": 0.5},
]


@pytest.fixture
def results(tmp_path):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(RESULTS))
    return path


def scores_of(out):
    """The summary's lines as numbers; NaN for a dash."""
    lines = [line.split() for line in out.splitlines()]
    return {
        line[0]: math.nan if line[1] == "-" else float(line[1])
        for line in lines
        if line and line[0] in KEYS and line[1] not in KEYS
    }


def test_somebodys_results_get_twelve_numbers_and_ap_by_class(run, coco, results, tmp_path):
    status, out, _ = run("evaluate", "--gt", coco, "--results", results, "--json", tmp_path / "out.json")
    assert status == 0
    record = json.loads((tmp_path / "out.json").read_text())
    assert list(scores_of(out)) == KEYS
    assert [round(record[key], 4) for key in KEYS if record[key] >= 0] == [v for v in scores_of(out).values() if v == v]
    by_name = {each["name"]: each for each in record["per_class"]}
    # cats: the surest is wrong, then two hits: at every recall the best precision is 2/3
    assert by_name["cat"]["AP50"] == pytest.approx(2 / 3)
    assert by_name["dog"]["AP50"] == pytest.approx(1)
    assert by_name["fox"]["AP"] is None
    assert record["AP50"] == pytest.approx((2 / 3 + 1) / 2)
    assert record["counts"] == {"images": 2, "objects": 3, "detections": 4, "classes": 3}
    assert "cat" in out
    assert "fox" in out


def test_csv_and_voc_files_score_as_json_does(run, coco, results, tmp_path):
    names = {1: "cat", 2: "dog"}
    photos = {3: "a.jpg", 8: "b.png"}
    lines, voc = ["photo,label,score,x,y,width,height"], {"cat": [], "dog": []}
    for each in RESULTS:
        x, y, width, height = each["bbox"]
        name, photo = names[each["category_id"]], photos[each["image_id"]]
        lines.append(f"{photo},{name},{each['score']},{x},{y},{width},{height}")
        voc[name].append(f"{photo[0]} {each['score']} {x + 1} {y + 1} {x + width} {y + height}")
    (tmp_path / "r.csv").write_text("\n".join(lines))
    (tmp_path / "voc").mkdir()
    for name, found in voc.items():
        (tmp_path / "voc" / f"comp4_det_val_{name}.txt").write_text("\n".join(found))
    expected = run("evaluate", "--gt", coco, "--results", results)
    assert expected[0] == 0
    assert run("evaluate", "--gt", coco, "--results", tmp_path / "r.csv") == expected
    assert run("evaluate", "--gt", f"coco:{coco}", "--results", tmp_path / "voc") == expected


def test_a_model_is_scored_reported_and_its_results_are_kept(run, net, coco, tmp_path):
    words = ("--data", f"coco:{coco}", "--json", tmp_path / "o.json", "--report", tmp_path / "r.html")
    status, out, err = run("evaluate", *net, *words, "--save-results", tmp_path / "found.json")
    assert status == 0, err
    assert "2 of 2 images" in err
    record = json.loads((tmp_path / "o.json").read_text())
    assert record["counts"]["detections"] > 0
    again = run(
        "evaluate", "--gt", coco, "--results", tmp_path / "found.json", "--explain", tmp_path / "o.json", "--quiet"
    )
    assert again[0] == 0
    assert scores_of(again[1])["AP50"] == pytest.approx(scores_of(out)["AP50"], nan_ok=True)
    assert "no difference" in again[1]
    page = (tmp_path / "r.html").read_text()
    assert page.count("data:image/jpeg;base64,") == len(record["analysis"]["worst_photos"]) > 0
    assert "http" not in page.replace("http-equiv", "")
    assert set(record["analysis"]) == {
        "iou_thresh", "pr_curves", "thresholds", "errors", "confusion", "reliability", "worst_photos"
    }  # fmt: skip


def test_a_compiled_model_gets_the_same_scores(run, net, coco, tmp_path):
    for name, words in (("plain", ()), ("compiled", ("--compile",))):
        status, _, err = run("evaluate", *net, "--data", f"coco:{coco}", "--save-results", tmp_path / name, *words)
        assert status == 0, err
    plain, compiled = (json.loads((tmp_path / name).read_text()) for name in ("plain", "compiled"))
    assert len(plain) == len(compiled) > 0
    for one, other in zip(plain, compiled):
        assert one["category_id"] == other["category_id"]
        assert one["bbox"] == pytest.approx(other["bbox"], abs=1e-3)


def test_the_rule_that_makes_a_difference_is_said(run, coco, results, tmp_path):
    run("evaluate", "--gt", coco, "--results", results, "--json", tmp_path / "o.json")
    other = json.loads((tmp_path / "o.json").read_text()) | {"AP50": 0.5, "AP": 0.5}
    (tmp_path / "other.json").write_text(json.dumps({key: other[key] for key in ("AP", "AP50")}))
    words = ("--explain", tmp_path / "other.json", "--json", tmp_path / "p.json", "--report", tmp_path / "p.html")
    status, out, _ = run("evaluate", "--gt", coco, "--results", results, *words)
    assert status == 0
    record = json.loads((tmp_path / "p.json").read_text())
    assert record["explanation"]["verdict"] in out
    assert record["explanation"]["other"] == {"AP": 0.5, "AP50": 0.5}


def test_the_first_photos_alone(run, coco, results, tmp_path):
    status, _, _ = run("evaluate", "--gt", coco, "--results", results, "--limit", 1, "--json", tmp_path / "o.json")
    assert status == 0
    record = json.loads((tmp_path / "o.json").read_text())
    assert record["counts"]["images"] == 1
    assert record["AP50"] == pytest.approx(1.0)
    assert len(record["analysis"]["worst_photos"]) == 0


def test_a_trap_is_said_and_corrected_by_name(run, coco, results):
    table = json.loads(coco.read_text())
    table["annotations"][0]["id"] = 0
    coco.write_text(json.dumps(table))
    status, out, _ = run("evaluate", "--gt", coco, "--results", results)
    assert status == 0
    assert "note: gt_id_zero" in out
    _, corrected, _ = run("evaluate", "--gt", coco, "--results", results, "--corrections", "gt_id_zero")
    assert scores_of(corrected)["AP50"] > scores_of(out)["AP50"]
    assert "(corrected)" in corrected


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"image_id": 4}, "detections[1].image_id"),
        ({"category_id": 9}, "detections[1].category_id"),
        ({"score": math.nan}, "detections[1]"),
        ({"bbox": [1, 2, -3, 4]}, "detections[1].bbox"),
        ({"bbox": [1, 2, 3]}, "detections[1]"),
        ({"score": None}, "detections[1]"),
    ],
)
def test_a_record_that_makes_no_sense_is_named_and_no_number_printed(run, coco, results, change, says):
    table = json.loads(results.read_text())
    table[1] |= change
    results.write_text(json.dumps(table))
    status, out, err = run("evaluate", "--gt", coco, "--results", results)
    assert (status, out) == (2, "")
    assert says in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "evaluate needs either"),
        (("--results", "{results}"), "evaluate needs one ground truth"),
        (("--gt", "{coco}"), "evaluate needs either"),
        (("--gt", "{coco}", "--data", "coco:{coco}", "--results", "{results}"), "evaluate needs one ground truth"),
        (("--data", "tea:{coco}", "--results", "{results}"), "is not a specification of annotated objects"),
        (("--gt", "{coco}", "--results", "{results}", "--corrections", "all"), "has an unknown name"),
        (("--gt", "{coco}", "--results", "{results}", "--save-results", "x.json"), "--save-results"),
        (("--gt", "{coco}", "--results", "{results}", "--use-07-metric"), "--metric voc"),
        (("--gt", "{coco}", "--results", "{results}", "--plus", "1"), "--plus"),
        (("--gt", "{coco}", "--results", "{results}", "--iou-thresh", "0.4"), "--iou-thresh"),
        (("--gt", "{coco}", "--results", "{results}", "--metric", "voc"), "needs names"),
        (("--gt", "{coco}", "--results", "{results}", "--split", "val"), "--split"),
        (("--gt", "{coco}", "--results", "absent.json"), "absent.json"),
        (("--gt", "absent.json", "--results", "{results}"), "absent.json"),
        (("--gt", "{coco}", "--results", "{results}", "--compile"), "--compile"),
        (("--gt", "{results}", "--results", "{results}"), "not a COCO annotation file"),
        (("--gt", "{coco}", "--results", "{coco}"), "detections"),
        (("--gt", "{coco}", "--results", "{results}", "--explain", "{results}"), "no scores"),
        (("--gt", "{coco}", "--results", "{results}", "--iou-type", "segm"), "segmentation"),
        (("--data", "coco:{coco}", "--results", "{results}", "--photos", "nowhere"), "does not exist"),
    ],
)
def test_words_that_make_no_sense_are_errors(run, coco, results, words, says):
    status, out, err = run("evaluate", *(word.format(coco=coco, results=results) for word in words))
    assert (status, out) == (2, "")
    assert says in err
    assert err.startswith("cvzoo evaluate: error: ")


def test_a_coco_folder_means_the_file_of_its_split(run, coco, results):
    root, words = coco.parent.parent, ("--results", results)
    expected = run("evaluate", "--data", f"coco:{coco}", *words)
    assert expected[0] == 0
    for spec in (f"coco:{root}", str(root), str(coco), f"coco:{root},split=val"):  # as `cvzoo data check` reads it
        assert run("evaluate", "--data", spec, *words) == expected, spec
    coco.with_name("instances_train2017.json").write_text("{}")
    status, _, err = run("evaluate", "--data", f"coco:{root}", *words)
    assert (status, f"coco:{root} has several splits\n  expected: train2017 or val" in err) == (2, True), err
    assert run("evaluate", "--data", f"coco:{root}", *words, "--split", "val") == expected
    assert "has no split test" in run("evaluate", "--data", f"coco:{root}", *words, "--split", "test")[2]
    coco.rename(coco.with_name("instances_val2017.json"))
    coco.parent.with_name("val").rename(root / "val2017")
    assert run("evaluate", "--data", f"coco:{root}", *words, "--split", "val") == expected  # of the year that is there


def truth(names, ids=(1, 2, 5)):
    empty = np.zeros(0)
    gt = COCOGroundTruth(
        img_ids=np.array([1]),
        cat_ids=np.array(ids),
        image_id=empty.astype(int),
        category_id=empty.astype(int),
        bbox=np.zeros((0, 4)),
        area=empty,
        crowd=empty.astype(bool),
        cat_names=names,
    )
    return COCOTruth(None, gt, {1: "a.jpg"})


def test_classes_are_matched_by_name_in_voc_words_too_and_by_order_only_without_names(capsys):
    known = truth(("couch", "Potted Plant", "tv"))
    assert category_ids(known, ("tvmonitor", "sofa", "pottedplant", "ufo"), 4).tolist() == [5, 1, 2, -1]
    assert "ufo" in capsys.readouterr().err
    assert category_ids(known, None, 3).tolist() == [1, 2, 5]
    with pytest.raises(ConfigError, match="4 classes without names"):
        category_ids(known, None, 4)
    with pytest.raises(ConfigError, match="no class in common"):
        category_ids(known, ("ufo",), 1)


OBJECT = "<object><name>{}</name><difficult>{}</difficult><bndbox><xmin>{}</xmin><ymin>{}</ymin><xmax>{}</xmax><ymax>{}</ymax></bndbox></object>"  # noqa: E501


@pytest.fixture
def voc(tmp_path):
    root = tmp_path / "voc"
    for folder in ("Annotations", "ImageSets/Main", "JPEGImages"):
        (root / folder).mkdir(parents=True)
    scenes = {
        "p1": [("cat", 0, 1, 1, 10, 10), ("dog", 0, 21, 11, 40, 30)],
        "p2": [("cat", 0, 5, 5, 14, 24), ("cat", 1, 31, 31, 40, 40)],
    }
    for name, objects in scenes.items():
        Image.fromarray(np.random.default_rng(len(name)).integers(0, 256, (40, 60, 3), "uint8")).save(
            root / "JPEGImages" / f"{name}.jpg"
        )
        body = "".join(OBJECT.format(*each) for each in objects)
        (root / "Annotations" / f"{name}.xml").write_text(f"<annotation>{body}</annotation>")
    (root / "ImageSets" / "Main" / "val.txt").write_text("p1\np2\n")
    (root / "results").mkdir()
    (root / "results" / "comp4_det_val_cat.txt").write_text(
        "p1 .9 1 1 10 10\np2 .8 31 31 40 40\np2 .7 50 1 60 9\np2 .6 5 5 14 24\n"
    )
    (root / "results" / "comp4_det_val_dog.txt").write_text("p1 .9 21 11 40 20\n")  # an overlap of exactly one half
    return root


def test_lists_elsewhere_are_those_that_count(run, voc, tmp_path):
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists/val.txt").write_text("p2\np1\n")
    (voc / "ImageSets/Main/val.txt").write_text("p1\n")  # its results are of both
    words = ("--gt", f"voc:{voc},lists={tmp_path / 'lists'},split=val", "--results", voc / "results")
    status, _, err = run("evaluate", *words, "--json", tmp_path / "o.json")
    assert status == 0, err
    assert json.loads((tmp_path / "o.json").read_text())["counts"]["images"] == 2


def test_voc_files_against_a_voc_folder_follow_the_kits_rules(run, voc, tmp_path):
    words = ("--gt", voc, "--split", "val", "--results", voc / "results", "--json", tmp_path / "o.json")
    status, out, err = run("evaluate", *words)
    assert status == 0, err
    record = json.loads((tmp_path / "o.json").read_text())
    by_name = {each["name"]: each for each in record["per_class"]}
    # a hit, one on a difficult object that does not count, a miss, a hit: precision 1 and 2/3
    assert by_name["cat"]["AP"] == pytest.approx(0.5 + 0.5 * 2 / 3)
    assert by_name["dog"]["AP"] == 1.0
    assert by_name["sheep"]["AP"] is None
    assert record["map"] == pytest.approx((1 + 5 / 6) / 2)
    assert "map" in out
    run("evaluate", *words, "--use-07-metric")
    assert json.loads((tmp_path / "o.json").read_text())["per_class"][7]["AP"] == pytest.approx((6 + 5 * 2 / 3) / 11)


def test_a_model_on_a_voc_folder_gets_a_report(run, net, voc, tmp_path):
    status, out, err = run("evaluate", *net, "--data", f"voc:{voc}", "--report", tmp_path / "r.html", "--limit", 1)
    assert status == 0, err
    assert "map" in out
    assert "1 of 1 image," in err
    text = (tmp_path / "r.html").read_text()
    assert "Worst images" in text
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd[^>]*>(.*?)</dd>", text))
    assert {"model", "data", "thresholds", "command", "date", "program"} <= facts.keys()
    assert facts["data"] == f"voc:{voc}"
    assert re.fullmatch(r"scores above [\d.]+, NMS at overlap [\d.]+, matches from overlap 0.5", facts["thresholds"])
    assert facts["command"].startswith("cvzoo evaluate --")
    assert facts["command"].endswith(f"--report {tmp_path / 'r.html'} --limit 1")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--save-results", "o.json"), "--save-results"),
        (("--iou-type", "segm"), "--iou-type applies to COCO"),
        (("--metric", "coco", "--iou-type", "segm"), "--iou-type segm"),
        (("--metric", "coco", "--use-07-metric"), "--metric voc"),
        (("--split", "test"), "test.txt"),
    ],
)
def test_what_voc_has_not_is_refused(run, voc, words, says):
    status, _, err = run("evaluate", "--gt", voc, "--results", voc / "results", *words)
    assert status == 2
    assert says in err


def test_cocos_numbers_for_photos_mean_nothing_in_a_voc_folder(run, voc, results):
    status, _, err = run("evaluate", "--gt", voc, "--results", results)
    assert status == 2
    assert "comp4_det" in err


def test_yolo_fastest_has_its_published_ap_on_tiny_coco(run, shared, tmp_path):
    folder = shared / "weights" / "yolo_fastest_coco"
    net = ("--cfg", folder / "yolo-fastest-1.1.cfg", "--weights", folder / "yolo-fastest-1.1.weights")
    data = f"coco:{shared / 'data' / 'tiny_coco' / 'annotations' / 'instances_train2017.json'}"
    words = ("--names", folder / "coco.names", "--data", data, "--resize", "stretch", "--quiet")
    status, out, err = run("evaluate", *net, *words)
    assert status == 0, err
    assert scores_of(out)["AP"] == pytest.approx(0.1259, abs=0.002)
    assert scores_of(out)["AP50"] == pytest.approx(0.2678, abs=0.002)


def test_a_real_case_has_the_references_numbers(run, shared, tmp_path):
    with gzip.open(shared / "eval_cases" / "open" / "real_coco100_bbox.json.gz", "rt") as file:
        case = json.load(file)
    with np.load(shared / "eval_cases" / "open" / "real_coco100_bbox.expected.npz") as file:
        expected = file["stats"]
    (tmp_path / "gt.json").write_text(json.dumps(case["gt"]))
    (tmp_path / "dt.json").write_text(json.dumps(case["dt"]))
    words = ("--gt", tmp_path / "gt.json", "--results", tmp_path / "dt.json", "--json", tmp_path / "o.json", "--quiet")
    assert run("evaluate", *words)[0] == 0
    record = json.loads((tmp_path / "o.json").read_text())
    assert [record[key] for key in KEYS] == pytest.approx(expected, abs=1e-12)


def test_masks_get_scores_and_an_analysis(run, coco, tmp_path):
    table = json.loads(coco.read_text())
    for each in table["annotations"]:
        x, y, width, height = each["bbox"]
        each["segmentation"] = [[x, y, x + width, y, x + width, y + height, x, y + height]]
    table["annotations"] = table["annotations"][:3]
    coco.write_text(json.dumps(table))
    found = []
    for each in RESULTS:
        x, y, width, height = each["bbox"]
        mask = np.zeros((1, 40, 60), bool)
        mask[0, y : y + height, x : x + width] = True
        (record,) = RLEs.from_masks(mask).to_coco()
        found.append({key: each[key] for key in ("image_id", "category_id", "score")} | {"segmentation": record})
    (tmp_path / "r.json").write_text(json.dumps(found))
    words = ("--results", tmp_path / "r.json", "--iou-type", "segm", "--json", tmp_path / "o.json")
    status, _, err = run("evaluate", "--data", f"coco:{coco}", *words, "--report", tmp_path / "r.html")
    assert status == 0, err
    record = json.loads((tmp_path / "o.json").read_text())
    assert record["AP50"] == pytest.approx((2 / 3 + 1) / 2)
    assert {each["type"]: each["count"] for each in record["analysis"]["errors"]["types"]}["background"] == 1
    assert "data:image/jpeg" in (tmp_path / "r.html").read_text()


def test_poses_get_scores_curves_and_an_analysis(run, shared, tmp_path):
    with gzip.open(shared / "eval_cases" / "open" / "keypoints.json.gz", "rt") as file:
        case = json.load(file)
    (tmp_path / "gt.json").write_text(json.dumps(case["gt"]))
    (tmp_path / "dt.json").write_text(json.dumps(case["dt"]))
    words = ("--gt", tmp_path / "gt.json", "--results", tmp_path / "dt.json", "--iou-type", "keypoints")
    status, _, err = run("evaluate", *words, "--json", tmp_path / "o.json", "--report", tmp_path / "r.html")
    assert status == 0, err
    record = json.loads((tmp_path / "o.json").read_text())
    analysis = record["analysis"]
    # two ways that share no code beyond the similarity: COCO's matching, and that of the analysis
    assert analysis["errors"]["ap"] == pytest.approx(record["AP50"], abs=0.02)
    counts = {each["type"]: each["count"] for each in analysis["errors"]["types"]}
    assert counts["missed"] > 0
    assert counts["classification"] == 0
    page = (tmp_path / "r.html").read_text()
    for words in ("Precision and recall", "Kinds of errors", "Reliability of scores"):
        assert words in page


def test_other_keypoints_than_coco_s_have_one_sigma(run, tmp_path):
    points = [12, 14, 2, 30, 18, 2, 20, 40, 1]
    shape = {"image_id": 1, "category_id": 1, "keypoints": points}
    object_ = {**shape, "id": 1, "bbox": [10, 10, 30, 40], "area": 900, "iscrowd": 0, "num_keypoints": 3}
    truth = {
        "images": [{"id": 1, "file_name": "a.jpg", "height": 60, "width": 60}],
        "annotations": [object_],
        "categories": [{"id": 1, "name": "triangle", "keypoints": ["top", "left", "right"], "skeleton": []}],
    }
    moved = [{**shape, "keypoints": [12, 18, 2, 30, 22, 2, 20, 44, 1], "score": 0.9}]
    (tmp_path / "gt.json").write_text(json.dumps(truth))
    (tmp_path / "dt.json").write_text(json.dumps(moved))
    words = ("--gt", tmp_path / "gt.json", "--results", tmp_path / "dt.json", "--iou-type", "keypoints", "--json")
    aps = []
    for more in ((), ("--oks-sigma", "0.067"), ("--oks-sigma", "0.3")):
        status, _, err = run("evaluate", *words, tmp_path / "o.json", *more)
        assert status == 0, err
        aps.append(json.loads((tmp_path / "o.json").read_text())["AP"])
    # 4 pixels off with an area of 900: an OKS of 0.61, and 0.98 with the larger sigma
    assert aps == pytest.approx([0.3, 0.3, 1.0])
    status, _, err = run("evaluate", *words[:4], "--oks-sigma", "0.1")
    assert status == 2
    assert "--oks-sigma applies to keypoints" in err


@pytest.mark.parametrize("truth", ["coco", "voc"])
def test_detections_of_unknown_classes_are_left_out_if_asked_and_counted(run, coco, voc, tmp_path, truth):
    photo = {"coco": "a.jpg", "voc": "p1"}[truth]
    lines = ("photo,label,score,x,y,width,height", f"{photo},ufo,.9,1,1,5,5", f"{photo},cat,.8,0,0,10,10")
    (tmp_path / "r.csv").write_text("\n".join(lines))
    words = ("--gt", {"coco": coco, "voc": voc}[truth], "--results", tmp_path / "r.csv")
    status, _, err = run("evaluate", *words)
    assert status == 2
    assert "no class of this name" in err
    status, _, err = run("evaluate", *words, "--drop-unknown-classes", "--json", tmp_path / "o.json")
    assert status == 0, err
    record = json.loads((tmp_path / "o.json").read_text())
    assert record["counts"]["detections"] == 1
    assert any("1 of 2 detections" in note for note in record["notes"])


def test_vocs_metric_on_cocos_annotations(run, coco, tmp_path):
    (tmp_path / "r.csv").write_text(
        "photo,label,score,x,y,width,height\na.jpg,cat,.9,10,5,20,20\na.jpg,dog,.8,30,10,10,5\n"
        "b.png,cat,.95,40,0,10,10\nb.png,cat,.5,0,0,30,39\nb.png,cat,.4,20,20,40,20\n"
    )
    words = ("--gt", coco, "--results", tmp_path / "r.csv", "--metric", "voc", "--json", tmp_path / "o.json")
    status, _, err = run("evaluate", *words)
    assert status == 0, err
    record = json.loads((tmp_path / "o.json").read_text())
    by_name = {each["name"]: each["AP"] for each in record["per_class"]}
    # the surest cat is wrong, then two hits; the crowd counts neither way; the dog overlaps by exactly one half
    assert by_name == {"cat": pytest.approx(2 / 3), "dog": 1.0, "fox": None}
    assert record["plus"] == 0
    for thresh, ap in ((0.54, 1), (0.55, 0)):  # with 1 added, 11 x 6 of 11 x 11
        run("evaluate", *words, "--plus", 1, "--iou-thresh", thresh)
        assert json.loads((tmp_path / "o.json").read_text())["per_class"][1]["AP"] == ap


def test_cocos_metric_on_a_voc_folder(run, net, voc, tmp_path):
    words = ("--gt", voc, "--split", "val", "--results", voc / "results", "--metric", "coco")
    status, out, err = run("evaluate", *words, "--json", tmp_path / "o.json")
    assert status == 0, err
    record = json.loads((tmp_path / "o.json").read_text())
    by_name = {each["name"]: each for each in record["per_class"]}
    # a hit, one on a difficult object that does not count, a miss, a hit, read at 101 recalls
    assert by_name["cat"]["AP50"] == pytest.approx((51 + 50 * 2 / 3) / 101)
    assert by_name["dog"]["AP50"] == pytest.approx(1)
    assert by_name["dog"]["AP75"] == 0.0
    assert record["counts"]["objects"] == 3
    assert "difficult" in " ".join(record["notes"])
    status, out, err = run(
        "evaluate", *net, "--data", f"voc:{voc}", "--metric", "coco", "--report", tmp_path / "r.html"
    )
    assert status == 0, err
    assert list(scores_of(out)) == KEYS
    assert "data:image/jpeg" in (tmp_path / "r.html").read_text()


def test_a_model_with_vocs_metric_on_cocos_photos(run, net, coco, tmp_path):
    status, out, err = run(
        "evaluate", *net, "--data", f"coco:{coco}", "--metric", "voc", "--report", tmp_path / "r.html"
    )
    assert status == 0, err
    assert "map" in out
    assert "2 of 2 images" in err
    assert "data:image/jpeg" in (tmp_path / "r.html").read_text()


def test_the_rule_by_which_two_maps_after_voc_differ_is_said(run, voc, tmp_path):
    words = ("--gt", voc, "--split", "val", "--results", voc / "results")
    run("evaluate", *words, "--use-07-metric", "--json", tmp_path / "other.json")
    status, out, err = run("evaluate", *words, "--explain", tmp_path / "other.json")
    assert status == 0, err
    assert "the difference comes from: use_07_metric" in out


def test_json_on_standard_output_stands_alone(run, coco, results, tmp_path):
    run("evaluate", "--gt", coco, "--results", results, "--json", tmp_path / "o.json")
    status, out, _ = run("evaluate", "--gt", coco, "--results", results, "--json", "-")
    assert status == 0
    assert json.loads(out) == json.loads((tmp_path / "o.json").read_text())


def test_files_are_written_though_nobody_reads_the_output(coco, results, tmp_path, monkeypatch):
    def closed(*args, **kwargs):
        raise BrokenPipeError

    monkeypatch.setattr(evaluate, "_print", closed)
    words = ("--gt", coco, "--results", results, "--json", tmp_path / "o.json", "--report", tmp_path / "r.html")
    args = argparse.ArgumentParser()
    add_arguments(args)
    with pytest.raises(BrokenPipeError):
        evaluate.run(args.parse_args([str(word) for word in words]))
    assert json.loads((tmp_path / "o.json").read_text())["AP"] > 0
    assert (tmp_path / "r.html").stat().st_size > 1000


def test_verdicts_say_what_went_wrong_in_each_image_and_change_no_score(run, coco, results, tmp_path):
    words = ("evaluate", "--gt", coco, "--results", results, "--json", tmp_path / "o.json")
    assert run(*words)[0] == 0
    plain = (tmp_path / "o.json").read_bytes()
    assert run(*words, "--verdicts", tmp_path / "v.jsonl")[0] == 0
    assert (tmp_path / "o.json").read_bytes() == plain
    (row,) = map(json.loads, (tmp_path / "v.jsonl").read_text().splitlines())
    assert (row["image"], row["index"], row["path"]) == ("b.png", 1, None)
    assert (row["n_right"], row["n_wrong"], row["n_missed"]) == (1, 1, 0)
    assert [(box["verdict"], box["error"]) for box in row["boxes"]] == [("right", None), ("wrong", "background")]
    assert [(each["label"], each["y_max"]) for each in row["objects"]] == [("cat", 40.0), ("cat", 40.0)]


@pytest.mark.parametrize(
    ("truth", "found", "says"),
    [
        ("broken.json", "empty.json", "broken.json is not a COCO annotation file"),
        ("lvis:{}/broken.json", "empty.json", "broken.json is not a COCO annotation file"),
        ("coco:", "empty.json", "coco:: the path of the data set is missing"),
        ("", "empty.json", "'': the path of the data set is missing"),
        ("voc:{}/voc", "nowhere.json", "nowhere.json: there is no such file or folder of results"),
    ],
)
def test_files_that_cannot_be_read_are_named(run, voc, tmp_path, monkeypatch, truth, found, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "empty.json").write_text("[]")
    truth = truth.replace("{}/voc", str(voc)).format(tmp_path)
    status, out, err = run("evaluate", "--gt", truth, "--results", found)
    assert (status, out) == (2, "")
    assert says in err.splitlines()[0]
