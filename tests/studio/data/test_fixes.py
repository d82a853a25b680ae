"""Findings that are fixed automatically: what would change is shown one by one, or is one revision."""

import json
import pathlib

import pytest

from cvzoo.studio.data import fixes
from cvzoo.studio.worker.fix_data import fixed


@pytest.fixture
def path(dataset):
    return f"/api/v1/datasets/{dataset}"


def edit(browser, path, ordinal, change):
    """Changes the objects of an image by a function."""
    image = browser.get(f"{path}/images/{ordinal}").json()
    objects = image["labels"]
    change(objects)
    put = {"edit_id": f"edit-000{ordinal}", "base": image["first_rev"], "objects": objects}
    assert browser.put(f"{path}/images/{ordinal}/labels", json=put).status_code == 200


def check(studio, work, clock):
    clock.now += 3000
    studio.data.tasks.tick()
    work(studio)


def kinds(browser, path):
    return sorted(each["kind"] for each in browser.get(f"{path}/findings").json()["items"] if each["state"] == "open")


@pytest.fixture
def faulty(browser, studio, work, clock, path):
    """The data set with two boxes that exceed their images, one with a polygon, and a box that is there twice."""
    edit(browser, path, 1, lambda objects: objects[0].update(box=[10, 50, 20, 95]))
    polygon = [60, 10, 85, 10, 85, 20, 60, 20]
    edit(browser, path, 2, lambda objects: objects[1].update(box=[10, 60, 20, 85], polygons=[polygon]))
    edit(browser, path, 3, lambda objects: objects.append({**objects[0], "id": "again"}))
    check(studio, work, clock)
    assert kinds(browser, path) == ["box-duplicate", "box-outside", "box-outside"]
    return path


def test_each_change_is_shown_before_and_all_are_one_revision(browser, studio, work, clock, faulty):
    body = {"kinds": ["box-outside", "box-duplicate"]}
    dry = browser.post(f"{faulty}:fix", json=body | {"dry": True}).json()
    assert (dry["rev"], dry["n"], dry["n_change"]) == (4, 3, 3)
    assert [(each["kind"], each["name"], each["done"]) for each in dry["changes"]] == [
        ("box-outside", "1.png", "clipped to the image"),
        ("box-outside", "2.png", "clipped to the image"),
        ("box-duplicate", "3.png", "object dropped"),
    ]
    assert dry["changes"][2]["object"] == "again"
    before = browser.get(f"{faulty}/images/1").json()["labels"]
    answer = browser.post(f"{faulty}:fix", json=body).json()
    assert (answer["rev"], answer["n"], answer["changes"]) == (5, 3, dry["changes"])
    after = browser.get(f"{faulty}/images/1").json()["labels"]
    extra = {key: value for key, value in before[0]["extra"].items() if key != "area"}  # it was that of the box
    assert after == [before[0] | {"box": [10, 50, 20, 80], "extra": extra}, before[1]]
    outside = browser.get(f"{faulty}/images/2").json()["labels"][1]
    assert (outside["box"], outside["polygons"]) == ([10, 60, 20, 80], [[60, 10, 80, 10, 80, 20, 60, 20]])
    assert len(browser.get(f"{faulty}/images/3").json()["labels"]) == 2
    (revision, *_) = browser.get(f"{faulty}/revisions").json()["items"]
    assert (revision["kind"], revision["message"]) == ("fix", "box-outside, box-duplicate: 3 changes")
    check(studio, work, clock)
    assert kinds(browser, faulty) == []
    assert browser.post(f"{faulty}:undo", json={"rev": 5}).json()["n"] == 3


def test_what_was_waived_stays_as_it_is(browser, faulty):
    found = browser.get(f"{faulty}/findings?kind=box-outside").json()["items"]
    (waived,) = [each["id"] for each in found if each["ordinal"] == 1]
    browser.patch(f"{faulty}/findings", json={"ids": [waived], "reason": "it is cut off"})
    answer = browser.post(f"{faulty}:fix", json={"kinds": ["box-outside"]}).json()
    assert [each["ordinal"] for each in answer["changes"]] == [2]
    assert browser.get(f"{faulty}/images/1").json()["labels"][0]["box"] == [10, 50, 20, 95]


def test_other_faults_of_the_boxes_that_are_fixed_stay(browser, studio, work, clock, path):
    for ordinal in (1, 2, 3):  # ends a pixel beyond the image
        edit(browser, path, ordinal, lambda objects: objects[0].update(box=[10, 50, 20, 81]))
    edit(browser, path, 4, lambda objects: objects[0].update(box=[10, 60, 20, 90]))
    edit(browser, path, 5, lambda objects: objects[0].update(box=[70, 60, 75, 70]))
    edit(browser, path, 6, lambda objects: objects[0].update(box=[30, 60, 20, 70]))
    check(studio, work, clock)
    assert {"box-beyond", "box-negative", "box-outside", "one-based"} <= set(kinds(browser, path))
    answer = browser.post(f"{path}:fix", json={"kinds": ["one-based"]}).json()
    assert [each["done"] for each in answer["changes"]] == ["all boxes: 1 subtracted"]
    boxes = [browser.get(f"{path}/images/{i}").json()["labels"][0]["box"] for i in range(1, 7)]
    assert boxes == [[9, 49, 19, 80]] * 3 + [[9, 59, 19, 89], [69, 59, 74, 69], [29, 59, 19, 69]]


def test_an_area_is_fixed_without_the_box(browser, studio, work, clock, path):
    edit(browser, path, 1, lambda objects: objects[0].update(box=[10, 50, 20, 95], extra={"area": -1}))
    check(studio, work, clock)
    assert kinds(browser, path) == ["area-wrong", "box-outside"]
    browser.post(f"{path}:fix", json={"kinds": ["area-wrong"]})
    label = browser.get(f"{path}/images/1").json()["labels"][0]
    assert (label["box"], label.get("extra", {})) == ([10, 50, 20, 95], {})


def test_nothing_is_fixed_before_the_newest_revision_is_checked(browser, path, faulty):
    edit(browser, path, 4, lambda objects: objects.pop())
    refused = browser.post(f"{path}:fix", json={"kinds": ["box-outside"]})
    assert refused.status_code == 409
    assert "revision 5 is not checked yet" in refused.json()["detail"]


@pytest.mark.parametrize("wrong", [["box-sliver"], ["x"], []])
def test_kinds_that_a_person_has_to_decide_are_refused(browser, path, wrong):
    assert browser.post(f"{path}:fix", json={"kinds": wrong}).status_code == 422


def test_one_fix_is_made_at_a_time(browser, studio, faulty):
    with studio.data.fixing:
        refused = browser.post(f"{faulty}:fix", json={"kinds": ["box-outside"], "dry": True})
    assert (refused.status_code, refused.json()["try"]) == (429, "again in some seconds")
    assert browser.post(f"{faulty}:fix", json={"kinds": ["box-outside"], "dry": True}).json()["n"] == 2
    assert not any(path.name.startswith("fix-") for path in studio.place.tasks.iterdir())


def test_only_images_with_findings_are_read_and_only_some_changes_are_kept(browser, faulty, monkeypatch):
    seen = []

    def ask(asked):
        seen.extend(json.loads(line)["ordinal"] for line in pathlib.Path(asked["rows"]).read_text().splitlines())
        fixed(asked)

    monkeypatch.setattr(fixes, "_ask", ask)
    monkeypatch.setattr(fixes, "MAX_CHANGES", 1)
    answer = browser.post(f"{faulty}:fix", json={"kinds": ["box-outside"]}).json()
    assert (seen, answer["n_change"], len(answer["changes"])) == ([1, 2], 2, 1)


def test_a_kind_without_findings_changes_nothing(browser, path):
    assert browser.post(f"{path}:fix", json={"kinds": ["box-empty"]}).json() == {
        **{"rev": 1, "n": 0, "n_change": 0, "changes": []}
    }


def test_images_that_cannot_be_decoded_are_deleted_and_leaks_leave_the_training_set(
    browser, studio, work, tmp_path, write_coco
):
    root = write_coco(tmp_path / "bad")
    (root / "images" / "3.png").write_bytes(b"no image")
    (root / "images" / "0.png").write_bytes((root / "images" / "4.png").read_bytes())  # of val
    body = {"name": "bad", "source": {"spec": f"coco:{root}"}}
    path = f"/api/v1/datasets/{browser.post('/api/v1/datasets', json=body).json()['id']}"
    work(studio)
    found = kinds(browser, path)
    assert {"photo-unreadable", "photo-duplicate-split"} <= set(found)
    answer = browser.post(f"{path}:fix", json={"kinds": ["photo-unreadable", "photo-duplicate-split"]}).json()
    assert [(each["ordinal"], each["kind"]) for each in answer["changes"]] == [
        (0, "photo-duplicate-split"),
        (3, "photo-unreadable"),
    ]
    assert browser.get(f"{path}/images/3").status_code == 410
    assert browser.get(f"{path}/images/0").json()["split"] == ""
    assert browser.get(path).json()["splits"] == [["train", 6, 12], ["val", 2, 4], ["", 1, 2]]


def test_swapped_boxes_are_swapped_back(browser, studio, work, clock, path):
    for ordinal in (0, 1, 2):
        edit(browser, path, ordinal, lambda objects: (objects.pop(), objects[0].update(box=[62, 10, 78, 30])))
    check(studio, work, clock)
    assert kinds(browser, path) == ["xy-swapped"] * 3
    assert browser.post(f"{path}:fix", json={"kinds": ["xy-swapped"]}).json()["n"] == 3
    assert browser.get(f"{path}/images/1").json()["labels"][0]["box"] == [10, 62, 30, 78]
    check(studio, work, clock)
    assert kinds(browser, path) == []


def test_the_findings_page_shows_each_change_and_fixes_them(browser, faulty):
    page = faulty.replace("/api/v1/datasets", "/data")
    assert "Show each change" in browser.get(f"{page}/findings?kind=box-outside").text
    form = {"kind": "box-outside", "action": "preview"}
    shown = browser.post(f"{page}/fix", data=form)
    assert shown.status_code == 200
    assert shown.text.count("clipped to the image") == 3  # the fix, and two changes
    assert browser.get(faulty).json()["head_rev"] == 4
    assert browser.post(f"{page}/fix", data=form | {"action": "fix"}).status_code == 303
    assert browser.get(faulty).json()["head_rev"] == 5
    refused = browser.post(f"{page}/fix", data=form)
    assert (refused.status_code, "is not checked yet" in refused.text, "again in some seconds" in refused.text) == (
        *(422, True, True),
    )
    unknown = browser.post(f"{page}/fix", data={"kind": "box-sliver"})  # of which there are no findings
    assert "some values are invalid; kinds: box-sliver has no fix" in unknown.text
