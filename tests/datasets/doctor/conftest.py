"""Small data sets, sound ones, that tests then spoil."""

import json
import pathlib

import numpy as np
import pytest
from PIL import Image


def scene(seed, size=(60, 80)):
    """An (H, W, 3) uint8 image that looks like no other: smooth patches of random colors."""
    rng = np.random.default_rng(seed)
    coarse = Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8))
    return np.asarray(coarse.resize((size[1], size[0]), Image.Resampling.BICUBIC))


def save(path, seed, size=(60, 80), exif=None):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    pil = Image.fromarray(scene(seed, size))
    if exif is None:
        pil.save(path, quality=92)
    else:
        block = Image.Exif()
        block[0x0112] = exif
        pil.save(path, quality=92, exif=block)
    return path


def voc_xml(name, objects, size=(60, 80), *, filename=None):
    """The text of an annotation file; objects: (class, xmin, ymin, xmax, ymax) each."""
    boxes = "".join(
        f"<object><name>{label}</name><pose>Left</pose><truncated>1</truncated><difficult>0</difficult><bndbox>"
        f"<xmin>{x0}</xmin><ymin>{y0}</ymin><xmax>{x1}</xmax><ymax>{y1}</ymax></bndbox></object>"
        for label, x0, y0, x1, y1 in objects
    )
    stated = "" if size is None else f"<size><width>{size[1]}</width><height>{size[0]}</height><depth>3</depth></size>"
    head = f"<filename>{filename or name + '.jpg'}</filename>{stated}<segmented>0</segmented>"
    return f"<annotation>{head}{boxes}</annotation>"


class VOCFolder:
    """A folder in VOC's layout that grows image by image."""

    def __init__(self, root):
        self.root = root
        self.n = 0
        for folder in ("JPEGImages", "Annotations", "ImageSets/Main"):
            (root / folder).mkdir(parents=True)
        (root / "classes.txt").write_text("cat\ndog\n")

    def add(self, name, objects=(("cat", 11, 11, 40, 40),), *, size=(60, 80), stated=None, split=None, exif=None):
        self.n += 1
        save(self.root / f"JPEGImages/{name}.jpg", self.n, size, exif)
        text = voc_xml(name, objects, size if stated is None else stated)
        (self.root / f"Annotations/{name}.xml").write_text(text)
        if split is not None:
            self.list(name, split)

    def list(self, name, split):
        with open(self.root / f"ImageSets/Main/{split}.txt", "a", encoding="utf-8") as file:
            file.write(f"{name}\n")


class COCOFile:
    """Records of COCO's form and their images, written by `save`."""

    def __init__(self, root):
        self.root = root
        self.file = {
            "info": {"year": 2020},
            "images": [],
            "annotations": [],
            "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
        }

    def add(self, name, *bboxes, size=(60, 80), **more):
        image_id = len(self.file["images"]) + 1
        save(self.root / f"val2017/{name}", image_id, size)
        self.file["images"].append({"id": image_id, "file_name": name, "height": size[0], "width": size[1]})
        for bbox in bboxes:
            annotation = {
                "id": len(self.file["annotations"]) + 1,
                "image_id": image_id,
                "category_id": 1 + len(self.file["annotations"]) % 2,
                "bbox": list(bbox),
                "area": abs(bbox[2] * bbox[3]),
                "iscrowd": 0,
            }
            self.file["annotations"].append(annotation | more)
        return self.file["annotations"][-1] if bboxes else None

    def save(self):
        path = self.root / "annotations/instances_val2017.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(self.file))
        return path


class YOLOFolder:
    """A folder in YOLO's layout that grows image by image."""

    def __init__(self, root):
        self.root = root
        self.n = 0
        (root / "labels").mkdir(parents=True)
        (root / "classes.txt").write_text("cat\ndog\n")

    def add(self, name, text="0 0.5 0.5 0.25 0.5\n1 0.3 0.3 0.2 0.2\n", size=(60, 80)):
        self.n += 1
        save(self.root / f"images/{name}.jpg", 100 + self.n, size)
        path = self.root / f"labels/{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def voc(tmp_path):
    folder = VOCFolder(tmp_path / "voc")
    folder.add("sound_a", [("cat", 1, 1, 40, 40), ("dog", 30, 20, 80, 60)])
    folder.add("sound_b", [("dog", 5, 6, 50, 55)])
    return folder


@pytest.fixture
def coco(tmp_path):
    (tmp_path / "coco").mkdir()
    file = COCOFile(tmp_path / "coco")
    file.add("sound_a.jpg", (0, 0, 40, 40), (30.5, 20.25, 49.5, 39.75))
    file.add("sound_b.jpg", (5, 6, 45, 49))
    return file


@pytest.fixture
def yolo(tmp_path):
    folder = YOLOFolder(tmp_path / "yolo")
    folder.add("sound_a")
    folder.add("sound_b")
    return folder


@pytest.fixture
def sroie(tmp_path):
    root = tmp_path / "sroie"
    (root / "box").mkdir(parents=True)
    save(root / "img/001.jpg", 201, (120, 80))
    (root / "box/001.csv").write_text("5,5,60,5,60,15,5,15,TOTAL, 9.00\n5,20,50,20,50,30,5,30,CASH\n")
    return root
