"""The pages of data sets."""

import json
import re

import pytest

from cvzoo.studio.jobs.spec import EvaluateSpec


@pytest.fixture
def path(dataset):
    return f"/data/{dataset}"


def test_each_page_is_whole(browser, studio, work, path, dataset):
    browser.post(f"{path}/versions", data={"name": "first"})
    work(studio)
    (version,) = studio.data.versions.of(dataset)
    pages = ["/data", "/data/new", path, f"{path}/images", f"{path}/images/3", f"{path}/findings", f"{path}/history"]
    pages += [
        f"{path}/images?class=cat&split=val&text=4",
        f"{path}/images/3?rev=1",
        f"{path}/findings?kind=box-outside",
    ]
    pages += [f"/versions/{version.id}", f"/versions/{version.id}/diff?other={version.id}", "/jobs/new"]
    for page in pages:
        answer = browser.get(page, headers={"accept": "text/html"})
        assert answer.status_code == 200, (page, answer.text[:300])
    assert f'value="{version.data}"' in browser.get(f"/jobs/new?recipe=ssd300&data={version.data}").text


def test_one_image_and_one_object_are_no_plurals(browser, studio, work, tmp_path, write_coco):
    root = write_coco(tmp_path / "few", n=5, boxes=1)  # of which one is in val
    dataset = browser.post("/api/v1/datasets", json={"name": "few", "source": {"spec": f"coco:{root}"}}).json()["id"]
    work(studio)
    browser.patch(f"/api/v1/datasets/{dataset}/images", json={"ordinals": [1, 2, 3], "delete": True})
    place = browser.post(f"/data/{dataset}/versions", data={"name": "v1"}).headers["location"]
    work(studio)
    shown = lambda path: re.sub("<[^>]*>", "", browser.get(path).text)  # noqa: E731
    assert "train: 1 image, 1 object" in shown(place)
    assert "cat: 2 objects in 2 images" in shown(place)
    assert "2 images, 2 objects, 2 classes" in shown("/data")
    browser.patch(f"/api/v1/datasets/{dataset}/images", json={"ordinals": [4], "delete": True})
    assert "1 image, 1 object, 2 classes" in shown("/data")
    rows = {"old": ["cat", "dog"], "name": ["", "dog"], "color": ["#000000", "#ffffff"], "number": ["1", "2"]}
    page = browser.post(f"/data/{dataset}/classes", data={**rows, "action": "preview"}).text
    assert "it has 1 object<" in page
    assert "% of 1 object has an anchor of its size" in shown(f"/data/{dataset}/overview")


def test_the_grid_is_filtered_and_paged(browser, studio, path, monkeypatch):
    from cvzoo.studio.pages import images

    monkeypatch.setattr(images, "_PAGE", 4)
    found = lambda query: re.findall(r'images/(\d+)\??[^"]*" title=', browser.get(f"{path}/images{query}").text)  # noqa: E731
    assert found("") == ["0", "1", "2", "3"]
    assert found("?after=3") == ["4", "5", "6", "7"]
    assert found("?before=4") == ["0", "1", "2", "3"]
    assert found("?split=val") == ["4", "9"]
    assert found("?text=7") == ["7"]
    assert found("?text=%25") == []
    assert "Next images" in browser.get(f"{path}/images?after=3").text
    assert "Next images" not in browser.get(f"{path}/images?after=7").text


def test_forms_split_rename_and_revert(browser, studio, path, dataset):
    preview = browser.post(f"{path}/split", data={"train": "50", "val": "50", "action": "preview"})
    assert "nothing is changed yet" in preview.text
    assert studio.data.datasets.get(dataset).head_rev == 1
    assert browser.post(f"{path}/split", data={"train": "50", "val": "50", "action": "split"}).status_code == 303
    assert browser.post(f"{path}/split", data={"train": "50", "val": "20"}).status_code == 422
    both = {"old": ["cat", "dog"], "color": ["#e6194b", "#3cb44b"], "number": ["1", "2"]}
    browser.post(f"{path}/classes", data=both | {"name": ["lion", "dog"]})
    assert studio.data.datasets.counts(dataset)["classes"] == [("lion", 10, 10), ("dog", 10, 10)]
    browser.post(f"{path}/classes", data=both | {"old": ["lion", "dog"], "name": ["dog", "dog"]})
    assert studio.data.datasets.counts(dataset)["classes"] == [("dog", 10, 20)]
    assert (
        "has objects"
        in browser.post(f"{path}/classes", data={"old": "dog", "name": "", "color": "#3cb44b", "number": "1"}).text
    )
    browser.post(f"{path}/classes", data={"name": "bird"})
    browser.post(f"{path}/revert", data={"rev": "1"})
    counts = studio.data.datasets.counts(dataset)
    assert counts["classes"] == [("cat", 10, 10), ("dog", 10, 10)]
    assert counts["splits"] == [("train", 8, 16), ("val", 2, 4)]
    assert studio.data.datasets.get(dataset).head_rev == 6


def test_a_form_says_what_is_wrong(browser, path, dataset):
    assert "needs a name" in browser.post("/data/new", data={"kind": "spec", "spec": "voc:x"}).text
    assert "a number from 4" in browser.post("/data/new", data={"kind": "sample", "sample": "x", "name": "a"}).text
    answer = browser.post("/data/new", data={"kind": "sample", "sample": "9", "name": "shapes"})
    assert "there is a data set shapes already" in answer.text
    assert 'aria-describedby="name-error" aria-invalid="true" autofocus>' in answer.text
    assert re.search(r'<p class="error" id="name-error" role="alert">[^<]*this name is taken</p>', answer.text)
    assert "type the name" in browser.post(f"{path}/delete", data={"name": "x"}).text
    assert browser.post(f"{path}/delete", data={"name": "shapes"}).status_code == 303
    assert browser.get(path).status_code == 404


def test_hostile_names_are_text(browser, studio, work, tmp_path, write_coco):
    root = write_coco(tmp_path / "x", n=5)
    name = "<img src=x onerror=alert(1)>"
    text = (root / "annotations" / "instances_train.json").read_text().replace('"cat"', f'"{name}</script>"')
    (root / "annotations" / "instances_train.json").write_text(text)
    answer = browser.post("/api/v1/datasets", json={"name": name, "source": {"spec": f"coco:{root}"}}).json()
    work(studio)
    path = f"/data/{answer['id']}"
    for page in ("/data", path, f"{path}/images", f"{path}/images/0", f"{path}/findings"):
        shown = browser.get(page).text
        assert "<img src=x" not in shown
        assert "alert(1)></script>" not in shown


def test_an_image_of_an_evaluation_leads_to_the_same_image_of_the_data_set(browser, studio, work, path, dataset):
    version = browser.post(f"/api/v1/datasets/{dataset}/versions", json={"name": "first"}).json()
    work(studio)
    data = browser.get(f"/api/v1/versions/{version['id']}").json()["data"]
    spec = EvaluateSpec("/m.safetensors", "jb_" + "a" * 16, "0" * 64, data, "val")
    job = studio.jobs.create("mine", spec, None)
    run = studio.place.run(job.id)
    wrong = {"verdict": "wrong", "label": "cat", "score": 0.5, "y_min": 1, "x_min": 2, "y_max": 3, "x_max": 4}
    image = next(studio.place.version(version["id"]).rglob("4.png"))
    (run / "scores.json").write_text('{"map": 0.5}')
    row = {"index": 0, "image": "4.png", "path": str(image), "boxes": [wrong]}
    (run / "verdicts.jsonl").write_text(json.dumps(row) + "\n")
    place = f"/evaluations/{job.id}/images/0/correct"
    answer = browser.get(place)
    assert answer.status_code == 303, answer.text
    assert answer.headers["location"] == f"{path}/images/4?evaluation={job.id}-0"
    page = browser.get(answer.headers["location"]).text
    assert f"/evaluations/{job.id}#h-images" in page
    assert '"predicted": [{' in page
    assert browser.get(f"{path}/images/4?evaluation=../x-0").status_code == 200
    assert browser.get(place.replace("/0/", "/1/")).status_code == 404
    browser.patch(f"/api/v1/datasets/{dataset}/images", json={"ordinals": [4], "delete": True})
    assert browser.get(place).status_code == 404


def test_the_tour_ends_when_all_steps_are_done(browser, studio, dataset):
    page = browser.get("/").text
    assert page.count('class="done"') == 2  # the data set, and the watched runs
    assert 'aria-current="step"' in page
    assert "Make a sample data set" not in page
    help = browser.get("/help").text
    assert "/api/v1/datasets/{dataset}/findings" in help


def test_samples_without_a_name_are_numbered(browser, studio):
    for name in ("Sample receipts", "Sample receipts 2"):
        answer = browser.post("/data/new", data={"kind": "sample", "sample": "5"})
        assert studio.data.datasets.get(answer.headers["location"].rpartition("/")[2]).name == name


def test_of_two_tabs_that_edit_notes_the_second_sees_both_texts(browser, path, dataset):
    seen = browser.get(f"/api/v1/datasets/{dataset}").headers["etag"].strip('"')
    assert f'name="seen" value="{seen}"' in browser.get(path).text
    form = {"name": "Receipts", "licence": "", "seen": seen}
    assert browser.post(f"{path}/about", data=form | {"notes": "of the first tab"}).status_code == 303
    assert browser.post(f"{path}/about", data=form | {"notes": "of the first tab"}).status_code == 303  # sent twice
    answer = browser.post(f"{path}/about", data=form | {"notes": "of the second tab"})
    assert answer.status_code == 412
    assert ">of the second tab</textarea>" in answer.text
    assert '<dd class="notes">of the first tab</dd>' in answer.text
    assert browser.get(f"/api/v1/datasets/{dataset}").json()["notes"] == "of the first tab"
    other = answer.text.partition('name="seen" value="')[2].partition('"')[0]
    assert browser.post(f"{path}/about", data=form | {"notes": "of both", "seen": other}).status_code == 303
    answer = browser.patch(f"/api/v1/datasets/{dataset}", json={"notes": "late"}, headers={"if-match": f'"{other}"'})
    assert (answer.status_code, answer.json()["current"]["notes"]) == (412, "of both")
    newest = browser.get(f"/api/v1/datasets/{dataset}").headers["etag"]
    answer = browser.patch(f"/api/v1/datasets/{dataset}", json={"notes": "late"}, headers={"if-match": newest})
    assert answer.status_code == 200
    assert answer.headers["etag"] == browser.get(f"/api/v1/datasets/{dataset}").headers["etag"] != newest


def test_what_was_typed_about_a_data_set_stays_in_the_form_that_was_refused(browser, path):
    answer = browser.post(f"{path}/about", data={"name": "x" * 121, "licence": "L", "notes": "long\r\nwork"})
    assert answer.status_code == 422
    assert ">long\nwork</textarea>" in answer.text


def test_a_data_set_has_a_name_a_licence_and_notes(browser, path, dataset):
    form = {"name": " Receipts ", "licence": "CC BY 4.0", "notes": "of 2026\r\n<b>scanned</b>"}
    assert browser.post(f"{path}/about", data=form).status_code == 303
    tree = browser.get(f"/api/v1/datasets/{dataset}").json()
    assert (tree["name"], tree["licence"], tree["notes"]) == ("Receipts", "CC BY 4.0", "of 2026\n<b>scanned</b>")
    assert tree["head_rev"] == 1
    page = browser.get(path).text
    assert "<h1>Receipts</h1>" in page
    assert "&lt;b&gt;scanned" in page
    browser.post("/api/v1/datasets", json={"name": "other", "source": {"sample": 4}})
    assert "other already" in browser.post(f"{path}/about", data=form | {"name": "other"}).text
    for wrong in ({"name": " "}, {"licence": "x" * 201}):
        assert browser.post(f"{path}/about", data=form | wrong).status_code == 422, wrong
    answer = browser.patch(f"/api/v1/datasets/{dataset}", json={"notes": ""})
    assert (answer.json()["notes"], answer.json()["name"]) == ("", "Receipts")
