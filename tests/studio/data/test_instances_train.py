"""Masks from an import to a model: a version of each layout that has masks trains Mask R-CNN, which is evaluated."""

import json
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from cvzoo.datasets.instance_splits import instance_splits
from cvzoo.geometry.rle import RLEs

SETTINGS = [
    *(
        "epochs=1",
        "batch_size=2",
        "processes=0",
        "regions=16",
        "copy_paste=0",
        "mosaic=0",
        "plain_epochs=0",
        "pretrained=none",
    ),
    *("model.n_layer=10", "model.base_channels=8", "model.channels=16", "model.head_width=16", "model.n_proposal=20"),
    *("model.min_size=64", "model.max_size=96", "model.norm=batch", "head.depth=1", "head.channels=8"),
]


def objects(i):
    """Two masks of image i that do not overlap, one of them with a hole."""
    masks = np.zeros((2, 60, 80), bool)
    masks[0, 5 + i : 30 + i, 10:35] = True
    masks[0, 12 + i : 18 + i, 15:20] = False
    masks[1, 20:50, 45 + i : 70 + i] = True
    return masks


def corners(mask):
    ys, xs = np.where(mask)
    return ys.min(), xs.min(), ys.max() + 1, xs.max() + 1


def write_images(folder):
    folder.mkdir(parents=True)
    for i in range(6):
        pixels = np.full((60, 80, 3), 40, np.uint8)
        for k, mask in enumerate(objects(i)):
            pixels[mask] = (220, 60, 40) if k else (40, 90, 230)
        pixels[0, 0] = i  # no two are the same
        Image.fromarray(pixels).save(folder / f"{i}.png")


def write_coco(root, *, as_rle):
    write_images(root / "images")
    (root / "annotations").mkdir()
    for split, chosen in (("train", range(4)), ("val", (4, 5))):
        rows = []
        for i in chosen:
            for k, mask in enumerate(objects(i)):
                y0, x0, y1, x1 = map(int, corners(mask))
                polygon = [x0, y0, x1, y0, x1, y1, x0, y1]
                segmentation = RLEs.from_masks(mask[None]).to_coco()[0] if as_rle else [polygon]
                rows.append({"id": 2 * i + k + 1, "image_id": i + 1, "category_id": k + 1, "iscrowd": 0})
                rows[-1] |= {"segmentation": segmentation, "bbox": [x0, y0, x1 - x0, y1 - y0], "area": int(mask.sum())}
        images = [{"id": i + 1, "file_name": f"{i}.png", "height": 60, "width": 80} for i in chosen]
        categories = [{"id": 1, "name": "ring"}, {"id": 2, "name": "block"}]
        file = {"images": images, "annotations": rows, "categories": categories}
        (root / "annotations" / f"instances_{split}.json").write_text(json.dumps(file))
    return f"coco:{root}"


def write_voc(root):
    write_images(root / "JPEGImages")
    for name in ("Annotations", "SegmentationObject", "SegmentationClass", "ImageSets/Main", "ImageSets/Segmentation"):
        (root / name).mkdir(parents=True)
    (root / "classes.txt").write_text("ring\nblock\n")
    for split, chosen in (("train", range(4)), ("val", (4, 5))):
        for part in ("Main", "Segmentation"):
            (root / f"ImageSets/{part}/{split}.txt").write_text("".join(f"{i}\n" for i in chosen))
    for i in range(6):
        texts, maps = [], np.zeros((2, 60, 80), np.uint8)
        for k, mask in enumerate(objects(i)):
            y0, x0, y1, x1 = corners(mask)
            box = f"<xmin>{x0 + 1}</xmin><ymin>{y0 + 1}</ymin><xmax>{x1 + 1}</xmax><ymax>{y1 + 1}</ymax>"
            texts.append(f"<object><name>{('ring', 'block')[k]}</name><bndbox>{box}</bndbox></object>")
            maps[:, y0 - 1 : y0, x0:x1] = 255  # a contour, as VOC has it
            maps[:, mask] = k + 1
        size = "<size><width>80</width><height>60</height><depth>3</depth></size>"
        xml = f"<annotation><filename>{i}.png</filename>{size}{''.join(texts)}</annotation>"
        (root / f"Annotations/{i}.xml").write_text(xml)
        for part, pixels in zip(("SegmentationObject", "SegmentationClass"), maps):
            Image.fromarray(pixels).save(root / part / f"{i}.png")
    return f"voc:{root}"


@pytest.fixture(params=["polygons", "rle", "voc"])
def source(request, tmp_path):
    """The specification of six images with two objects each, whose masks are kept in one of three ways."""
    root = tmp_path / "source"
    return write_voc(root) if request.param == "voc" else write_coco(root, as_rle=request.param == "rle")


@pytest.fixture
def version(browser, studio, work, source):
    """The data of a version of the imported source."""
    body = {"name": "blocks", "source": {"spec": source}}
    path = f"/api/v1/datasets/{browser.post('/api/v1/datasets', json=body).json()['id']}"
    work(studio)
    made = browser.post(f"{path}/versions", json={"name": "first"})
    assert made.status_code == 202, made.text
    work(studio)
    found = browser.get(f"/api/v1/versions/{made.json()['id']}").json()
    assert found["state"] == "ready", found
    return found["data"]


def test_a_version_has_the_masks_of_the_source(version, source):
    ours, theirs = instance_splits(version), instance_splits(source)
    assert ours.label_names == theirs.label_names == ("ring", "block")
    for a, b in ((ours.train, theirs.train), (ours.val, theirs.val)):
        assert len(a) == len(b) > 0
        for one, other in zip(a, b):
            assert one[1].any(axis=(1, 2)).all()
            for x, y in zip(one, other):
                np.testing.assert_array_equal(x, y)


def run(*words):
    done = subprocess.run([sys.executable, "-m", "cvzoo", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
def test_a_version_trains_mask_rcnn_and_evaluates_it_as_the_source_does(version, source, tmp_path):
    recipe = ["--recipe", "mask_rcnn_fpn_resnet50"]
    assert "iteration" in run("train", *recipe, f"--data={version}", "--try", *SETTINGS)
    scores = []
    for i, data in enumerate((version, source)):
        out = tmp_path / f"run{i}"
        run("train", *recipe, f"--data={data}", "--out", str(out), *SETTINGS)
        path = tmp_path / f"scores{i}.json"
        model = str(out / "best.safetensors")
        run("evaluate", "--model", model, f"--data={data}", "--split", "val", "--json", str(path))
        found = json.loads(path.read_text())
        scores.append({key: value for key, value in found.items() if isinstance(value, float)})
        rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
        scores[-1]["rows"] = [{k: v for k, v in row.items() if k != "elapsed_time"} for row in rows]
    assert scores[0] == scores[1]
    assert scores[0]["rows"]
