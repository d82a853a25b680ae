"""The check after edits looks only at what changed, and finds what a check of everything finds."""

import base64
import hashlib
import json
import os
import pathlib
from unittest import mock

import numpy as np
import pytest

from cvzoo.datasets.doctor import coordinate_faults
from cvzoo.datasets.doctor.check_classes import check_classes
from cvzoo.datasets.doctor.check_duplicates import check_duplicates
from cvzoo.datasets.doctor.check_files import check_files
from cvzoo.datasets.doctor.check_images import check_image
from cvzoo.datasets.doctor.examine_dataset import examine_annotated_set, sorted_findings
from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.studio.data.labels import image_from_json, in_coco
from cvzoo.studio.data.rows import item_line, text_of
from cvzoo.studio.photos.store import ImageStore
from cvzoo.studio.worker import check_data
from cvzoo.studio.worker.check_data import annotated_set, check_lines, known_facts

HEIGHT, WIDTH = 40, 60
MET = {"photo-duplicate", "photo-duplicate-split", "photo-near-duplicate", "photo-near-duplicate-split", "name-case"}
MET |= {
    "photo-truncated",
    "class-missing",
    "box-outside",
    "box-empty",
    "box-duplicate",
    "area-wrong",
    "one-based",
}
CLASSES = ("cat", "dog", "Dog", "bird")


class Data:
    """A data set that is edited at random. task: "boxes" or "classes" """

    def __init__(self, folder, task, seed):
        self.rng, self.folder, self.task = np.random.default_rng(seed), folder, task
        self.store = ImageStore(folder / "images")
        self.order = {"images": str(self.store.root), "classes": CLASSES, "extra": {}, "task": task}
        self.order["kept"] = str(folder / "looks.json")
        self.hashes = [self.rng.integers(0, 256, 32).astype(np.uint8) for _ in range(3)]
        self.looks = [self.rng.integers(0, 256, (32, 32)).astype(np.uint8) for _ in range(2)]
        self.looks += [np.full((32, 32), 7, np.uint8)]  # whose bits are noise
        self.shas = [hashlib.sha256(bytes([i])).hexdigest() for i in range(14)]
        for sha256 in self.shas:
            self.store.image(sha256).parent.mkdir(parents=True, exist_ok=True)
            self.look_at(sha256)
        self.rows = {i: self.row(i) for i in range(16)}
        self.past = [dict(self.rows)]

    def pick(self, values):
        return values[int(self.rng.integers(len(values)))]

    def look_at(self, sha256):
        """Makes the properties of an image again."""
        size = self.pick([(HEIGHT, WIDTH)] * 6 + [(WIDTH, HEIGHT)])
        hash_ = self.pick(self.hashes).copy()
        hash_[0] ^= int(self.rng.integers(8))
        texts = [base64.b64encode(each.tobytes()).decode() for each in (hash_, self.pick(self.looks))]
        tree = {"trouble": None, "size": size, "stored_size": size, "orientation": 1, "format": "JPEG"}
        tree |= {"ending_fits": bool(self.rng.integers(4)), "is_blank": not self.rng.integers(6)}
        tree |= {"fingerprint": texts[0], "look": texts[1]}
        if not self.rng.integers(8):
            tree |= {"trouble": ["photo-truncated", "cut"], "fingerprint": None, "look": None, "size": None}
        self.store.thumbnail(sha256).write_bytes(b"jpeg")
        path, now = self.store.facts(sha256), len(list(self.folder.iterdir()))
        path.write_text(json.dumps(tree))
        self.time = getattr(self, "time", now) + 1
        os.utime(path, (self.time, self.time))

    def box(self):
        kind, w, h = self.rng.integers(8), *self.rng.uniform(3, 20, 2).round(1)
        y, x = self.rng.uniform(2, 19, 2).round(1)
        if kind == 0:
            return [0.0, x, y + h, x + w]
        if kind == 1:
            return [1.0, x, HEIGHT + 1.0, x + w]  # a pixel beyond: 1-based, if no box begins at 0
        if kind == 2:
            return [y, x, y, x + w]
        if kind == 3:
            return [0.1, 0.2, 0.3, 0.5]
        if kind == 4:
            return [3.0, 4.0, 9.0, 12.0]  # often the same
        return [y, x, y + h, x + w]

    def objects(self):
        if self.task == "classes":
            return [{"id": self.new_id(), "class": self.pick(CLASSES)}] * int(self.rng.integers(2))
        if not self.rng.integers(6):  # explains all boxes of the image
            return [{"id": self.new_id(), "class": "cat", "box": [30.0, 5.0, 58.0, 20.0]}]
        found = []
        for _ in range(self.rng.integers(4)):
            each = {"id": self.new_id(), "class": self.pick(CLASSES), "box": list(map(float, self.box()))}
            if not self.rng.integers(5):
                each["polygons"] = [[1.0, 2.0, 9.0, 2.0, 9.0, 8.0]]
            if not self.rng.integers(5):
                each["extra"] = {"area": float(self.rng.integers(-1, 3000)), "text": self.pick(["", "word"])}
            found.append(each)
        return found

    def new_id(self):
        return f"o{int(self.rng.integers(1 << 40))}"

    def row(self, ordinal):
        name = self.pick([f"{ordinal}.jpg", f"{ordinal}.jpg", f"A{ordinal // 2 * 2 + ordinal % 2}.jpg"])
        name = f"same{ordinal}.jpg" if ordinal > 2 else ("Same.jpg", "same.jpg", " x.jpg")[ordinal]
        row = {"ordinal": ordinal, "name": name, "sha256": self.pick(self.shas), "height": HEIGHT, "width": WIDTH}
        return row | {"split": self.pick(["train", "val", ""]), "labels": self.objects(), "extra": {}}

    def edit(self):
        """Changes something."""
        kind = self.rng.integers(7)
        ordinal = self.pick(list(range(16)))
        if kind == 0:
            self.rows = dict(self.pick(self.past))  # a revert, or a backup that is restored
        elif kind == 1:
            self.rows.pop(ordinal, None)
        elif kind == 2:
            self.look_at(self.pick(self.shas))
        elif kind == 3 and ordinal in self.rows:
            self.rows[ordinal] = self.rows[ordinal] | {"split": self.pick(["train", "val", "test", ""])}
        elif kind == 4:
            self.order["classes"] = CLASSES[: int(self.rng.integers(3, 5))] + self.pick([(), ("fish",)])
        elif ordinal in self.rows:
            self.rows[ordinal] = self.rows[ordinal] | {"labels": self.objects()}
        self.past.append(dict(self.rows))

    def in_order(self):
        return [self.rows[i] for i in sorted(self.rows)]

    def found(self):
        """What the studio's check finds."""
        path = self.folder / "items.jsonl"
        with open(path, "w", encoding="utf-8") as file:
            for row in self.in_order():
                texts = {"labels": text_of(row["labels"]), "extra": json.dumps(row["extra"])}
                file.write(item_line(**row | texts))
        found = list(check_lines(self.order, path, lambda *_: None))
        assert len({each["digest"] for each in found}) == len(found)
        keys = ("kind", "severity", "message", "ordinal", "object", "others")
        return sorted(json.dumps([each[key] for key in keys]) for each in found)

    def expected(self):
        """What the doctor finds in all of it, as tuples."""
        rows = self.in_order()
        images = [image_from_json(row, self.store.image(row["sha256"])) for row in rows]
        facts = [known_facts(self.store, row["sha256"]) for row in rows]
        if self.task == "classes":
            annotated = annotated_set(self.order, images, "folder")
            findings = [*check_files(annotated), *check_classes(annotated), *check_duplicates(images, facts)]
            for image, each in zip(images, facts):
                findings += check_image(image, each, "folder")
                if not image.objects:
                    findings.append(Finding(Fault.CLASS_MISSING, "the image has no class", image.name))
            findings = sorted_findings(findings)
        else:
            judged = coordinate_faults.image_fault
            # coordinates are judged as those of COCO's files, and told as the studio's
            with mock.patch.object(coordinate_faults, "image_fault", lambda image, *how: judged(in_coco(image), *how)):
                findings = examine_annotated_set(annotated_set(self.order, images, "coco"), facts)
        by_name = {row["name"]: row for row in rows}
        return sorted(json.dumps(_values(each, by_name)) for each in findings)


def _values(each, by_name):
    row = by_name.get(each.image)
    object_id = None if row is None or each.annotation is None else row["labels"][each.annotation]["id"]
    others = [by_name[name]["ordinal"] for name in each.others]
    ordinal = None if row is None else row["ordinal"]
    return [each.kind.slug, each.severity.value, each.message, ordinal, object_id, others]


@pytest.mark.parametrize(("task", "seed"), [*(("boxes", seed) for seed in range(12)), ("classes", 0), ("classes", 1)])
def test_findings_after_any_edits_are_those_of_a_check_of_everything(tmp_path, task, seed):
    data = Data(tmp_path, task, seed)
    kinds = set()
    for _ in range(25):
        found = data.found()
        assert found == data.expected()
        kinds |= {json.loads(each)[0] for each in found}
        for _ in range(data.rng.integers(1, 4)):
            data.edit()
    # of a dozen, which ones is chance
    assert len(kinds & MET) >= (5 if task == "classes" else 8)


@pytest.fixture
def looked_at(monkeypatch):
    """The names of the images that the check looks at."""
    names = []
    plain = check_data.check_image
    monkeypatch.setattr(check_data, "check_image", lambda image, *more: names.append(image.name) or plain(image, *more))
    return names


def quiet(tmp_path):
    """Data without boxes that only the other images explain."""
    data = Data(tmp_path, "boxes", 7)
    for row in data.rows.values():
        row["labels"] = [{"id": data.new_id(), "class": "cat", "box": [5.0, 5.0, 9.0, 9.0]}]
    return data


def test_only_the_image_that_changed_is_looked_at_again(tmp_path, looked_at):
    data = quiet(tmp_path)
    data.found()
    assert len(looked_at) == 16
    looked_at.clear()
    data.found()
    assert looked_at == []
    data.rows[5] = data.rows[5] | {"labels": []}
    data.found()
    assert looked_at == ["same5.jpg"]


def test_without_the_file_of_the_last_check_or_with_a_damaged_one_all_images_are_looked_at(tmp_path, looked_at):
    data = quiet(tmp_path)
    expected = data.found()
    kept = pathlib.Path(data.order["kept"])
    for damage in (b"", kept.read_bytes()[:-20], kept.read_bytes().replace(b"same5.jpg", b"same6.jpg")):
        looked_at.clear()
        kept.write_bytes(damage)
        assert data.found() == expected
        assert len(looked_at) == 16


def test_another_program_looks_at_all_images(tmp_path, looked_at, monkeypatch):
    from cvzoo.studio.worker import kept_looks

    data = quiet(tmp_path)
    data.found()
    looked_at.clear()
    monkeypatch.setattr(kept_looks, "_program", lambda: "another")
    data.found()
    assert len(looked_at) == 16


def test_one_image_that_begins_at_0_changes_what_is_found_in_others(tmp_path):
    data = quiet(tmp_path)
    for i in range(3, 9):
        data.rows[i]["labels"] = [{"id": data.new_id(), "class": "cat", "box": [1.0, 5.0, HEIGHT + 1.0, 9.0]}]
    for sha256 in data.shas:
        data.store.facts(sha256).unlink()  # the stated size counts then
    assert any("one-based" in each for each in data.found())
    data.rows[4] = data.rows[4] | {"labels": [{"id": "a", "class": "cat", "box": [0.0, 5.0, 9.0, 9.0]}]}
    found = data.found()
    assert found == data.expected()
    assert sum("box-outside" in each for each in found) == 5
