"""A tiny data set for each task, drawn into a folder; its specification, such as voc:ROOT."""

import json

import numpy as np
from PIL import Image


def boxes(tmp_path):
    """voc:ROOT of bright squares on gray, four images to train on, two to validate on."""
    root, rng = tmp_path / "boxes", np.random.default_rng(0)
    for folder in ("Annotations", "JPEGImages", "ImageSets/Main"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for i in range(6):
        img = rng.integers(60, 90, (64, 80, 3), dtype=np.uint8)
        y, x = int(rng.integers(0, 30)), int(rng.integers(0, 40))
        img[y : y + 30, x : x + 30] = rng.integers(180, 250, 3)
        Image.fromarray(img).save(root / f"JPEGImages/p{i}.png")
        (root / f"Annotations/p{i}.xml").write_text(
            f"<annotation><filename>p{i}.png</filename><size><width>80</width><height>64</height><depth>3</depth></size>"
            f"<object><name>square</name><bndbox><xmin>{x + 1}</xmin><ymin>{y + 1}</ymin><xmax>{x + 30}</xmax>"
            f"<ymax>{y + 30}</ymax></bndbox></object></annotation>"
        )
    for split, ids in (("train", range(4)), ("val", range(4, 6))):
        (root / f"ImageSets/Main/{split}.txt").write_text("\n".join(f"p{i}" for i in ids))
    return f"voc:{root}"


def classes(tmp_path):
    """folder:ROOT of dark and light images."""
    rng = np.random.default_rng(1)
    for split, n in (("train", 2), ("val", 1)):
        for k, name in enumerate(("dark", "light")):
            folder = tmp_path / "classes" / split / name
            folder.mkdir(parents=True, exist_ok=True)
            for i in range(n):
                low = 120 * k
                Image.fromarray(rng.integers(low, low + 100, (40, 48, 3), dtype=np.uint8)).save(folder / f"{i}.png")
    return f"folder:{tmp_path / 'classes'}"


def masks(tmp_path):
    """coco:TRAIN.json,VAL.json of bright triangles on gray, with their corners as keypoints."""
    rng, specs = np.random.default_rng(3), []
    for split, n in (("train", 4), ("val", 2)):
        images, objects = [], []
        for i in range(1, n + 1):
            img = rng.integers(60, 90, (64, 80, 3), dtype=np.uint8)
            y, x = int(rng.integers(0, 30)), int(rng.integers(0, 40))
            for row in range(30):
                img[y + row, x : x + row + 1] = 230
            Image.fromarray(img).save(tmp_path / f"{split}{i}.png")
            images.append({"id": i, "file_name": f"{split}{i}.png", "height": 64, "width": 80})
            corners = [x, y, x, y + 30, x + 30, y + 30]
            shape = {"segmentation": [corners], "bbox": [x, y, 30, 30], "area": 450, "iscrowd": 0}
            shape["keypoints"] = [x, y, 2, x, y + 30, 2, x + 30, y + 30, 1]
            shape["num_keypoints"] = 3
            objects.append({"id": i, "image_id": i, "category_id": 1, **shape})
        path = tmp_path / f"{split}.json"
        triangle = {"id": 1, "name": "triangle", "keypoints": ["top", "left_foot", "right_foot"], "skeleton": []}
        path.write_text(json.dumps({"images": images, "annotations": objects, "categories": [triangle]}))
        specs.append(str(path))
    return f"coco:{specs[0]},{specs[1]},photos={tmp_path}"


def label_maps(tmp_path):
    """camvid:ROOT of frames whose brightness is their class."""
    root, rng = tmp_path / "frames", np.random.default_rng(2)
    for split, n in (("train", 4), ("val", 2)):
        lines = []
        for folder in (split, f"{split}annot"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        for i in range(n):
            classes = rng.permutation(12).astype(np.uint8).reshape(3, 4)  # each frame has all
            label = classes.repeat(16, axis=0).repeat(12, axis=1)
            Image.fromarray(np.stack([20 * label] * 3, axis=2)).save(root / split / f"{i}.png")
            Image.fromarray(label).save(root / f"{split}annot" / f"{i}.png")
            lines.append(f"/SegNet/CamVid/{split}/{i}.png /SegNet/CamVid/{split}annot/{i}.png")
        (root / f"{split}.txt").write_text("\n".join(lines) + "\n")
    return f"camvid:{root}"


# task -> draws its data set
DRAWN = {
    "detection": boxes,
    "instance segmentation": masks,
    "keypoints": masks,
    "classification": classes,
    "segmentation": label_maps,
}
