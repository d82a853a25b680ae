"""Edits of annotations: once each, in order, none lost."""

import json
import threading

import pytest


@pytest.fixture
def path(dataset):
    return f"/api/v1/datasets/{dataset}/images/3"


def put(browser, path, base, objects, edit_id="edit-0001"):
    return browser.put(f"{path}/labels", json={"edit_id": edit_id, "base": base, "objects": objects})


def test_an_edit_that_is_sent_twice_applies_once(browser, studio, path, dataset):
    labels = browser.get(path).json()["labels"]
    assert put(browser, path, 1, labels[:1]).json() == {"rev": 2}
    assert put(browser, path, 1, labels[:1]).json() == {"rev": 2}
    assert studio.data.datasets.get(dataset).head_rev == 2
    assert browser.get(path).json()["labels"] == labels[:1]
    assert browser.get(f"{path}?rev=1").json()["labels"] == labels
    assert [each["kind"] for each in browser.get(f"{path}/history").json()["items"]] == ["edit", "import"]


def test_an_edit_of_what_was_changed_meanwhile_shows_both(browser, path):
    labels = browser.get(path).json()["labels"]
    put(browser, path, 1, labels[:1], "edit-of-one")
    answer = put(browser, path, 1, labels[1:], "edit-of-two")
    assert answer.status_code == 412
    assert answer.json()["current"]["labels"] == labels[:1]
    assert put(browser, path, answer.json()["current"]["first_rev"], labels[1:], "edit-of-two").json() == {"rev": 3}


def test_edits_at_once_are_one_after_the_other(browser, studio, path, dataset):
    labels = browser.get(path).json()["labels"]
    codes = []

    def edit(i):
        codes.append(put(browser, path, 1, labels[: i % 2], f"edit-00{i:02}").status_code)

    threads = [threading.Thread(target=edit, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == [200] + [412] * 7
    assert studio.data.datasets.get(dataset).head_rev == 2


GOOD = {"id": "a", "class": "cat", "box": [0, 0, 5, 5]}


@pytest.mark.parametrize(
    "objects",
    [
        [GOOD, GOOD],
        [GOOD | {"class": "bird"}],
        [GOOD | {"box": [0, 0, 5]}],
        [GOOD | {"box": [0, 0, 5, 1e30]}],
        [GOOD | {"box": [0, 0, 5, True]}],
        [GOOD | {"box": "abcd"}],
        [{"id": "a", "class": "cat"}],
        [GOOD | {"id": 5}],
        [GOOD | {"other": 1}],
        [GOOD | {"polygons": [[1, "x"]]}],
        [GOOD | {"extra": {"text": "x" * 200_000}}],
        ["x"],
    ],
)
def test_objects_that_no_image_has_are_refused(browser, path, objects):
    answer = put(browser, path, 1, objects)
    assert answer.status_code == 422, answer.text
    assert "object" in answer.json()["detail"]
    assert browser.get(path).json()["first_rev"] == 1


def test_numbers_that_are_not_finite_are_refused(browser, path):
    text = '{"edit_id": "edit-0001", "base": 1, "objects": [{"id": "a", "class": "cat", "box": [0, 0, 5, NaN]}]}'
    answer = browser.put(f"{path}/labels", content=text, headers={"content-type": "application/json"})
    assert answer.status_code == 422


def test_images_are_moved_deleted_and_brought_back(browser, studio, dataset, path):
    images = f"/api/v1/datasets/{dataset}/images"
    assert browser.patch(images, json={"ordinals": [1, 3], "split": "val"}).json() == {"rev": 2, "n": 2}
    assert browser.patch(images, json={"ordinals": [3], "delete": True}).json() == {"rev": 3, "n": 1}
    assert browser.get(path).status_code == 410
    assert put(browser, path, 1, []).status_code == 410
    assert browser.get(f"/api/v1/datasets/{dataset}").json()["n_image"] == 9
    assert browser.patch(images, json={"ordinals": [1]}).status_code == 422
    browser.post(f"/api/v1/datasets/{dataset}:revert", json={"rev": 1, "ordinals": [3]})
    assert browser.get(path).json()["split"] == "train"
    assert studio.data.datasets.counts(dataset)["splits"] == [("train", 7, 14), ("val", 3, 6)]


@pytest.mark.parametrize("n", [25, pytest.param(100, marks=pytest.mark.slow)])
def test_reading_and_reverting_any_revision_is_exact(browser, studio, dataset, n):
    """Each revision of random edits is read as it was, and a revert gives the content of an earlier one."""
    import random

    choice = random.Random(0)
    task = studio.data.datasets.get(dataset).task
    seen = {1: studio.data.versions.content(dataset, 1, task)}
    for i in range(n):
        ordinal = choice.randrange(10)
        path = f"/api/v1/datasets/{dataset}/images/{ordinal}"
        image = browser.get(path)
        if image.status_code == 410 or choice.random() < 0.15:
            rev = choice.randrange(1, len(seen) + 1)
            new = browser.post(f"/api/v1/datasets/{dataset}:revert", json={"rev": rev}).json()["rev"]
            seen[new] = studio.data.versions.content(dataset, new, task)
            assert seen[new] == seen[rev]
        elif choice.random() < 0.2:
            new = browser.patch(path.rpartition("/")[0], json={"ordinals": [ordinal], "delete": True}).json()["rev"]
        else:
            labels = [each for each in image.json()["labels"] if choice.random() < 0.7]
            labels.append({"id": f"new{i}", "class": "dog", "box": [i, i, i + 5, i + 5.5]})
            new = put(browser, path, image.json()["first_rev"], labels, f"edit-{i:04}").json()["rev"]
        seen[new] = studio.data.versions.content(dataset, new, task)
    for rev, content in seen.items():
        assert studio.data.versions.content(dataset, rev, task) == content


def test_a_token_that_reads_changes_nothing(browser, stranger, studio, dataset, path):
    from cvzoo.studio.access.tokens import new_token

    reader = {"authorization": f"Bearer {new_token(studio.engine, 'reader', 'read', 1, studio.clock)}"}
    base = f"/api/v1/datasets/{dataset}"
    assert stranger.get(path, headers=reader).status_code == 200
    writes = [
        ("put", f"{path}/labels", {"edit_id": "edit-0001", "base": 1, "objects": []}),
        ("patch", f"{base}/images", {"ordinals": [1], "delete": True}),
        ("patch", f"{base}/findings", {"kind": "x"}),
        ("put", f"{base}/classes", {"names": []}),
        ("post", f"{base}:split", {"percent": {"train": 50, "val": 50}}),
        ("post", f"{base}:revert", {"rev": 1}),
        ("post", f"{base}:check", {}),
        ("post", f"{base}/versions", {"name": "x"}),
        ("post", "/api/v1/datasets", {"name": "x", "source": {"sample": 5}}),
        ("patch", base, {"name": "x"}),
    ]
    for method, address, body in writes:
        assert stranger.request(method, address, json=body, headers=reader).status_code == 403, address
    assert stranger.delete(base, headers=reader).status_code == 403
    assert studio.data.datasets.get(dataset).head_rev == 1


def test_a_write_of_another_site_is_refused(browser, path):
    del browser.headers["sec-fetch-site"]
    answer = browser.put(f"{path}/labels", json={"edit_id": "edit-0001", "base": 1, "objects": []})
    assert answer.status_code == 403


@pytest.mark.parametrize("name", ["\x00", "a\nb", " ", "a\u202eb", "\ud800"])
def test_a_name_that_cannot_be_shown_is_refused(browser, dataset, name):
    for answer in (
        browser.post("/api/v1/datasets", content=json.dumps({"name": name, "source": {"sample": 4}})),
        browser.patch(f"/api/v1/datasets/{dataset}", content=json.dumps({"name": name})),
    ):
        assert answer.status_code == 422, answer.text


@pytest.mark.parametrize("number", [2**31 + 1, 2**63, 10**30, -1])
def test_numbers_beyond_the_range_of_the_database_are_refused(browser, dataset, path, number):
    objects = {"edit_id": "0123456789abcdef", "objects": [], "base": number}
    answers = [
        browser.put(f"{path}/labels", json=objects),
        browser.post(f"/api/v1/datasets/{dataset}:revert", json={"rev": number}),
        browser.post(f"/api/v1/datasets/{dataset}:revert", json={"rev": 1, "ordinals": [number]}),
        browser.patch(f"/api/v1/datasets/{dataset}/images", json={"ordinals": [number], "delete": True}),
        browser.post(f"/data/{dataset}/revert", data={"rev": number}),
    ]
    assert [answer.status_code for answer in answers] == [422] * len(answers)


def test_a_change_of_all_that_a_filter_leaves_is_undone_alone(browser, studio, dataset, path):
    images = f"/api/v1/datasets/{dataset}/images"
    change = {"where": {"split": "train"}, "split": "test"}
    assert browser.patch(images, json=change | {"dry": True}).json() == {"rev": 1, "n": 8}
    assert browser.patch(images, json=change).json() == {"rev": 2, "n": 8}
    assert studio.data.datasets.counts(dataset)["splits"] == [("val", 2, 4), ("test", 8, 16)]
    put(browser, path, 2, [])  # a later edit of one of them, which stays
    assert browser.post(f"/api/v1/datasets/{dataset}:undo", json={"rev": 2}).json() == {"rev": 4, "n": 7}
    assert browser.get(path).json()["split"] == "test"
    assert browser.get(path).json()["labels"] == []
    assert browser.patch(images, json={"where": {"class": ["cat"]}, "delete": True}).json() == {"rev": 5, "n": 9}
    assert browser.post(f"/api/v1/datasets/{dataset}:undo", json={"rev": 5}).json() == {"rev": 6, "n": 9}
    assert browser.get(f"/api/v1/datasets/{dataset}").json()["n_image"] == 10
    assert browser.post(f"/api/v1/datasets/{dataset}:undo", json={"rev": 5}).json() == {"rev": 6, "n": 0}


def test_what_cannot_be_undone_alone_says_why(browser, dataset):
    address = f"/api/v1/datasets/{dataset}"
    assert browser.put(f"{address}/classes", json={"names": ["cat", "dog", "cow"]}).json() == {"rev": 2}
    for rev, code, words in ((1, 409, "the import"), (2, 409, "changes of classes"), (9, 404, "no revision 9")):
        answer = browser.post(f"{address}:undo", json={"rev": rev})
        assert (answer.status_code, words in answer.json()["detail"]) == (code, True)
    for body in ({"split": "val"}, {"split": "val", "ordinals": [1], "where": {}}, {"where": {"x": 1}, "split": "val"}):
        assert browser.patch(f"{address}/images", json=body).status_code == 422
