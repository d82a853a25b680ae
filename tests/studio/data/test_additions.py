"""More images for a data set: one revision, all or nothing."""

import base64
import io
import json
import tarfile

import numpy as np
import pytest
from PIL import Image
from sqlalchemy import func, select

from cvzoo.studio.data import additions
from cvzoo.studio.data.datasets import Datasets
from cvzoo.studio.database.engine import reading
from cvzoo.studio.database.tables import ITEM, ITEM_CLASS
from cvzoo.studio.problems import Problem
from cvzoo.studio.verify import verify


def renamed(root, prefix, classes=()):
    """The data set in COCO's layout at root, its images with other names, and classes with others: {old: new}."""
    for path in (root / "images").iterdir():
        path.rename(path.with_name(prefix + path.name))
    for path in (root / "annotations").iterdir():
        tree = json.loads(path.read_text())
        for each in tree["images"]:
            each["file_name"] = prefix + each["file_name"]
        for each in tree["categories"]:
            each["name"] = dict(classes).get(each["name"], each["name"])
        path.write_text(json.dumps(tree))
    return root


@pytest.fixture
def path(dataset):
    return f"/api/v1/datasets/{dataset}"


@pytest.fixture
def more(tmp_path, write_coco):
    """A specification of five other images with cats and cows."""
    return f"coco:{renamed(write_coco(tmp_path / 'more', n=5, seed=1), 'new-', {'dog': 'cow'})}"


def add(browser, studio, work, path, source):
    answer = browser.post(f"{path}:add", json=source)
    assert answer.status_code == 202, answer.text
    work(studio)
    return browser.get(path).json()


def upload(browser, name, data):
    more = f"filename {base64.b64encode(name.encode()).decode()}"
    path = browser.post("/api/v1/uploads", headers={"upload-length": str(len(data)), "upload-metadata": more}).headers[
        "location"
    ]
    headers = {"upload-offset": "0", "content-type": "application/offset+octet-stream"}
    assert browser.patch(path, content=data, headers=headers).status_code == 204
    return path.rpartition("/")[2]


def archive(*names, seed=5):
    """A tar file of images."""
    buffer, rng = io.BytesIO(), np.random.default_rng(seed)
    with tarfile.open(fileobj=buffer, mode="w") as file:
        for name in names:
            image = io.BytesIO()
            Image.fromarray(rng.integers(0, 255, (20, 30, 3), np.uint8)).save(image, "PNG")
            info = tarfile.TarInfo(name)
            info.size = image.tell()
            file.addfile(info, io.BytesIO(image.getvalue()))
    return buffer.getvalue()


def test_images_are_added_as_one_revision_with_new_classes_at_the_end(browser, studio, work, clock, path, more):
    tree = add(browser, studio, work, path, {"spec": more})
    assert (tree["head_rev"], tree["n_image"], tree["n_object"], tree["add_error"]) == (2, 15, 30, "")
    assert tree["classes"] == [["cat", 15, 15], ["dog", 10, 10], ["cow", 5, 5]]
    assert tree["splits"] == [["train", 12, 24], ["val", 3, 6]]
    assert browser.get(f"{path}/images/10").json()["name"] == "new-0.png"
    (revision, _) = browser.get(f"{path}/revisions").json()["items"]
    assert (revision["kind"], revision["n_changed"]) == ("add", 5)
    assert revision["message"] == f"{more}; new classes: cow"
    clock.now += 3000
    studio.data.tasks.tick()  # it is checked like after an edit
    work(studio)
    assert browser.get(path).json()["checked_rev"] == 2
    browser.post(f"{path}:revert", json={"rev": 1})
    tree = browser.get(path).json()
    assert (tree["n_image"], [name for name, *_ in tree["classes"]]) == (10, ["cat", "dog"])
    assert verify(studio.place, clock).faults == ()


def test_a_version_has_what_was_added(browser, studio, work, path, more):
    add(browser, studio, work, path, {"spec": more})
    version = browser.post(f"{path}/versions", json={"name": "v"}).json()
    work(studio)
    tree = browser.get(f"/api/v1/versions/{version['id']}").json()
    assert (tree["state"], tree["counts"]["n_image"]) == ("ready", 15), tree
    assert len(list((studio.place.version(version["id"]) / "images").iterdir())) == 15


def test_names_that_are_taken_are_refused_be_the_images_deleted(browser, studio, work, path, more, tmp_path):
    again = f"coco:{tmp_path}/shapes"
    tree = add(browser, studio, work, path, {"spec": again})
    assert (tree["head_rev"], tree["n_image"]) == (1, 10)
    assert "10 of 10 images have names that the data set has: 0.png, 1.png" in tree["add_error"]
    assert "Nothing was added" in browser.get(path.replace("/api/v1/datasets", "/data")).text
    browser.patch(f"{path}/images", json={"where": {}, "delete": True})
    assert "10 of 10" in add(browser, studio, work, path, {"spec": again})["add_error"]
    assert add(browser, studio, work, path, {"spec": more})["add_error"] == ""


def test_the_same_bytes_under_another_name_are_a_finding(browser, studio, work, clock, path, tmp_path, write_coco):
    same = renamed(write_coco(tmp_path / "same"), "copy-")
    assert add(browser, studio, work, path, {"spec": f"coco:{same}"})["n_image"] == 20
    clock.now += 3000
    studio.data.tasks.tick()
    work(studio)
    assert len(browser.get(f"{path}/findings?kind=photo-duplicate").json()["items"]) == 10


def test_uploaded_images_without_annotations_are_added_and_the_upload_is_dropped(browser, studio, work, path):
    sent = upload(browser, "images.tar", archive("a.png", "b.png"))
    tree = add(browser, studio, work, path, {"uploads": [sent]})
    assert (tree["n_image"], tree["n_object"], tree["splits"][-1]) == (12, 20, ["", 2, 0])
    assert list(studio.place.uploads.iterdir()) == list(studio.place.tasks.iterdir()) == []
    broken = upload(browser, "images.tar", b"no archive")
    assert "neither a tar nor a zip" in add(browser, studio, work, path, {"uploads": [broken]})["add_error"]
    assert list(studio.place.uploads.iterdir()) == []


def test_nothing_is_seen_of_an_addition_whose_server_is_killed_half_way(
    browser, studio, work, clock, path, more, monkeypatch
):
    before = browser.get(path).json(), browser.get(f"{path}/images").json(), browser.get(f"{path}/overview").json()
    assert browser.post(f"{path}:add", json={"spec": more}).status_code == 202

    def killed(*_):
        raise SystemError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(additions, "count_revision", killed)
        studio.data.tasks.tick()
        with pytest.raises(SystemError):
            studio.data.tasks.tick()  # its rows are there, and wait
    after = browser.get(path).json(), browser.get(f"{path}/images").json(), browser.get(f"{path}/overview").json()
    assert [{**before[0], "tasks": 0}, *before[1:]] == [{**after[0], "tasks": 0}, *after[1:]]
    assert browser.get(f"{path}/images/10").status_code == 410
    assert browser.get(f"{path}/images/10/history").json()["items"] == []
    assert verify(studio.place, clock).faults == ()
    change = {"ordinals": [0], "split": "val"}  # an edit comes first
    assert browser.patch(f"{path}/images", json=change).json() == {"rev": 2, "n": 1}
    assert browser.get(path).json()["n_image"] == 10
    work(studio)
    tree = browser.get(path).json()
    assert (tree["head_rev"], tree["n_image"], tree["n_object"]) == (3, 15, 30)
    assert verify(studio.place, clock).faults == ()


def test_no_rows_of_a_refused_addition_stay_and_it_is_told_until_the_next_change(
    browser, studio, work, path, more, monkeypatch
):
    monkeypatch.setattr(additions, "MAX_CLASSES", 2)
    assert "would have 3 classes" in add(browser, studio, work, path, {"spec": more})["add_error"]
    with reading(studio.engine) as connection:
        n = [connection.execute(select(func.count()).select_from(each)).scalar_one() for each in (ITEM, ITEM_CLASS)]
    assert n == [10, 20]
    assert browser.patch(f"{path}/images", json={"ordinals": [0], "split": "val"}).json()["rev"] == 2
    assert browser.get(path).json()["add_error"] == ""
    assert "would have 3 classes" in add(browser, studio, work, path, {"spec": more})["add_error"]


def test_an_addition_that_ended_with_its_data_set_is_not_told_after_a_restore(browser, studio, dataset, path, more):
    assert browser.post(f"{path}:add", json={"spec": more}).status_code == 202
    assert browser.delete(path).status_code == 204
    assert browser.post(f"/api/v1/trash/{dataset}:restore").status_code == 204
    assert browser.get(path).json()["add_error"] == ""


def test_an_addition_that_is_asked_for_while_its_data_set_is_deleted_ends_or_is_refused(
    studio, dataset, more, monkeypatch
):
    tasks, found = studio.data.tasks, studio.data.datasets.get(dataset)
    asked = {"source": {"spec": more}, "words": more, "user": None}
    trash = Datasets.trash

    def ask_before(self, which):
        tasks.ask("add", dataset, 1, asked)
        trash(self, which)

    monkeypatch.setattr(Datasets, "trash", ask_before)
    tasks.trash(found)
    assert tasks.open() == []
    with pytest.raises(Problem) as error:
        tasks.ask("add", dataset, 1, asked)
    assert error.value.status_code == 404
    assert list(studio.place.tasks.iterdir()) == []


def test_one_addition_runs_at_a_time_and_a_request_that_is_sent_twice_adds_once(browser, studio, work, path, more):
    key = {"idempotency-key": "0b5a-2"}
    first, second = (browser.post(f"{path}:add", json={"spec": more}, headers=key) for _ in range(2))
    assert (first.status_code, second.content) == (202, first.content)
    assert browser.post(f"{path}:add", json={"spec": more}).status_code == 409
    assert len(list(studio.place.tasks.iterdir())) == 1
    assert "Adding images" in browser.get(path.replace("/api/v1/datasets", "/data")).text
    work(studio)
    assert browser.get(path).json()["n_image"] == 15


@pytest.mark.parametrize("body", [{}, {"spec": ""}, {"spec": "x", "uploads": []}, {"uploads": []}, {"uploads": ["x"]}])
def test_what_is_no_source_is_refused(browser, path, body):
    assert browser.post(f"{path}:add", json=body).status_code in (404, 422)
    assert browser.post("/api/v1/datasets", json={"name": "x", "source": body}).status_code in (404, 422)


def test_a_folder_of_a_known_class_alone_has_its_images(browser, studio, work, tmp_path, write_coco):
    sent = upload(browser, "pets.tar", archive("pets/cat/1.png", "pets/dog/2.png"))
    pets = browser.post("/api/v1/datasets", json={"name": "pets", "source": {"uploads": [sent]}}).json()["id"]
    work(studio)
    path = f"/api/v1/datasets/{pets}"
    sent = upload(browser, "cats.tar", archive("cat/3.png", "cat/4.png", seed=6))
    assert add(browser, studio, work, path, {"uploads": [sent]})["classes"] == [["cat", 3, 3], ["dog", 1, 1]]
    boxes = f"coco:{write_coco(tmp_path / 'boxes')}"
    words = "the images have boxes, and the data set has a class per image"
    assert words in add(browser, studio, work, path, {"spec": boxes})["add_error"]
    sent = upload(browser, "loose.tar", archive("5.png", seed=7))
    assert add(browser, studio, work, path, {"uploads": [sent]})["n_image"] == 5


def test_boxes_end_where_those_of_a_vocs_data_set_do(browser, studio, work, tmp_path, write_coco):
    from cvzoo.datasets.convert.convert_dataset import convert_dataset
    from cvzoo.datasets.layouts.data_spec import parse_data_spec

    source = write_coco(tmp_path / "source", n=5)
    convert_dataset(parse_data_spec(f"coco:{source}"), tmp_path / "voc", kind="voc")
    body = {"name": "voc", "source": {"spec": f"voc:{tmp_path}/voc"}}
    path = f"/api/v1/datasets/{browser.post('/api/v1/datasets', json=body).json()['id']}"
    work(studio)
    other = renamed(write_coco(tmp_path / "other", n=5, seed=3), "new-")
    file = other / "annotations" / "instances_train.json"
    tree = json.loads(file.read_text())
    tree["annotations"][0]["bbox"] = [40, 20, 40, 40]  # to the last pixel of 80 x 60
    file.write_text(json.dumps(tree))
    assert add(browser, studio, work, path, {"spec": f"coco:{other}"})["add_error"] == ""
    assert browser.get(f"{path}/images/5").json()["labels"][0]["box"] == [20, 40, 59, 79]
    tree["annotations"][0]["iscrowd"] = 1
    file.write_text(json.dumps(tree))
    renamed(other, "crowd-")
    assert "1 crowd," in add(browser, studio, work, path, {"spec": f"coco:{other}"})["add_error"]


def test_the_form_adds_a_folder_and_says_what_is_wrong(browser, studio, work, dataset, path, more):
    page = browser.get(f"/data/{dataset}").text
    assert f'data-dataset="{dataset}"' in page
    assert "the folder must be named" in browser.post(f"/data/{dataset}/add", data={"spec": " "}).text
    assert browser.post(f"/data/{dataset}/add", data={"spec": more}).status_code == 303
    page = browser.get(f"/data/{dataset}").text  # which must not be loaded again under who sends or types more
    assert ('id="adding"' in page, 'id="importing"' in page) == (True, False)
    refused = browser.post(f"/data/{dataset}/add", data={"spec": more})
    assert refused.status_code == 422
    assert "other images are being added to the data set; again when that has ended" in refused.text
    work(studio)
    assert browser.get(path).json()["n_image"] == 15


def test_an_upload_does_not_expire_while_it_waits_to_be_added(browser, studio, work, clock, dataset, path):
    sent = upload(browser, "images.tar", archive("a.png"))
    assert browser.post(f"{path}:add", json={"uploads": [sent]}).status_code == 202
    clock.now += 30 * 24 * 3600 * 1000  # a server that was off
    studio.data.clean()
    work(studio)
    assert studio.data.datasets.counts(dataset)["n_image"] == 11


def test_an_addition_whose_file_is_gone_fails(browser, studio, work, path, more):
    task = browser.post(f"{path}:add", json={"spec": more}).json()["task"]
    (studio.place.task(task) / "asked.json").unlink()
    work(studio)
    assert browser.get(path).json()["add_error"] == "what was asked for is not known any more"
