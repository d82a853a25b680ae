"""The kept numbers of images and objects, and the filters, give what counting and looking through all images gives."""

import collections
import itertools
import pathlib
import random

import pytest


def recounted(studio, dataset):
    """The numbers by looking through all images of the newest revision."""
    head = studio.data.datasets.get(dataset).head_rev
    with studio.engine.connect() as connection:
        items = list(studio.data.items.rows(connection, dataset, head))
    names = studio.data.datasets.classes(dataset, head)
    by_class = [
        (
            name,
            sum(any(each["class"] == name for each in item.labels) for item in items),
            sum(each["class"] == name for item in items for each in item.labels),
        )
        for name in names
    ]
    splits = {item.split for item in items}
    by_split = {
        split: (sum(i.split == split for i in items), sum(len(i.labels) for i in items if i.split == split))
        for split in splits
    }
    work = {
        "tags": sorted(collections.Counter(tag for item in items for tag in item.tags).items()),
        "stages": [(name, sum(item.stage == name for item in items)) for name in ("todo", "done", "accepted", "back")],
        "assignees": sorted(collections.Counter(item.assignee for item in items).items()),
    }
    return len(items), sum(len(item.labels) for item in items), by_class, by_split, work


def kept(studio, dataset):
    counts = studio.data.datasets.counts(dataset)
    by_split = {name: (n, n_object) for name, n, n_object in counts["splits"]}
    return counts["n_image"], counts["n_object"], counts["classes"], by_split, studio.data.datasets.work(dataset)


@pytest.mark.parametrize("n", [25, pytest.param(100, marks=pytest.mark.slow)])
def test_the_numbers_are_those_of_a_count_after_any_change(browser, studio, dataset, n):
    assert kept(studio, dataset) == recounted(studio, dataset)
    base = f"/api/v1/datasets/{dataset}"
    rng = random.Random(0)
    for i in range(n):
        kind = rng.choice(("edit", "edit", "split", "delete", "revert", "classes", "stage", "tags", "assign"))
        ordinal = rng.randrange(10)
        if kind == "edit":
            item = browser.get(f"{base}/images/{ordinal}").json()
            if "labels" not in item:
                continue  # deleted
            names = browser.get(f"{base}/classes").json()["names"]
            box = {"id": f"new{i}", "class": rng.choice(names), "box": [1, 2, 30, 40]}
            body = {"edit_id": f"edit-{i:04}", "base": item["first_rev"], "objects": [*item["labels"][:1], box]}
            assert browser.put(f"{base}/images/{ordinal}/labels", json=body).status_code == 200
        elif kind == "split":
            browser.patch(f"{base}/images", json={"ordinals": [ordinal, 3], "split": rng.choice(("test", "", "val"))})
        elif kind == "stage":
            browser.patch(f"{base}/images", json={"ordinals": [ordinal, 4], "stage": rng.choice(("todo", "done"))})
        elif kind == "tags":
            tags = {rng.choice(("add_tags", "remove_tags")): [rng.choice(("night", "blurred"))]}
            browser.patch(f"{base}/images", json={"ordinals": [ordinal, 5, 6], **tags})
        elif kind == "assign":
            browser.patch(f"{base}/images", json={"ordinals": [ordinal], "assignee": rng.choice(("admin", ""))})
        elif kind == "delete":
            browser.patch(f"{base}/images", json={"ordinals": [ordinal], "delete": True})
        elif kind == "revert":
            head = studio.data.datasets.get(dataset).head_rev
            browser.post(f"{base}:revert", json={"rev": rng.randint(1, head)})
        else:
            names = browser.get(f"{base}/classes").json()["names"]
            after = f"name {i}"
            body = {"names": [after, *names[1:]], "renamed": {names[0]: after}}
            assert browser.put(f"{base}/classes", json=body).status_code == 200
        assert kept(studio, dataset) == recounted(studio, dataset), kind


def test_each_filter_leaves_what_it_says_at_any_revision(browser, studio, dataset):
    base = f"/api/v1/datasets/{dataset}"
    labels = browser.get(f"{base}/images/3").json()["labels"]
    browser.put(f"{base}/images/3/labels", json={"edit_id": "edit-0001", "base": 1, "objects": labels[:1]})
    browser.patch(f"{base}/images", json={"ordinals": [4, 5], "split": "test"})
    browser.patch(f"{base}/images", json={"ordinals": [7], "delete": True})
    for rev in (1, 2, 4):
        everything = browser.get(f"{base}/images?rev={rev}").json()["items"]
        for classes, split, text in itertools.product(([], ["cat"], ["dog"], ["dog", "cat"]), ("", "test"), ("", "3")):
            query = "".join(f"&class={name}" for name in classes) + f"&split={split}&text={text}"
            expected = [
                each["ordinal"]
                for each in everything
                if set(classes) <= {label["class"] for label in each["labels"]}
                and split in ("", each["split"])
                and text in each["name"]
            ]
            found, after = [], -1
            while after is not None:
                page = browser.get(f"{base}/images?rev={rev}&limit=2&after={after}{query}").json()
                found, after = found + [each["ordinal"] for each in page["items"]], page["next"]
            assert found == expected, query


@pytest.mark.parametrize(
    "query", ["", "class=cat", "split=train", "class=cat&class=dog", "text=1", "class=dog&split=val"]
)
def test_the_explorer_says_how_many_images_the_filter_leaves(browser, studio, dataset, query):
    base = f"/data/{dataset}/images?{query}"
    browser.patch(f"/api/v1/datasets/{dataset}/images", json={"ordinals": [7], "delete": True})
    n = len(browser.get(f"/api/v1/datasets/{dataset}/images?{query}").json()["items"])
    assert f"{n} image" in browser.get(base).text


def test_an_older_database_gets_the_numbers(browser, studio, dataset):
    from alembic import command
    from alembic.config import Config

    from cvzoo.studio.data.datasets import Datasets
    from cvzoo.studio.database import migrate
    from cvzoo.studio.database.engine import writing

    browser.patch(f"/api/v1/datasets/{dataset}/images", json={"ordinals": [7], "delete": True})
    before = studio.data.datasets.counts(dataset), studio.data.datasets.work(dataset)
    config = Config()
    config.set_main_option("script_location", str(pathlib.Path(migrate.__file__).with_name("migrations")))
    with writing(studio.engine) as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0005")
    studio.engine.dispose()
    engine = migrate.ready_database(studio.place)
    datasets = Datasets(engine, studio.clock)
    after = datasets.counts(dataset), datasets.work(dataset)
    engine.dispose()
    assert after == before


@pytest.mark.parametrize("query", ["", "?limit=3", "?sort=-objects&after=2", "?class=cat&limit=2"])
def test_a_page_of_images_as_text_is_what_the_images_are(browser, studio, dataset, query):
    base = f"/api/v1/datasets/{dataset}/images"
    browser.patch(base, json={"ordinals": [1, 2], "add_tags": ["night", "é"]})
    found = browser.get(f"{base}{query}")
    assert found.headers["content-type"] == "application/json"
    items = found.json()["items"]
    rev = studio.data.datasets.get(dataset).head_rev
    assert items == [studio.data.items.get(dataset, each["ordinal"], rev).to_json() for each in items]
    assert found.json()["next"] == (items[-1]["ordinal"] if "limit" in query else None)
    assert found.json()["rev"] == rev
