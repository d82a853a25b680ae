"""Tags, stages and assignees of images, and the filters and orders of their list."""

import json

import pytest

from cvzoo.studio.access.users import add_user, change_user
from cvzoo.studio.data.versions import summary
from cvzoo.studio.jobs.spec import EvaluateSpec


@pytest.fixture
def base(dataset):
    return f"/api/v1/datasets/{dataset}"


def ordinals(browser, base, query="", limit=200):
    """All ordinals of the list, a page after the other."""
    found, after = [], -1
    while after is not None:
        page = browser.get(f"{base}/images?limit={limit}&after={after}&{query}").json()
        found, after = found + [each["ordinal"] for each in page["items"]], page["next"]
    return found


def change(browser, base, chosen, **what):
    answer = browser.patch(f"{base}/images", json={"ordinals": chosen, **what})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_tags_are_added_and_removed_and_chosen_by(browser, base):
    assert change(browser, base, [1, 2, 3], add_tags=["Night", " a  b "])["n"] == 3
    assert browser.get(f"{base}/images/2").json()["tags"] == ["Night", "a b"]
    assert change(browser, base, [2], add_tags=["night", "ü"], remove_tags=["Night"])["n"] == 1
    for tag, expected in (("Night", [1, 3]), ("night", [2]), ("a b", [1, 2, 3]), ("ü", [2]), ("a", []), ("%", [])):
        assert ordinals(browser, base, f"tag={tag}") == expected, tag
    done = browser.patch(f"{base}/images", json={"where": {"tag": "a b"}, "remove_tags": ["a b", "none"]}).json()
    assert done["n"] == 3
    assert ordinals(browser, base, "tag=a b") == []
    browser.post(f"{base}:undo", json={"rev": done["rev"]})
    assert ordinals(browser, base, "tag=a b") == [1, 2, 3]


def test_stages_and_assignees_are_chosen_by(browser, base, studio):
    add_user(studio.engine, "ada", "annotator", studio.clock)
    change(browser, base, [0, 1, 2], assignee="Ada")
    change(browser, base, [3, 4], assignee="@me")
    change(browser, base, [1, 3], stage="done")
    change(browser, base, [4], stage="back")
    queries = {
        **{"stage=done": [1, 3], "stage=back": [4], "stage=open&assignee=ada": [0, 2]},
        **{"assignee=admin": [3, 4], "assignee=@me&stage=open": [4], "assignee=-": [5, 6, 7, 8, 9]},
    }
    for query, expected in queries.items():
        assert ordinals(browser, base, query) == expected, query
        assert f"{len(expected)} image" in browser.get(f"/data/{base[-19:]}/images?{query}").text
    page = browser.get(f"/data/{base[-19:]}/images/0").text
    assert f"/data/{base[-19:]}/images/4?stage=open&amp;assignee=%40me" in page  # the next of mine


def test_a_user_who_may_not_annotate_is_assigned_nothing(browser, base, studio):
    add_user(studio.engine, "vera", "viewer", studio.clock)
    gone = add_user(studio.engine, "carl", "trainer", studio.clock).id
    change_user(studio.engine, gone, is_active=False)
    for name in ("vera", "carl", "nobody"):
        answer = browser.patch(f"{base}/images", json={"ordinals": [1], "assignee": name})
        assert (answer.status_code, list(answer.json()["fields"])) == (422, ["assignee"])
    assert browser.get(f"{base}").json()["head_rev"] == 1


@pytest.mark.parametrize(
    "what",
    [
        {"stage": "finished"},
        {"add_tags": []},
        {"add_tags": ["x" * 61]},
        {"add_tags": ["a\nb\x07"]},
        {"add_tags": [" "]},
        {"stage": "done", "split": "val"},
        {},
    ],
)
def test_changes_that_are_none_are_refused(browser, base, what):
    assert browser.patch(f"{base}/images", json={"ordinals": [1], **what}).status_code == 422
    assert browser.get(f"{base}").json()["head_rev"] == 1


def test_an_image_has_at_most_fifty_tags(browser, base):
    for start in (0, 20):
        change(browser, base, [1], add_tags=[f"tag {i}" for i in range(start, start + 20)])
    answer = browser.patch(f"{base}/images", json={"ordinals": [1, 2], "add_tags": [f"more {i}" for i in range(20)]})
    assert (answer.status_code, answer.json()["expected"]) == (422, "at most 50")
    assert browser.get(f"{base}/images/2").json()["tags"] == []


def test_the_work_of_one_does_not_disturb_the_edit_of_another(browser, base):
    labels = browser.get(f"{base}/images/3").json()["labels"]
    change(browser, base, [3], stage="done", assignee=None)
    change(browser, base, [3], split="test")
    put = {"edit_id": "edit-0001", "base": 1, "objects": labels[:1]}
    assert browser.put(f"{base}/images/3/labels", json=put).status_code == 200
    after = browser.get(f"{base}/images/3").json()
    assert (after["stage"], after["split"], after["n_object"]) == ("done", "test", 1)
    late = {"edit_id": "edit-0002", "base": 1, "objects": labels}
    assert browser.put(f"{base}/images/3/labels", json=late).status_code == 412  # that was an edit


def test_a_stage_is_reverted_and_is_no_difference_of_versions(browser, base, studio, dataset):
    change(browser, base, [3], stage="done", add_tags=None)
    change(browser, base, [3, 4], add_tags=["x"])
    versions = studio.data.versions
    assert versions.content(dataset, 1, "boxes") == versions.content(dataset, 3, "boxes")
    first, second = (
        versions.create(studio.data.datasets.get(dataset), name, {}, "us_x") for name in ("first", "second")
    )
    import dataclasses

    found = versions.difference(dataclasses.replace(first, rev=1), dataclasses.replace(second, rev=3))
    assert summary(found)["images"] == {}
    assert browser.post(f"{base}:revert", json={"rev": 1}).json()["n"] == 2
    assert browser.get(f"{base}/images/3").json()["stage"] == "todo"
    assert ordinals(browser, base, "tag=x") == []


def objects_of(browser, base, n_by_ordinal):
    for i, (ordinal, n) in enumerate(n_by_ordinal.items()):
        item = browser.get(f"{base}/images/{ordinal}").json()
        objects = [{"id": f"o{k}", "class": "cat", "box": [1, 1, 9, 9]} for k in range(n)]
        put = {"edit_id": f"edit-{i:04}", "base": item["first_rev"], "objects": objects}
        assert browser.put(f"{base}/images/{ordinal}/labels", json=put).status_code == 200


@pytest.mark.parametrize("query", ["", "class=cat", "text=.png&edited=1"])
def test_each_order_is_that_of_all_images_page_by_page(browser, base, query, dataset):
    objects_of(browser, base, {0: 5, 3: 5, 4: 1, 7: 3})
    browser.patch(f"{base}/images", json={"ordinals": [5], "delete": True})
    everything = {each["ordinal"]: each for each in browser.get(f"{base}/images?{query}").json()["items"]}
    keys = {
        **{"name": lambda item: item["name"], "-objects": lambda item: -item["n_object"]},
        **{"objects": lambda item: item["n_object"], "size": lambda item: item["height"] * item["width"]},
    }
    for sort, key in keys.items():
        expected = sorted(everything, key=lambda ordinal: (key(everything[ordinal]), ordinal))
        for limit in (3, 200):
            assert ordinals(browser, base, f"{query}&sort={sort}", limit) == expected, (sort, limit)
        page = browser.get(f"/data/{dataset}/images/{expected[1]}?{query}&sort={sort}").text
        assert f"/images/{expected[0]}?" in page
        assert f"/images/{expected[2]}?" in page
        before = browser.get(f"/data/{dataset}/images?{query}&sort={sort}&before={expected[2]}").text
        assert [f'value="{each}" aria-label' in before for each in expected[:3]] == [True, True, False]


def test_numbers_of_objects_and_sizes_are_ranges(browser, base):
    objects_of(browser, base, {0: 5, 3: 4, 4: 0})
    for query, expected in {"n=5": [0], "n=4-": [0, 3], "n=-1": [4], "n=0": [4], "n=4-4": [3], "n=9-": []}.items():
        assert ordinals(browser, base, query) == expected, query
    assert ordinals(browser, base, "size=80") == ordinals(browser, base, "size=-80") == list(range(10))
    assert ordinals(browser, base, "size=81-") == []
    for wrong in ("n=a", "n=1-2-3", "size=1.5", "stage=x", "sort=labels"):
        assert browser.get(f"{base}/images?{wrong}").status_code == 422, wrong


@pytest.fixture
def evaluation(browser, studio, work, base):
    """An evaluation of a version, with errors in two images."""
    version = browser.post(f"{base}/versions", json={"name": "first"}).json()
    work(studio)
    data = browser.get(f"/api/v1/versions/{version['id']}").json()["data"]
    job = studio.jobs.create("of the version", EvaluateSpec("m", "zoo:m", "", data), None)
    run = studio.place.run(job.id)
    images = studio.place.version(version["id"]) / "images"
    box = {"verdict": "wrong", "error": "background", "label": "cat", "box": [0, 0, 5, 5]}
    rows = [
        {"index": i, "image": f"{i}.png", "path": str(images / f"{i}.png"), "boxes": [box] * n}
        for i, n in ((2, 1), (7, 3))
    ]
    run.mkdir(parents=True, exist_ok=True)
    (run / "verdicts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (run / "scores.json").write_text(json.dumps({"map": 0.5}))
    return job.id


def test_images_with_errors_of_an_evaluation_are_chosen_and_sorted(browser, base, evaluation, dataset):
    assert ordinals(browser, base, f"verdict={evaluation}") == [2, 7]
    assert ordinals(browser, base, f"verdict={evaluation}&sort=-errors", 1) == [7, 2]
    page = browser.get(f"/data/{dataset}/images/2?verdict={evaluation}&sort=-errors").text
    assert f"/images/7?verdict={evaluation}&amp;sort=-errors" in page
    done = browser.patch(f"{base}/images", json={"where": {"verdict": evaluation}, "stage": "back"}).json()
    assert done["n"] == 2
    for wrong in ("verdict=jb_" + "a" * 16, "sort=-errors", "verdict=x"):
        assert browser.get(f"{base}/images?{wrong}").status_code == 422, wrong


def test_the_worst_by_the_findings_come_first(browser, base, studio, work, clock):
    put = {"edit_id": "edit-0001", "base": 1}
    objects = [{"id": f"o{k}", "class": "cat", "box": [50 + k, 60, 70 + k, 99]} for k in range(3)]
    browser.put(f"{base}/images/6/labels", json=put | {"objects": objects})
    clock.now += 3000
    studio.data.tasks.tick()
    work(studio)
    assert ordinals(browser, base, "sort=-findings", 3)[:2] == [6, 0]
