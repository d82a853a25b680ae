"""Proposals of a model: predicted by a job, taken in, accepted, changed, refused, and undone."""

import json
import shutil
import subprocess

import pytest

from cvzoo.studio.jobs.conductor import Conductor
from cvzoo.studio.jobs.spec import ProposeSpec, argv_of, spec_from_json
from cvzoo.studio.jobs.to_predict import predicted_rows, set_aside
from cvzoo.weights.model_header import ModelHeader


def save_header(path, architecture, names):
    """A file that says which network it has, and has no weights."""
    texts = ModelHeader(architecture=architecture, settings={}, label_names=names).to_metadata()
    head = json.dumps({"__metadata__": texts}).encode()
    path.write_bytes(len(head).to_bytes(8, "little") + head)


@pytest.fixture
def detector(studio, watched, run_id, monkeypatch):
    """The key of a detector of cats and birds."""
    monkeypatch.setattr(studio.models.zoo, "members", list)
    monkeypatch.setattr(
        "cvzoo.studio.models.fits.tasks_of_architectures", lambda: {"Boxes": "detection", "Whole": "classification"}
    )
    save_header(watched / "first" / "best.safetensors", "Boxes", ("cat", "bird"))
    return run_id


@pytest.fixture
def emptied(browser, dataset):
    """The data set; images 0 to 2 have no objects."""
    for ordinal in range(3):
        body = {"edit_id": f"emptied-{ordinal}", "base": 1, "objects": []}
        assert browser.put(f"/api/v1/datasets/{dataset}/images/{ordinal}/labels", json=body).status_code == 200
    return dataset


def line(studio, job, ordinal, *objects):
    """A line of results as `cvzoo predict` writes it; objects: (name, score, box)"""
    sides = ("y_min", "x_min", "y_max", "x_max")
    rows = [{"label": 0, "name": name, "score": score, **dict(zip(sides, box))} for name, score, box in objects]
    photo = str(studio.place.run(job) / "to_predict" / f"{ordinal}.png")
    return json.dumps({"photo": photo, "height": 60, "width": 80, "picture": None, "objects": rows}) + "\n"


def end(studio, job, text, state="succeeded"):
    """The job ended so, and wrote this."""
    from sqlalchemy import update

    from cvzoo.studio.database.engine import writing
    from cvzoo.studio.database.tables import JOB

    (studio.place.run(job) / "predictions.jsonl").write_text(text)
    with writing(studio.engine) as connection:
        connection.execute(update(JOB).where(JOB.c.id == job).values(state=state))


BOX = (5, 5, 20, 30)


@pytest.fixture
def proposed(browser, studio, emptied, detector):
    """The data set with proposals for images 0 and 1."""
    body = {"model": detector, "score": 0.3}
    answer = browser.post(f"/api/v1/datasets/{emptied}:propose", json=body)
    assert answer.status_code == 202, answer.text
    job = answer.json()["id"]
    text = line(studio, job, 0, ("cat", 0.9, BOX), ("cat", 0.4, (30, 40, 50, 60)), ("cat", 0.2, BOX))
    text += line(studio, job, 1, ("cat", 0.6, (-3, 70, 20, 95)), ("bird", 0.9, BOX)) + line(studio, job, 2)
    end(studio, job, text)
    studio.data.tasks.tick()
    return emptied


def listed(browser, dataset, state="open"):
    tree = browser.get(f"/api/v1/datasets/{dataset}/suggestions?state={state}").json()
    return {each["ordinal"]: each for each in tree["items"]}


def image(browser, dataset, ordinal):
    return browser.get(f"/api/v1/datasets/{dataset}/images/{ordinal}").json()


def judge(browser, dataset, verb, **body):
    answer = browser.post(f"/api/v1/datasets/{dataset}:{verb}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_specification_is_read_back():
    spec = ProposeSpec("best.safetensors", "wr_a", "ab", "ds_a", "boxes", 0.25)
    assert spec_from_json(json.loads(json.dumps(spec.to_json()))) == spec
    assert spec_from_json(spec.to_json() | {"score": "much"}) is None


def test_the_job_has_links_to_the_images_without_objects_and_tells_what_it_does_not_know(
    browser, studio, emptied, detector
):
    answer = browser.post(f"/api/v1/datasets/{emptied}:propose", json={"model": detector}).json()
    assert (answer["n"], answer["unmatched"]) == (3, ["bird"])
    links = sorted((studio.place.run(answer["id"]) / "to_predict").iterdir())
    assert [each.name for each in links] == ["0.png", "1.png", "2.png"]
    sha256 = image(browser, emptied, 1)["sha256"]
    assert links[1].is_symlink()
    assert links[1].resolve() == studio.data.store.image(sha256).resolve()
    assert "its job" in browser.get(f"/data/{emptied}").text
    assert browser.get(f"/jobs/{answer['id']}").status_code == 200


def test_a_filter_names_other_images(browser, emptied, detector):
    body = {"model": detector, "where": {"split": "val"}}
    assert browser.post(f"/api/v1/datasets/{emptied}:propose", json=body).json()["n"] == 2


@pytest.mark.parametrize(
    ("architecture", "names", "words"),
    [
        ("Boxes", ("bird", "fish"), "none of the model's classes: bird, fish"),
        ("Whole", ("cat", "dog"), "classes of whole images"),
        ("Other", ("cat", "dog"), "what is not known"),
        ("Boxes", None, "they have no names"),
    ],
)
def test_a_model_that_does_not_fit_is_refused_at_once(
    browser, studio, watched, emptied, detector, architecture, names, words
):
    save_header(watched / "first" / "best.safetensors", architecture, names)
    answer = browser.post(f"/api/v1/datasets/{emptied}:propose", json={"model": detector})
    assert answer.status_code == 422
    assert words in answer.json()["detail"]
    assert studio.jobs.all() == []


def test_by_the_form_a_mistake_is_told_and_all_are_accepted_from_a_score_on(
    browser, studio, watched, proposed, detector
):
    path = f"/data/{proposed}"
    assert "2 images with proposals" in browser.get(path).text
    answer = browser.post(f"{path}/suggestions", data={"action": "accept", "above": "0.7"})
    assert answer.headers["location"] == f"{path}#propose"
    assert len(image(browser, proposed, 0)["labels"]) == 1
    assert "2 images with proposals" in browser.get(path).text  # one with a lower score is left in each
    answer = browser.post(f"{path}/propose", data={"model": detector, "score": "0.4"})
    assert answer.status_code == 303
    assert "but no bird" in browser.get(answer.headers["location"]).text
    save_header(watched / "first" / "best.safetensors", "Boxes", ("bird", "fish"))
    answer = browser.post(f"{path}/propose", data={"model": detector, "score": "0.4"})
    assert answer.status_code == 422
    assert "none of the model&#39;s classes: bird, fish" in answer.text
    assert f'value="{detector}"' in answer.text


def test_nothing_is_queued_for_no_image_or_a_wrong_field(browser, studio, dataset, detector):
    for body in ({}, {"score": 1.5}, {"where": {"split": "test"}}, {"wheer": {}}):
        answer = browser.post(f"/api/v1/datasets/{dataset}:propose", json={"model": detector, **body})
        assert answer.status_code == 422, body
    assert studio.jobs.all() == []


def test_what_is_predicted_is_proposed_from_the_score_on_inside_of_the_image(browser, proposed):
    found = listed(browser, proposed)
    assert list(found) == [0, 1]
    assert [each["extra"]["score"] for each in found[0]["objects"]] == [0.9, 0.4]
    assert [(each["class"], each["box"]) for each in found[1]["objects"]] == [("cat", [0, 70, 20, 80])]
    assert found[0]["score"] == 0.9
    assert image(browser, proposed, 0)["labels"] == []
    page = browser.get(f"/api/v1/datasets/{proposed}/images?proposed=true").json()
    assert [each["ordinal"] for each in page["items"]] == [0, 1]


def test_accepting_is_one_revision_with_model_and_score_and_its_undo_opens_the_proposals(
    browser, studio, proposed, detector
):
    before = browser.get(f"/api/v1/datasets/{proposed}").json()["head_rev"]
    answer = judge(browser, proposed, "accept", above=0.5)
    assert answer == {"rev": before + 1, "n": 2, "n_object": 2}
    (label,) = image(browser, proposed, 0)["labels"]
    assert (label["class"], label["extra"]) == ("cat", {"score": 0.9, "source": detector})
    assert list(listed(browser, proposed)) == [0]
    assert list(listed(browser, proposed, "accepted")) == [1]
    history = browser.get(f"/api/v1/datasets/{proposed}/images/0/history").json()["items"]
    assert history[0]["kind"] == "accept"
    undone = browser.post(f"/api/v1/datasets/{proposed}:undo", json={"rev": before + 1})
    assert undone.json()["n"] == 2
    assert list(listed(browser, proposed)) == [0, 1]
    assert image(browser, proposed, 1)["labels"] == []


def test_accepting_again_changes_nothing(browser, proposed):
    judge(browser, proposed, "accept")
    assert judge(browser, proposed, "accept")["n"] == 0
    assert len(image(browser, proposed, 0)["labels"]) == 2


def test_what_is_accepted_and_then_moved_is_told_as_changed(browser, proposed):
    judge(browser, proposed, "accept", ordinals=[1])
    item = image(browser, proposed, 1)
    label = item["labels"][0] | {"box": [1, 70, 20, 80]}
    body = {"edit_id": "moved-it", "base": item["first_rev"], "objects": [label]}
    assert browser.put(f"/api/v1/datasets/{proposed}/images/1/labels", json=body).status_code == 200
    assert list(listed(browser, proposed, "changed")) == [1]
    assert list(listed(browser, proposed)) == [0]


def test_refused_objects_are_neither_open_nor_accepted(browser, proposed):
    first, second = (each["id"] for each in listed(browser, proposed)[0]["objects"])
    assert judge(browser, proposed, "refuse", ordinals=[0], objects=[second]) == {"n_object": 1}
    assert list(listed(browser, proposed)) == [0, 1]
    judge(browser, proposed, "accept", ordinals=[0])
    assert [each["id"] for each in image(browser, proposed, 0)["labels"]] == [first]
    assert judge(browser, proposed, "refuse") == {"n_object": 1}
    assert list(listed(browser, proposed, "refused")) == [1]
    assert listed(browser, proposed) == {}


def test_a_name_with_a_mistake_accepts_nothing(browser, proposed):
    assert browser.post(f"/api/v1/datasets/{proposed}:accept", json={"ordinal": [0]}).status_code == 422
    assert len(listed(browser, proposed)) == 2


def test_proposals_of_a_class_that_was_removed_stay_open(browser, proposed):
    rename = {"names": ["feline", "dog"], "renamed": {"cat": "feline"}}
    assert browser.put(f"/api/v1/datasets/{proposed}/classes", json=rename).status_code == 200
    assert judge(browser, proposed, "accept")["n"] == 0
    assert len(listed(browser, proposed)) == 2


def test_the_proposals_of_another_job_replace_the_open_ones_and_no_others(browser, studio, proposed, detector):
    judge(browser, proposed, "accept", ordinals=[1])
    job = browser.post(f"/api/v1/datasets/{proposed}:propose", json={"model": detector, "where": {}}).json()["id"]
    end(studio, job, "".join(line(studio, job, i, ("cat", 0.7, BOX)) for i in (0, 1)))
    studio.data.tasks.tick()
    assert [each["score"] for each in listed(browser, proposed).values()] == [0.7, 0.7]
    assert list(listed(browser, proposed, "accepted")) == [1]


def test_of_a_job_that_failed_what_it_has_is_taken_in_and_the_rest_when_it_was_repeated(
    browser, studio, emptied, detector
):
    job = browser.post(f"/api/v1/datasets/{emptied}:propose", json={"model": detector}).json()["id"]
    end(studio, job, line(studio, job, 0, ("cat", 0.9, BOX)), state="failed")
    studio.data.tasks.tick()
    (before,) = listed(browser, emptied).values()
    assert studio.data.tasks.open() == []
    assert browser.post(f"/api/v1/jobs/{job}:retry").status_code == 202
    Conductor(studio.jobs, studio.place)._admit(studio.jobs.get(job))
    names = sorted(each.name for each in (studio.place.run(job) / "to_predict").iterdir())
    assert names == ["1.png", "2.png"]
    studio.data.tasks.tick()
    assert [task.kind for task in studio.data.tasks.open()] == ["propose"]
    end(studio, job, line(studio, job, 1, ("cat", 0.8, BOX)))
    studio.data.tasks.tick()
    found = listed(browser, emptied)
    assert list(found) == [0, 1]
    assert found[0] == before


def test_an_attempt_that_was_killed_after_its_last_image_has_one_left(browser, studio, emptied, detector):
    job = browser.post(f"/api/v1/datasets/{emptied}:propose", json={"model": detector}).json()["id"]
    run = studio.place.run(job)
    text = "".join(line(studio, job, i, ("cat", 0.9, BOX)) for i in range(3))
    (run / "predictions.jsonl").write_text(text + '{"photo": "half')
    set_aside(run)
    assert [each.name for each in (run / "to_predict").iterdir()] == ["0.png"]
    assert list(predicted_rows(run)) == [0, 1, 2]


def test_links_that_a_job_made_lead_to_no_change_elsewhere(browser, studio, emptied, detector, tmp_path):
    job = browser.post(f"/api/v1/datasets/{emptied}:propose", json={"model": detector}).json()["id"]
    run = studio.place.run(job)
    other = tmp_path / "other"
    other.mkdir()
    (other / "0.png").write_bytes(b"image")
    (other / "1.png").write_bytes(b"image")
    (other / "notes.txt").write_bytes(b"notes")
    shutil.rmtree(run / "to_predict")
    (run / "to_predict").symlink_to(other)
    (run / "predicted_before.jsonl").symlink_to(other / "notes.txt")
    (run / "predictions.jsonl").write_text(line(studio, job, 0, ("cat", 0.9, BOX)))
    set_aside(run)
    assert {each.name: each.read_bytes() for each in other.iterdir()} == {
        "0.png": b"image",
        "1.png": b"image",
        "notes.txt": b"notes",
    }


def test_what_a_job_wrote_is_not_trusted(browser, studio, emptied, detector):
    job = browser.post(f"/api/v1/datasets/{emptied}:propose", json={"model": detector}).json()["id"]
    mask = {"label": 0, "name": "cat", "score": 0.9, "y_min": 0, "x_min": 0, "y_max": 9, "x_max": 9}
    wrong = [
        {"photo": "/0.png", "objects": [mask | {"mask": {"size": [3, 3], "counts": "!"}}, 7, {}, mask | {"score": 7}]},
        {"photo": "/1.png", "objects": "none"},
        {"photo": "/99.png", "objects": [mask]},
        {"photo": None, "objects": [mask]},
        {"photo": "/2.png", "objects": [mask | {"x_max": -4}, mask | {"y_min": None}, mask | {"name": ["cat"]}]},
    ]
    end(studio, job, "".join(json.dumps(each) + "\n" for each in wrong))
    studio.data.tasks.tick()
    assert listed(browser, emptied) == {}
    assert studio.data.tasks.open() == []


def test_a_deleted_job_keeps_no_data_set_waiting(browser, studio, emptied, detector):
    job = browser.post(f"/api/v1/datasets/{emptied}:propose", json={"model": detector}).json()["id"]
    end(studio, job, "", state="stopped")
    studio.jobs.purge(studio.jobs.trash(studio.jobs.get(job)))
    studio.data.tasks.tick()
    assert studio.data.tasks.open() == []


def test_a_check_does_not_wait_for_proposals(browser, studio, clock, emptied, detector):
    browser.post(f"/api/v1/datasets/{emptied}:propose", json={"model": detector})
    clock.now += 10_000
    studio.data.tasks.tick()
    assert {task.kind for task in studio.data.tasks.open()} == {"propose", "check"}


def test_the_class_of_a_whole_image_is_proposed_and_only_a_named_image_loses_its_own(
    browser, studio, tmp_path, watched, work, detector
):
    import numpy as np
    from PIL import Image

    for i, name in enumerate(("cat", "cat", "dog")):
        (tmp_path / "folders" / name).mkdir(parents=True, exist_ok=True)
        pixels = np.full((8, 8, 3), 60 * i, np.uint8)
        Image.fromarray(pixels).save(tmp_path / "folders" / name / f"{i}.png")
    source = {"spec": f"folder:{tmp_path}/folders"}
    dataset = browser.post("/api/v1/datasets", json={"name": "whole", "source": source}).json()["id"]
    work(studio)
    save_header(watched / "first" / "best.safetensors", "Whole", ("dog", "cat"))
    empty = {"edit_id": "no-class", "base": 1, "objects": []}
    assert browser.put(f"/api/v1/datasets/{dataset}/images/0/labels", json=empty).status_code == 200
    job = browser.post(f"/api/v1/datasets/{dataset}:propose", json={"model": detector, "where": {}}).json()["id"]
    dog = [{"label": 0, "name": "dog", "score": 0.8}, {"label": 1, "name": "cat", "score": 0.6}]
    rows = [{"photo": f"/{i}.png", "height": 8, "width": 8, "classes": dog} for i in range(3)]
    end(studio, job, "".join(json.dumps(row) + "\n" for row in rows))
    studio.data.tasks.tick()
    assert list(listed(browser, dataset)) == [0, 1]  # the third one is a dog
    assert judge(browser, dataset, "accept")["n"] == 1
    assert image(browser, dataset, 0)["labels"][0]["class"] == "dog"
    assert image(browser, dataset, 1)["labels"][0]["class"] == "cat"
    assert judge(browser, dataset, "accept", ordinals=[1])["n"] == 1
    assert [each["class"] for each in image(browser, dataset, 1)["labels"]] == ["dog"]


@pytest.mark.slow
def test_the_zoos_model_proposes_the_text_of_receipts(browser, studio, work):
    """The model itself, as the job's command line runs it."""
    source = {"sample": 4}
    dataset = browser.post("/api/v1/datasets", json={"name": "receipts", "source": source}).json()["id"]
    work(studio)
    drawn = {i: image(browser, dataset, i)["labels"] for i in range(4)}
    for ordinal in range(2):
        body = {"edit_id": f"emptied-{ordinal}", "base": 1, "objects": []}
        assert browser.put(f"/api/v1/datasets/{dataset}/images/{ordinal}/labels", json=body).status_code == 200
    answer = browser.post(f"/api/v1/datasets/{dataset}:propose", json={"model": "zoo:retinanet_text", "score": 0.5})
    studio.inference.close()
    assert answer.status_code == 202, answer.text
    assert (answer.json()["n"], answer.json()["unmatched"]) == (2, [])
    job = studio.jobs.get(answer.json()["id"])
    run = studio.place.run(job.id)
    done = subprocess.run(argv_of(job.spec, run), capture_output=True, text=True, cwd=run)
    assert done.returncode == 0, done.stderr
    end(studio, job.id, (run / "predictions.jsonl").read_text())
    work(studio)
    assert list(listed(browser, dataset)) == [0, 1]
    judge(browser, dataset, "accept")
    for ordinal in range(2):
        boxes = [each["box"] for each in image(browser, dataset, ordinal)["labels"]]
        found = sum(any(overlap(box, each["box"]) > 0.5 for box in boxes) for each in drawn[ordinal])
        assert found >= 0.8 * len(drawn[ordinal]), (ordinal, found, len(drawn[ordinal]), len(boxes))


def overlap(first, second):
    """The intersection over the union of two boxes."""
    sides = [min(a, b) for a, b in zip(first[2:], second[2:])]
    height, width = (max(end - max(a, b), 0) for end, a, b in zip(sides, first, second))
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (first, second)]
    return height * width / (sum(areas) - height * width)


def test_only_images_with_accepted_proposals_are_read(browser, proposed, monkeypatch):
    from cvzoo.studio.data import edit, suggestions

    read = []
    for module in (edit, suggestions):
        monkeypatch.setattr(module, "_AT_ONCE", 1)  # as of thousands of images
    monkeypatch.setattr(edit, "item_of", lambda row, known=edit.item_of: read.append(row.ordinal) or known(row))
    assert judge(browser, proposed, "accept", above=0.5)["n"] == 2
    assert read == [0, 1]  # of ten
