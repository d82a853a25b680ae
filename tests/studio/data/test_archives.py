"""Archives of versions in a layout of choice."""

import io
import json
import zipfile

import pytest

from cvzoo.datasets.bbox_splits import bbox_splits
from cvzoo.studio.collect import collect
from cvzoo.studio.data import archives
from cvzoo.studio.data.version_files import files_below


@pytest.fixture
def version(browser, studio, work, dataset):
    """The path of a version."""
    made = browser.post(f"/api/v1/datasets/{dataset}/versions", json={"name": "first one"}).json()
    work(studio)
    return f"/api/v1/versions/{made['id']}"


def made(browser, studio, work, version, **body):
    """What there is after an archive was asked for."""
    answer = browser.post(f"{version}:layout", json=body)
    assert answer.status_code == 202, answer.text
    work(studio)
    return browser.get(f"{version}/layouts").json()


@pytest.mark.parametrize("layout", ["coco", "voc", "yolo"])
def test_an_archive_has_the_boxes_of_the_version(browser, studio, work, version, tmp_path, layout):
    found = made(browser, studio, work, version, layout=layout)
    assert (found["error"], found["tasks"], found["possible"]) == ("", [], ["coco", "voc", "yolo"])
    assert [each["layout"] for each in found["items"]] == [layout]
    answer = browser.get(f"{version}/layouts/{layout}")
    assert f"shapes-first_one-{layout}.zip" in answer.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        archive.extractall(tmp_path)
    theirs = bbox_splits(browser.get(version).json()["data"])
    ours = bbox_splits(f"{layout}:{tmp_path}/shapes-first_one-{layout}")
    assert ours.label_names == theirs.label_names
    for a, b in ((ours.train, theirs.train), (ours.val, theirs.val)):
        assert len(a) == len(b)
        assert [each[1].shape for each in a] == [each[1].shape for each in b]
        assert a[0][1] == pytest.approx(b[0][1], abs=1e-4)
    assert list(studio.place.tasks.iterdir()) == []


def test_a_part_of_an_archive_is_given_by_range(browser, studio, work, version):
    made(browser, studio, work, version, layout="coco")
    whole = browser.get(f"{version}/layouts/coco").content
    part = browser.get(f"{version}/layouts/coco", headers={"range": "bytes=100-199"})
    assert (part.status_code, part.content) == (206, whole[100:200])
    made(browser, studio, work, version, layout="coco")
    assert browser.get(f"{version}/layouts/coco").content == whole  # made again, for who has half of it


def test_annotations_that_the_layout_cannot_hold_are_named_or_left_out_if_asked_for(browser, studio, work, dataset):
    image = browser.get(f"/api/v1/datasets/{dataset}/images/0").json()
    image["labels"][0]["points"] = [10, 10, 2]
    put = {"edit_id": "edit-0001", "base": 1, "objects": image["labels"]}
    assert browser.put(f"/api/v1/datasets/{dataset}/images/0/labels", json=put).status_code == 200
    body = browser.post(f"/api/v1/datasets/{dataset}/versions", json={"name": "v"}).json()
    work(studio)
    version = f"/api/v1/versions/{body['id']}"
    found = made(browser, studio, work, version, layout="yolo")
    assert "YOLO's layout cannot hold keypoints: 1, as in 0.png, object 0" in found["error"]
    assert found["items"] == []
    assert browser.get(f"{version}/layouts/yolo").status_code == 410
    assert "No archive was made" in browser.get(f"/versions/{body['id']}").text
    found = made(browser, studio, work, version, layout="yolo", lossy=True)
    assert (found["error"], [each["lossy"] for each in found["items"]]) == ("", [True])
    assert browser.get(f"{version}/layouts/yolo").status_code == 410  # the whole one is not what it replaces
    lossy = browser.get(f"{version}/layouts/yolo?lossy=true")
    assert "shapes-v-yolo-lossy.zip" in lossy.headers["content-disposition"]
    assert zipfile.ZipFile(io.BytesIO(lossy.content)).namelist()[0].startswith("shapes-v-yolo-lossy/")
    assert "YOLO, without what it cannot hold" in browser.get(f"/versions/{body['id']}").text
    found = made(browser, studio, work, version, layout="coco")
    assert (found["error"], [(each["layout"], each["lossy"]) for each in found["items"]]) == (
        "",
        [("coco", False), ("yolo", True)],
    )


def test_a_layout_of_another_task_is_refused_and_one_archive_is_made_at_a_time(browser, studio, work, version):
    refused = browser.post(f"{version}:layout", json={"layout": "folder"})
    assert (refused.status_code, refused.json()["expected"]) == (409, "coco, voc, yolo")
    assert browser.post(f"{version}:layout", json={"layout": "sroie"}).status_code == 422
    assert browser.post(f"{version}:layout", json={"layout": "coco"}).status_code == 202
    assert browser.post(f"{version}:layout", json={"layout": "voc"}).status_code == 409
    page = f"/versions/{version.rpartition('/')[2]}"
    assert "Making an archive" in browser.get(page).text
    refused = browser.post(f"{page}/layout", data={"layout": "voc"})
    assert (refused.status_code, "an archive of the version is being made" in refused.text) == (422, True)
    work(studio)
    assert browser.post(f"{page}/layout", data={"layout": "voc", "lossy": "1"}).status_code == 303
    work(studio)
    assert "Download (VOC, without what it cannot hold)" in browser.get(page).text


def test_an_archive_of_classes_has_a_folder_per_class(browser, studio, work, tmp_path, write_coco):
    root = write_coco(tmp_path / "source") / "images"
    for i, path in enumerate(sorted(root.iterdir())):
        target = tmp_path / "classes" / ("train" if i < 6 else "val") / ("cat" if i % 2 else "dog") / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
    body = {"name": "pets", "source": {"spec": f"folder:{tmp_path}/classes"}}
    pets = browser.post("/api/v1/datasets", json=body).json()["id"]
    work(studio)
    body = browser.post(f"/api/v1/datasets/{pets}/versions", json={"name": "v"}).json()
    work(studio)
    version = f"/api/v1/versions/{body['id']}"
    assert "a class per image" in browser.post(f"{version}:layout", json={"layout": "yolo"}).json()["detail"]
    assert made(browser, studio, work, version, layout="folder")["error"] == ""
    with zipfile.ZipFile(io.BytesIO(browser.get(f"{version}/layouts/folder").content)) as archive:
        names = archive.namelist()
    assert len(names) == 10
    assert all(name.startswith(("pets-v-folder/train/", "pets-v-folder/val/")) for name in names)


def test_archives_are_removed_after_a_week_and_with_their_version(browser, studio, work, clock, version):
    made(browser, studio, work, version, layout="coco")
    path = studio.place.archive(version.rpartition("/")[2], "coco")
    clock.now = path.stat().st_mtime_ns // 1_000_000 + 6 * 24 * 3600 * 1000
    collect(studio.place, studio.engine, clock, studio.trash)
    assert path.exists()
    clock.now += 2 * 24 * 3600 * 1000
    found = collect(studio.place, studio.engine, clock, studio.trash)
    assert ("archives of versions", 1) in [(each.what, each.n) for each in found.items]
    assert not path.exists()
    assert json.loads(browser.get(f"{version}/layouts/coco").text)["status"] == 410


def test_an_archive_for_which_the_disk_has_no_room_is_refused(browser, studio, version, monkeypatch):
    folder = studio.place.version(version.rpartition("/")[2])
    n_byte = sum(path.stat().st_size for path in files_below(folder))
    monkeypatch.setattr(archives, "room", lambda folder: 2 * n_byte - 1)
    refused = browser.post(f"{version}:layout", json={"layout": "voc"})  # which is written before it is packed
    assert (refused.status_code, refused.json()["expected"]) == (507, str(2 * n_byte))
    assert browser.post(f"{version}:layout", json={"layout": "coco"}).status_code == 202


def test_an_archive_that_is_made_again_meanwhile_is_not_removed(browser, studio, work, clock, version):
    made(browser, studio, work, version, layout="coco")
    path = studio.place.archive(version.rpartition("/")[2], "coco")
    clock.now = path.stat().st_mtime_ns // 1_000_000 + 8 * 24 * 3600 * 1000
    browser.post(f"{version}:layout", json={"layout": "coco"})
    collect(studio.place, studio.engine, clock, studio.trash)
    assert path.exists()
