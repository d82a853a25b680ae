"""Evaluations: a job of the command line, its scores, and images with errors."""

import json
import re

import pytest

from cvzoo.studio.jobs.spec import EvaluateSpec, spec_from_json

JPEG = b"\xff\xd8\xff\xe0image"
SCORES = {
    "map": 0.5,
    "iou_thresh": 0.5,
    "per_class": [{"id": 0, "name": "cat", "n_objects": 3, "AP": 0.4}, {"id": 1, "name": "dog", "AP": None}],
    "notes": ["a note"],
    "analysis": {
        "pr_curves": {
            "recall": [0, 0.5, 1],
            "mean": {"0.50": [1, 0.5, 0]},
            "classes": [{"label": "cat", "precision": [1, 1, 0]}],
        },
        "confusion": {"names": ["cat", "dog", "background"], "counts": [[3, 1, 0], [0, 2, 2], [1, 0, 0]]},
        "reliability": {
            "ece": 0.1,
            "bins": [{"low": 0.5, "high": 0.6, "count": 4, "confidence": 0.55, "precision": 0.5}],
        },
        "errors": {
            "types": [{"type": "missed", "count": 2, "dap": 0.1}, {"type": "duplicate", "count": 0, "dap": None}]
        },
        "thresholds": {
            "wished_precision": 0.9,
            "classes": [
                {"label": "cat", "f1": 0.75, "f1_score": 0.4321, "wished_score": 0.8765, "wished_recall": 0.25},
                {"label": "dog", "f1": None, "f1_score": None, "wished_score": None, "wished_recall": None},
            ],
        },
    },
}


def box(verdict, error, label):
    score = None if verdict == "missed" else 0.5
    return {
        "verdict": verdict,
        "error": error,
        "label": label,
        "score": score,
        "y_min": 1,
        "x_min": 2,
        "y_max": 3,
        "x_max": 4,
    }


VERDICTS = [
    {
        "index": 4,
        "image": "a.jpg",
        "n_right": 0,
        "n_wrong": 1,
        "n_missed": 1,
        "boxes": [box("missed", None, "cat"), box("wrong", "duplicate", "dog")],
    },
    {
        "index": 7,
        "image": "b.jpg",
        "n_right": 1,
        "n_wrong": 0,
        "n_missed": 2,
        "boxes": [box("missed", None, "dog"), box("missed", None, "cat"), box("right", None, "cat")],
    },
]


@pytest.fixture(autouse=True)
def zoo(studio, monkeypatch):
    monkeypatch.setattr(studio.models.zoo, "members", list)


@pytest.fixture
def evaluation(studio, run_id, tmp_path):
    """A succeeded one with two images."""
    job = studio.jobs.create("mine", EvaluateSpec("/m.safetensors", run_id, "0" * 64, "voc:shapes", "val"), None)
    run = studio.place.run(job.id)
    (run / "scores.json").write_text(json.dumps(SCORES))
    (tmp_path / "a.jpg").write_bytes(JPEG)
    (tmp_path / "b.jpg").write_bytes(b"<html>")
    rows = [row | {"path": str(tmp_path / row["image"])} for row in VERDICTS]
    (run / "verdicts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for event in ("admit", "begin"):
        studio.jobs.apply(studio.jobs.get(job.id), event)
    from cvzoo.studio.jobs.states import Facts

    studio.jobs.apply(studio.jobs.get(job.id), "exit", Facts(code=0, has_result=True))
    return job.id


def test_thresholds_are_shown_and_written_by_another_evaluation_with_a_precision(browser, studio, evaluation):
    text = browser.get(f"/evaluations/{evaluation}").text
    assert "Score for precision 0.9" in text
    assert "0.4321" in text
    assert "0.8765" in text
    assert "Write thresholds into a model" in text


def test_a_least_precision_is_a_rule_of_the_command_line(browser, studio, run_id):
    form = {"model": run_id, "data": "voc:shapes", "split": "val", "find_thresholds": "true", "precision": "0.95"}
    answer = browser.post("/evaluations", data=form, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    spec = studio.jobs.get(answer.headers["location"].split("/")[-1]).spec
    words = spec.words(studio.place.home)
    assert words[words.index("--find-thresholds") + 1] == "precision=0.95"
    assert spec_from_json(json.loads(json.dumps(spec.to_json()))) == spec
    wrong = browser.post("/evaluations", data=form | {"precision": "2"})
    assert wrong.status_code == 422
    assert "above 0 and at most 1" in wrong.text
    alone = {"model": run_id, "data": "voc:shapes", "precision": 0.5}
    assert "precision" in browser.post("/api/v1/evaluations", json=alone).json()["fields"]


def test_an_evaluation_is_queued_with_the_model_s_hash(browser, studio, run_id, watched):
    body = {"model": run_id, "data": "voc:shapes", "split": "val", "find_thresholds": True}
    job = browser.post("/api/v1/evaluations", json=body).json()["id"]
    spec = studio.jobs.get(job).spec
    run = studio.place.run(job)
    words = spec.words(run)
    assert words[:4] == [
        "evaluate",
        f"--model={watched / 'first' / 'best.safetensors'}",
        "--data=voc:shapes",
        "--split=val",
    ]
    assert words[words.index("--json") + 1] == str(run / "scores.json")
    assert words[-1] == str(run / "deploy.safetensors")
    assert len(spec.sha256) == 64
    assert (
        EvaluateSpec(**{k: v for k, v in json.loads((run / "job.json").read_text()).items() if k in spec.__dict__})
        == spec
    )
    assert "queued" in browser.get(f"/evaluations/{job}").text
    assert browser.get(f"/jobs/{job}").headers["location"] == f"/evaluations/{job}"
    assert browser.get(f"/api/v1/evaluations/{job}").status_code == 409


def test_the_form_knows_the_run_s_data_and_shows_errors(browser, studio, run_id):
    page = browser.get(f"/evaluations?model={run_id}").text
    assert 'value="voc:shapes"' in page
    assert 'data-data="voc:shapes" data-split="val"' in page  # for those who choose another model
    assert browser.post("/evaluations", data={"model": run_id, "data": "x", "split": "a/b"}).status_code == 422
    assert browser.post("/evaluations", data={"model": "zoo:none", "data": "x"}).status_code == 404
    assert studio.jobs.all() == []
    assert browser.post("/evaluations", data={"model": run_id, "data": "voc:x", "split": ""}).status_code == 303


@pytest.mark.parametrize(
    ("trained", "data", "split"),
    [
        ("voc:shapes", "voc:shapes", "val"),
        ("coco:a.json,b.json,photos=d", "coco:b.json,photos=d", ""),
        ("coco:a.json,photos=d", "coco:a.json,photos=d", ""),
        ("cifar10:auto", "cifar10:auto", ""),
    ],
)
def test_without_data_an_evaluation_is_on_those_of_the_model_s_run(
    browser, studio, watched, run_id, trained, data, split
):
    config = watched / "first" / "config.json"
    config.write_text(config.read_text().replace("voc:shapes", trained))
    by_rest = browser.post("/api/v1/evaluations", json={"model": run_id})
    assert by_rest.status_code == 201, by_rest.text
    by_form = browser.post("/evaluations", data={"model": run_id, "data": "  "})
    assert by_form.status_code == 303
    named = browser.post("/api/v1/evaluations", json={"model": run_id, "split": "test"}).json()["id"]
    specs = [studio.jobs.get(job).spec for job in (by_rest.json()["id"], by_form.headers["location"][-19:], named)]
    assert [(spec.data, spec.split) for spec in specs] == [(data, split), (data, split), (data, "test")]


def test_a_trainer_evaluates_on_what_a_run_was_validated(studio, stranger, watched, run_id):
    from cvzoo.studio.access.tokens import new_token
    from cvzoo.studio.access.users import add_user

    config = watched / "first" / "config.json"
    config.write_text(config.read_text().replace("voc:shapes", "coco:a.json,b.json"))
    user = add_user(studio.engine, "ada", "trainer", studio.clock).id
    stranger.headers["authorization"] = f"Bearer {new_token(studio.engine, 'hers', 'write', 1, studio.clock, user)}"
    for body, status in (({}, 201), ({"data": "coco:b.json"}, 201), ({"data": "coco:c.json"}, 403)):
        answer = stranger.post("/api/v1/evaluations", json={"model": run_id} | body)
        assert answer.status_code == status, answer.text


@pytest.mark.parametrize("model", ["uploaded", "of a run without data"])
def test_an_evaluation_without_data_is_refused_where_none_are_known(browser, studio, watched, run_id, tmp_path, model):
    config = watched / "first" / "config.json"
    config.write_text(config.read_text().replace('"data": "voc:shapes", ', ""))
    key = run_id
    if model == "uploaded":
        upload = studio.data.uploads.create("m.safetensors", 1, None)
        studio.place.upload(upload.id).write_bytes(b"m")
        key = studio.models.register.add("mine", upload.id, None).id
    answer = browser.post("/api/v1/evaluations", json={"model": key})
    assert answer.status_code == 422
    assert "the data must be named, such as voc:FOLDER" in answer.json()["fields"]["data"]
    page = browser.post("/evaluations", data={"model": key, "data": ""})
    assert page.status_code == 422
    assert 'id="data-error">the data must be named' in page.text
    assert studio.jobs.all() == []


def test_the_scores_are_those_of_the_command_line_to_the_bit(browser, evaluation):
    tree = browser.get(f"/api/v1/evaluations/{evaluation}").json()
    assert tree["scores"] == SCORES
    assert tree["summary"] == {"map": 0.5}
    assert tree["kinds"] == {"missed": 2, "duplicate": 1}
    (row,) = browser.get("/api/v1/evaluations").json()["items"]
    assert (row["id"], row["summary"]) == (evaluation, {"map": 0.5})


def test_scores_of_nothing_are_dashes_and_scores_are_explained(browser, studio, evaluation):
    scores = {"AP": 0.5, "AP50": 0.75, "APl": -1.0, "per_class": SCORES["per_class"]}
    (studio.place.run(evaluation) / "scores.json").write_text(json.dumps(scores))
    page = browser.get(f"/evaluations/{evaluation}").text
    assert '<dt title="large objects (from 96 x 96)">APl</dt><dd class="num">–</dd>' in page
    assert '<dt title="at overlap 0.50">AP50</dt><dd class="num">0.75</dd>' in page
    assert "-1" not in re.sub(r'href="[^"]*"', "", page.partition("<h1>")[2].partition("<h2")[0])
    assert browser.get(f"/api/v1/evaluations/{evaluation}").json()["scores"]["APl"] == -1
    spec = EvaluateSpec("/n.safetensors", "zoo:n", "", "voc:shapes", "val")
    second = studio.jobs.create("second", spec, None)
    (studio.place.run(second.id) / "scores.json").write_text(json.dumps({"AP": -1.0, "APl": 0.25}))
    page = browser.get(f"/evaluations/{second.id}/diff?other={evaluation}").text
    assert ">APl</th>" + '<td class="num">–</td><td class="num">0.25</td><td class="num">–</td>' in page
    assert ">AP</th>" + '<td class="num">0.5</td><td class="num">–</td><td class="num">–</td>' in page


@pytest.mark.parametrize("name", ["AP50", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl"])
def test_help_explains_the_scores_of_coco(browser, name):
    words = browser.get("/help").text.partition('id="h-words"')[2].partition("</section>")[0]
    assert re.search(rf"\b{name}\b", words)


def test_the_page_has_tables_curves_and_the_matrix(browser, evaluation):
    page = browser.get(f"/evaluations/{evaluation}").text
    for words in ("0.4", "mean, overlap 0.50", "Expected calibration error 0.1", "Confusion matrix", "a note", "+0.1"):
        assert words in page
    assert page.count("<polyline") == 2


def test_images_are_sorted_by_the_chosen_error(browser, evaluation):
    def images(query):
        return [
            each["image"] for each in browser.get(f"/api/v1/evaluations/{evaluation}/images?{query}").json()["items"]
        ]

    assert images("") == ["a.jpg", "b.jpg"]
    assert images("kind=missed") == ["b.jpg", "a.jpg"]
    assert images("kind=duplicate") == ["a.jpg"]
    assert images("kind=missed&label=dog") == ["b.jpg"]
    assert images("kind=background") == []
    assert browser.get(f"/api/v1/evaluations/{evaluation}/images?kind=x").status_code == 422
    page = browser.get(f"/api/v1/evaluations/{evaluation}/images?limit=1").json()
    assert (page["next"], page["total"]) == (1, 2)
    assert "path" not in page["items"][0]


def test_an_image_is_served_if_it_is_one(browser, evaluation, tmp_path):
    get = lambda index: browser.get(f"/api/v1/evaluations/{evaluation}/images/{index}")  # noqa: E731
    assert get(4).content == JPEG
    assert get(4).headers["content-type"] == "image/jpeg"
    assert get(7).status_code == 404
    assert get(5).status_code == 404


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scores.json", "{"),
        ("scores.json", '{"map": 0.5, "per_class": 5, "analysis": {"pr_curves": [], "confusion": {"names": 3}}}'),
        (
            "scores.json",
            '{"per_class": [5, {"name": "<b>"}], "analysis": {"reliability": {"bins": [3, {}]}}, "notes": 3}',
        ),
        (
            "scores.json",
            '{"map": 0.5, "analysis": {"errors": {"types": 3}, "confusion": {"names": ["a"], "counts": [[1e999]]}}}',
        ),
        (
            "verdicts.jsonl",
            '{"image": "x", "boxes": 3}\n{"image": 5}\n[]\n{"image": "y", "index": "0", "path": "\\u0000"}\n',
        ),
    ],
)
def test_impossible_results_spoil_no_page(browser, studio, evaluation, name, text):
    (studio.place.run(evaluation) / name).write_text(text)
    assert browser.get(f"/evaluations/{evaluation}").status_code == 200
    assert browser.get("/evaluations").status_code == 200
    assert browser.get(f"/api/v1/evaluations/{evaluation}/images").status_code in (200, 409)
    assert browser.get(f"/api/v1/evaluations/{evaluation}/images/0").status_code in (404, 409)


def test_an_unknown_evaluation_is_not_found(browser, studio, run_id):
    for job in (run_id, "jb_" + "a" * 16, "x"):
        assert browser.get(f"/api/v1/evaluations/{job}").status_code == 404
        assert browser.get(f"/evaluations/{job}").status_code == 404


def test_two_evaluations_of_the_same_data_are_compared_image_by_image(browser, studio, evaluation):
    path = f"/api/v1/evaluations/{evaluation}"
    spec = EvaluateSpec("/n.safetensors", "zoo:n", "", "voc:shapes", "val")
    second = studio.jobs.create("second", spec, None)
    run = studio.place.run(second.id)
    (run / "scores.json").write_text(json.dumps(SCORES | {"map": 0.625}))
    rows = [{"index": 7, "image": "b.jpg", "boxes": [box("missed", None, "dog"), box("right", None, "cat")]}]
    rows.append({"index": 9, "image": "c.jpg", "boxes": [box("wrong", "localization", "dog")] * 4})
    (run / "verdicts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answer = browser.get(f"/api/v1/evaluations/{second.id}/diff?other={evaluation}").json()
    assert answer["scores"] == [["map", 0.5, 0.625]]
    assert answer["counts"] == {"fixed": 1, "better": 1, "worse": 0, "broken": 1}
    assert [(each["image"], each["change"]) for each in answer["items"]] == [
        ("c.jpg", "broken"),
        ("a.jpg", "fixed"),
        ("b.jpg", "better"),
    ]
    assert answer["items"][1]["before"] == {"missed": 1, "duplicate": 1}
    back = browser.get(f"{path}/diff?other={second.id}").json()
    assert back["counts"] == {"fixed": 1, "better": 0, "worse": 1, "broken": 1}
    page = browser.get(f"/evaluations/{second.id}/diff?other={evaluation}").text
    assert "+0.125" in page
    assert "1 missed, 1 duplicate before, no error now" in page
    assert f'<option value="{second.id}">second</option>' in browser.get(f"/evaluations/{evaluation}").text
    assert browser.get(f"{path}/diff?other={evaluation}").json()["n"] == 0


def test_evaluations_of_other_data_are_not_compared(browser, studio, evaluation, run_id):
    spec = EvaluateSpec("/n.safetensors", "zoo:n", "", "voc:shapes", "train")
    other = studio.jobs.create("other", spec, None)
    path = f"/api/v1/evaluations/{evaluation}/diff?other="
    assert browser.get(path + other.id).status_code == 409
    assert browser.get(path + "jb_" + "a" * 16).status_code == 404
    assert browser.get(path + run_id).status_code == 404
