"""From images to a version that trainings read, and back."""

import io
import zipfile

import numpy as np
import pytest

from cvzoo.datasets.bbox_splits import bbox_splits
from cvzoo.datasets.class_splits import class_splits
from cvzoo.studio.jobs.spec import TrainSpec


def new_version(browser, studio, work, dataset, name="first"):
    answer = browser.post(f"/api/v1/datasets/{dataset}/versions", json={"name": name})
    assert answer.status_code in (200, 202), answer.text
    work(studio)
    return browser.get(f"/api/v1/versions/{answer.json()['id']}").json()


def test_a_data_set_of_this_machine_is_imported(browser, dataset):
    tree = browser.get(f"/api/v1/datasets/{dataset}").json()
    assert (tree["state"], tree["task"], tree["layout"], tree["head_rev"]) == ("ready", "boxes", "coco", 1)
    assert (tree["n_image"], tree["n_object"]) == (10, 20)
    assert tree["classes"] == [["cat", 10, 10], ["dog", 10, 10]]
    assert tree["splits"] == [["train", 8, 16], ["val", 2, 4]]
    (first, *_) = browser.get(f"/api/v1/datasets/{dataset}/images").json()["items"]
    assert (first["name"], first["height"], first["width"], first["split"]) == ("0.png", 60, 80, "train")
    assert first["labels"][0]["box"] == [10.0, 5.5, 18.25, 17.5]
    thumbnail = browser.get(f"/api/v1/images/{first['sha256']}/thumbnail.jpg")
    assert thumbnail.headers["content-type"] == "image/jpeg"
    assert browser.get(f"/api/v1/images/{first['sha256']}/view").headers["content-type"] == "image/png"


def test_a_version_gives_training_the_bits_of_the_original(browser, studio, work, dataset, tmp_path):
    version = new_version(browser, studio, work, dataset)
    assert version["state"] == "ready", version
    ours, theirs = bbox_splits(version["data"]), bbox_splits(f"coco:{tmp_path}/shapes")
    assert ours.label_names == theirs.label_names
    for a, b in ((ours.train, theirs.train), (ours.val, theirs.val)):
        assert len(a) == len(b)
        for one, other in zip(a, b):
            for x, y in zip(one, other):
                np.testing.assert_array_equal(x, y)
                assert x.dtype == y.dtype


def test_the_same_content_gives_the_same_version(browser, studio, work, dataset):
    first = new_version(browser, studio, work, dataset)
    assert new_version(browser, studio, work, dataset, "again")["id"] == first["id"]
    image = browser.get(f"/api/v1/datasets/{dataset}/images/0").json()
    put = {"edit_id": "edit-0001", "base": 1, "objects": image["labels"][:1]}
    assert browser.put(f"/api/v1/datasets/{dataset}/images/0/labels", json=put).json() == {"rev": 2}
    second = new_version(browser, studio, work, dataset, "less")
    assert second["id"] != first["id"]
    found = browser.get(f"/api/v1/versions/{second['id']}/diff?other={first['id']}").json()
    versions = studio.data.versions
    pair = versions.get(first["id"]), versions.get(second["id"])
    assert versions.summary(*pair).items() <= found.items()
    assert versions.summary(*pair) is versions.summary(*pair)  # of which it is computed once
    assert found["objects"] == {"added": 0, "deleted": 1, "moved": 0, "renamed": 0, "rewritten": 0}
    assert found["classes"] == {"dog": {"deleted": 1}}
    browser.post(f"/api/v1/datasets/{dataset}:revert", json={"rev": 1})
    assert new_version(browser, studio, work, dataset, "as before")["id"] == first["id"]
    specs = [TrainSpec("ssd300", data) for data in (first["data"], second["data"], second["data"], "voc:elsewhere")]
    jobs = [studio.jobs.create(f"run {i}", spec, None).id for i, spec in enumerate(specs)]
    compared = browser.get("/api/v1/compare", params={"job": jobs}).json()["versions"]
    names = {key: {"id": each["id"], "name": each["name"]} for key, each in (("first", first), ("version", second))}
    parts = {key: found[key] for key in ("images", "objects", "n_split", "classes")}
    assert compared == [{"job": job, **names, **parts} for job in jobs[1:3]]
    page = browser.get("/compare", params={"job": jobs}).text
    assert f'<a href="/versions/{second["id"]}/diff?other={first["id"]}">to less</a>, of run 1' in page
    assert "Versions of the data set" not in browser.get("/compare", params={"job": jobs[1:]}).text


def test_a_version_needs_splits_and_no_open_error(browser, studio, work, tmp_path, write_coco):
    root = write_coco(tmp_path / "one", splits=("all",))
    (root / "images" / "3.png").write_bytes(b"no image")
    answer = browser.post("/api/v1/datasets", json={"name": "one", "source": {"spec": f"coco:{root}"}}).json()
    work(studio)
    path = f"/api/v1/datasets/{answer['id']}"
    assert browser.get(path).json()["n_open_error"] == 1
    refused = browser.post(f"{path}/versions", json={"name": "v"})
    assert refused.status_code == 409
    assert "1 error is neither fixed nor waived" in refused.json()["detail"]
    (finding,) = browser.get(f"{path}/findings?kind=photo-unreadable").json()["items"]
    assert finding["ordinal"] == 3
    waived = {"ids": [finding["id"]], "reason": "it is left out"}
    assert browser.patch(f"{path}/findings", json=waived).json() == {"n": 1, "n_open_error": 0}
    assert "split train" in browser.post(f"{path}/versions", json={"name": "v"}).json()["detail"]
    split = {"percent": {"train": 60, "val": 40}, "seed": 3}
    assert browser.post(f"{path}:split", json=split | {"dry": True}).json()["n_image"] == {"train": 5, "val": 4}
    assert browser.get(path).json()["head_rev"] == 1
    assert browser.post(f"{path}:split", json=split).json()["rev"] == 2
    version = new_version(browser, studio, work, answer["id"])
    assert version["state"] == "ready"
    splits = bbox_splits(version["data"])
    assert (len(splits.train), len(splits.val)) == (5, 4)


def test_images_in_a_folder_per_class_are_classified(browser, studio, work, tmp_path, write_coco):
    root = write_coco(tmp_path / "source") / "images"
    for i, path in enumerate(sorted(root.iterdir())):
        target = tmp_path / "classes" / ("train" if i < 6 else "val") / ("cat" if i % 2 else "dog") / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
    source = {"spec": f"folder:{tmp_path}/classes"}
    answer = browser.post("/api/v1/datasets", json={"name": "pets", "source": source}).json()
    work(studio)
    tree = browser.get(f"/api/v1/datasets/{answer['id']}").json()
    assert (tree["task"], tree["n_image"], tree["classes"]) == ("classes", 10, [["cat", 5, 5], ["dog", 5, 5]])
    version = new_version(browser, studio, work, answer["id"])
    ours, theirs = class_splits(version["data"]), class_splits(source["spec"])
    assert ours.label_names == theirs.label_names
    for a, b in ((ours.train, theirs.train), (ours.val, theirs.val)):
        assert [label for _, label in a] == [label for _, label in b]
        assert all(np.array_equal(one, other) for (one, _), (other, _) in zip(a, b))


def test_receipts_are_drawn_without_a_network(browser, studio, work):
    answer = browser.post("/api/v1/datasets", json={"name": "receipts", "source": {"sample": 5}}).json()
    work(studio)
    tree = browser.get(f"/api/v1/datasets/{answer['id']}").json()
    assert (tree["state"], tree["n_image"], tree["n_open_error"]) == ("ready", 5, 0)
    assert new_version(browser, studio, work, answer["id"])["state"] == "ready"


def test_an_import_that_fails_says_why(browser, studio, work, tmp_path):
    (tmp_path / "empty").mkdir()
    for name, words in (("empty", "there are no images"), ("nowhere", "there is no such folder")):
        source = {"spec": str(tmp_path / name)}
        answer = browser.post("/api/v1/datasets", json={"name": name, "source": source}).json()
        work(studio)
        tree = browser.get(f"/api/v1/datasets/{answer['id']}").json()
        assert tree["state"] == "failed"
        assert words in tree["detail"]
    assert list(studio.place.tasks.iterdir()) == []


@pytest.mark.parametrize(
    ("names", "got"), [((), "an empty folder"), (("hosts", "passwd"), "hosts, passwd")], ids=["empty", "of text files"]
)
def test_a_folder_without_images_is_told_what_fits_a_folder(browser, studio, work, tmp_path, names, got):
    folder = tmp_path / "etc"
    folder.mkdir()
    for name in names:
        (folder / name).write_text("no image")
    detail = failed_import(browser, studio, work, {"spec": str(folder)})
    assert "expected: a folder with a data set in VOC's, COCO's, " in detail
    assert detail.endswith(f"got: {got}")


@pytest.mark.parametrize(
    ("names", "got"), [((), "an empty archive"), (("a/notes.txt",), "notes.txt")], ids=["empty", "of a text file"]
)
def test_an_archive_without_images_is_told_what_fits_an_archive(browser, studio, work, names, got):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, "no image")
    data = packed.getvalue()
    named = {"upload-length": str(len(data)), "upload-metadata": "filename YS56aXA="}  # a.zip
    address = browser.post("/api/v1/uploads", headers=named).headers["location"]
    headers = {"upload-offset": "0", "content-type": "application/offset+octet-stream"}
    assert browser.patch(address, content=data, headers=headers).status_code == 204
    detail = failed_import(browser, studio, work, {"uploads": [address.rpartition("/")[2]]})
    assert "expected: a zip or tar file with a data set in VOC's, COCO's, " in detail
    assert detail.endswith(f"got: {got}")


def failed_import(browser, studio, work, source):
    """Why an import fails."""
    made = browser.post("/api/v1/datasets", json={"name": "none", "source": source}).json()["id"]
    work(studio)
    return browser.get(f"/api/v1/datasets/{made}").json()["detail"]


def test_findings_follow_the_edits(browser, studio, work, clock, dataset):
    path = f"/api/v1/datasets/{dataset}"
    image = browser.get(f"{path}/images/2").json()
    image["labels"][0]["box"] = [10, 50, 20, 95]
    put = {"edit_id": "edit-0001", "base": image["first_rev"], "objects": image["labels"]}
    assert browser.put(f"{path}/images/2/labels", json=put).status_code == 200
    studio.data.tasks.tick()
    assert studio.data.tasks.open() == []  # another gesture may follow at once
    clock.now += 3000
    studio.data.tasks.tick()
    work(studio)
    (finding,) = browser.get(f"{path}/findings?kind=box-outside").json()["items"]
    assert (finding["ordinal"], finding["object"]) == (2, image["labels"][0]["id"])
    assert [each["ordinal"] for each in browser.get(f"{path}/images?finding=box-outside").json()["items"]] == [2]
    browser.post(f"{path}:revert", json={"rev": 1, "ordinals": [2]})
    clock.now += 3000
    studio.data.tasks.tick()
    work(studio)
    assert browser.get(f"{path}/findings?kind=box-outside").json()["items"] == []
