"""What the page of a data set says of sizes: a sample of its images, however many there are."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from cvzoo.studio.data import overview
from cvzoo.studio.data.overview import Box
from cvzoo.studio.data.reach import LEAST, MOST, SIDE, place, reach_of

SQUARE = {"sides": [[64.0, 64.0]], "min_size": 128, "max_size": 256}


def test_sizes_objects_and_the_mean_image_are_those_of_the_images(browser, dataset, tmp_path):
    tree = browser.get(f"/api/v1/datasets/{dataset}/overview").json()
    assert (tree["n_image"], tree["n_all"], tree["n_box"], tree["n_mean"]) == (10, 10, 20, 10)
    assert tree["sides"] == [[64, 128, 10]]
    assert tree["shapes"] == [[60, 80, 10]]
    assert tree["boxes"][0] == {"height": 8.25, "width": 12.0, "image_height": 60, "image_width": 80}
    mean = np.asarray(Image.open(io.BytesIO(base64.b64decode(tree["mean"]))))
    grays = [Image.open(path).convert("L") for path in (tmp_path / "shapes" / "images").iterdir()]
    expected = np.mean([np.asarray(each.resize((32, 32), Image.Resampling.BOX), float) for each in grays], axis=0)
    assert mean.shape == (32, 32)
    assert np.abs(mean - expected).max() < 2


def test_the_objects_of_each_class_are_counted_by_split(browser, dataset):
    path = f"/api/v1/datasets/{dataset}"
    tree = browser.get(f"{path}/overview").json()["matrix"]
    assert tree == {"splits": ["train", "val"], "rows": [["cat", [8, 2]], ["dog", [8, 2]]]}
    browser.put(f"{path}/classes", json={"names": ["cat", "dog", "cow"]})
    image = browser.get(f"{path}/images/0").json()
    objects = [each | {"class": "cow"} for each in image["labels"]]
    browser.put(f"{path}/images/0/labels", json={"edit_id": "an-edit-0", "base": 1, "objects": objects})
    browser.patch(f"{path}/images", json={"ordinals": [1], "split": ""})
    tree = browser.get(f"{path}/overview").json()["matrix"]
    assert tree["splits"] == ["train", "val", ""]
    assert tree["rows"] == [["cat", [6, 2, 1]], ["dog", [6, 2, 1]], ["cow", [2, 0, 0]]]


def test_the_page_says_which_class_a_split_lacks(browser, dataset, monkeypatch):
    from cvzoo.studio.pages import data as page

    monkeypatch.setattr(page, "anchors_of_recipes", dict)  # what a process answers
    browser.patch(f"/api/v1/datasets/{dataset}/images", json={"ordinals": [4, 9], "split": "train"})
    change = {"edit_id": "an-edit-1", "base": 2, "objects": []}
    browser.patch(f"/api/v1/datasets/{dataset}/images", json={"ordinals": [3], "split": "val"})
    image = browser.get(f"/api/v1/datasets/{dataset}/images/3").json()
    objects = [each for each in image["labels"] if each["class"] == "cat"]
    change |= {"base": image["first_rev"], "objects": objects}
    assert browser.put(f"/api/v1/datasets/{dataset}/images/3/labels", json=change).status_code == 200
    text = browser.get(f"/data/{dataset}/overview").text
    assert "Classes by split" in text
    assert text.count(">none</span>") == 1
    assert 'images?class=cat&amp;split=val">1</a> <span class="soft">10 %' in text


def test_an_edit_makes_another_overview(browser, dataset):
    assert browser.get(f"/api/v1/datasets/{dataset}/overview").json()["n_box"] == 20
    body = {"edit_id": "an-edit-0", "base": 1, "objects": []}
    assert browser.put(f"/api/v1/datasets/{dataset}/images/0/labels", json=body).status_code == 200
    assert browser.get(f"/api/v1/datasets/{dataset}/overview").json()["n_box"] == 18


def test_of_many_images_some_are_read_evenly_spread(browser, dataset, monkeypatch):
    for name in ("_MOST", "_LEAST", "_MOST_BOX", "_MOST_LOOK"):
        monkeypatch.setattr(overview, name, 4)
    monkeypatch.setattr(overview, "_AT_ONCE", 3)
    overview.overview_of.cache_clear()
    tree = browser.get(f"/api/v1/datasets/{dataset}/overview").json()
    assert (tree["n_image"], tree["n_all"], tree["n_box"], len(tree["boxes"])) == (4, 10, 8, 4)
    overview.overview_of.cache_clear()


def test_a_box_is_reached_by_an_anchor_of_its_size_after_the_image_is_resized():
    boxes = [Box(32, 32, 64, 64), Box(32, 32, 128, 128), Box(64, 64, 128, 256), Box(200, 20, 256, 256)]
    found = reach_of("mine", SQUARE, boxes)
    # 64 x 64 after the resize, 32 x 32, 64 x 64, and 100 x 10, which is too long
    assert (found.n_box, found.n_reached) == (4, 2)
    assert found.rows == [("16 to 32", 1, 0), ("32 to 64", 1, 0), ("64 to 128", 2, 2)]
    assert found.reached.count("M") == found.missed.count("M") == 2


def test_the_area_within_reach_is_around_the_anchor():
    area = reach_of("mine", SQUARE, []).area
    assert area.count("M") > 5
    assert (place(LEAST), place(MOST), place(1e6)) == (0, SIDE, SIDE)


def test_the_page_has_plots_with_their_numbers(browser, dataset, monkeypatch):
    monkeypatch.setattr("cvzoo.studio.pages.data.anchors_of_recipes", lambda: {"mine": SQUARE, "other": SQUARE})
    text = browser.get(f"/data/{dataset}/overview?anchors=other").text
    assert "<option selected>other" in text
    assert "0 % of 20 objects" in text
    assert f'href="/data/{dataset}/images?size=64-127"' in text
    assert "Mean of 10 images in gray" in text


@pytest.mark.parametrize("n", [0, 1, 5, 1000])
def test_spread_numbers_are_different_and_have_both_ends(n):
    found = overview._spread(n, 5)
    assert found == sorted(set(found))
    assert len(found) == min(n, 5)
    assert not n or (found[0], found[-1]) == (0, n - 1)
