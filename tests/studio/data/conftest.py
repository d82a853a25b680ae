"""Data sets in a studio; the work of other processes is done in this one, as starting them takes a second each."""

import json
import subprocess
import types

import numpy as np
import pytest
from PIL import Image

CLASSES = ("cat", "dog")


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Tasks, imaging and splits without processes."""
    import pathlib

    from cvzoo.studio.data import split, tasks
    from cvzoo.studio.photos.imaging import Imaging
    from cvzoo.studio.photos.imaging_worker import look
    from cvzoo.studio.uploads import upload
    from cvzoo.studio.worker import data_task
    from cvzoo.studio.worker.split import parts

    class Done:
        def __init__(self, argv, **_):
            data_task.main(argv[-1])

        def poll(self):
            return 0

    def ask(self, question):
        return look(pathlib.Path(question["path"]), question["name"], pathlib.Path(question["out"]))

    monkeypatch.setattr(tasks, "subprocess", types.SimpleNamespace(Popen=Done, DEVNULL=subprocess.DEVNULL))
    monkeypatch.setattr(Imaging, "_ask", ask)
    monkeypatch.setattr(split, "_ask", parts)
    monkeypatch.setattr(upload, "room", lambda folder: 1 << 30)  # whatever the disk of this machine has


def work(studio):
    """Does all open tasks."""
    for _ in range(20):
        if not studio.data.tasks.open():
            return
        studio.data.tasks.tick()
    raise AssertionError("the tasks do not end")


@pytest.fixture(name="work")
def work_fixture():
    return work


def write_coco(root, *, n=10, boxes=2, seed=0, splits=("train", "val")):
    """A data set in COCO's layout: n images, every fifth in val, with a few boxes each."""
    rng = np.random.default_rng(seed)
    (root / "images").mkdir(parents=True)
    (root / "annotations").mkdir()
    categories = [{"id": k + 1, "name": name} for k, name in enumerate(CLASSES)]
    files = {split: {"images": [], "annotations": [], "categories": categories} for split in splits}
    for i in range(n):
        pixels = rng.integers(0, 255, (6, 8, 3), np.uint8)
        Image.fromarray(pixels).resize((80, 60)).save(root / "images" / f"{i}.png")
        file = files[splits[-1] if i % 5 == 4 else splits[0]]
        file["images"].append({"id": i + 1, "file_name": f"{i}.png", "height": 60, "width": 80})
        for k in range(boxes):
            box = [5.5 + 20 * k, 10, 12, 8.25]
            number = len(file["annotations"]) + 1000 * (file is files[splits[-1]]) + 1
            more = {"category_id": (i + k) % 2 + 1, "area": 99.0, "iscrowd": 0}
            file["annotations"].append({"id": number, "image_id": i + 1, "bbox": box} | more)
    for split, file in files.items():
        (root / "annotations" / f"instances_{split}.json").write_text(json.dumps(file))
    return root


@pytest.fixture(name="write_coco")
def write_coco_fixture():
    return write_coco


@pytest.fixture
def dataset(browser, studio, tmp_path):
    """The identifier of an imported data set of ten images with two boxes each."""
    write_coco(tmp_path / "shapes")
    answer = browser.post("/api/v1/datasets", json={"name": "shapes", "source": {"spec": f"coco:{tmp_path}/shapes"}})
    assert answer.status_code == 202
    work(studio)
    return answer.json()["id"]
