"""Writes a large COCO problem as JSON: objects with polygons, detections with boxes or with masks.

    python benchmarks/coco_eval_data.py FOLDER [--images 5000] [--classes 80] [--seed 777]

FOLDER gets gt.json (polygons, some crowds as runs), dt_bbox.json and dt_segm.json. The same seed gives the same files.
Outlines are wavy circles; a detection is an object's outline, moved, stretched and bent, or one without an object.
"""

import argparse
import json
import pathlib

import numpy as np

from cvzoo.geometry.polygons_to_rle import polygons_to_rle

HEIGHT, WIDTH, VERTICES, WAVES = 480, 640, 36, 5
BLOCK = 4000


def outlines(rng, n):
    """Centre, radii and waves of n outlines: (n, 2), (n, 2), (n, WAVES, 2)."""
    centre = rng.rand(n, 2) * (HEIGHT, WIDTH)
    radius = np.exp(rng.uniform(np.log(6), np.log(140), n))[:, None] * np.exp(rng.normal(0, 0.25, (n, 2)))
    waves = rng.normal(0, 0.12, (n, WAVES, 2)) / np.arange(1, WAVES + 1)[:, None] ** 0.5
    return centre, radius, waves


def vertices(outline):
    """(n, VERTICES, 2) float64: x, y inside of the image, hundredths of a pixel."""
    centre, radius, waves = outline
    angle = np.linspace(0, 2 * np.pi, VERTICES, endpoint=False)
    order = np.arange(2, WAVES + 2)[:, None] * angle
    reach = np.maximum(1 + waves[:, :, 0] @ np.cos(order) + waves[:, :, 1] @ np.sin(order), 0.3)
    y = np.clip(centre[:, :1] + radius[:, :1] * reach * np.sin(angle), 0, HEIGHT)
    x = np.clip(centre[:, 1:] + radius[:, 1:] * reach * np.cos(angle), 0, WIDTH)
    return np.round(np.stack((x, y), axis=2), 2)


def boxes(points):
    low, high = points.min(axis=1), points.max(axis=1)
    return np.round(np.concatenate((low, high - low), axis=1), 2)


def take(outline, rows):
    return tuple(part[rows] for part in outline)


def write(folder, *, images, classes, seed):
    rng = np.random.RandomState(seed)
    n = int(images * 7.2)
    image = np.sort(rng.randint(0, images, n))
    category = (classes * rng.beta(0.7, 1.6, n)).astype(int)
    objects = outlines(rng, n)
    points = vertices(objects)
    crowd = rng.rand(n) < 0.01
    photos = [{"id": i + 1, "height": HEIGHT, "width": WIDTH, "file_name": f"{i + 1:012d}.jpg"} for i in range(images)]
    annotations = []
    for start in range(0, n, BLOCK):
        rows = np.arange(start, min(start + BLOCK, n))
        masks = polygons_to_rle([[each] for each in points[rows].reshape(len(rows), -1)], (HEIGHT, WIDTH))
        for i, area, box in zip(rows.tolist(), masks.area().tolist(), boxes(points[rows]).tolist()):
            runs = masks.counts[masks.offsets[i - start] : masks.offsets[i - start + 1]].tolist()
            drawn = {"size": [HEIGHT, WIDTH], "counts": runs} if crowd[i] else [points[i].reshape(-1).tolist()]
            annotations.append(
                {
                    "id": i + 1,
                    "image_id": int(image[i]) + 1,
                    "category_id": int(category[i]) + 1,
                    "segmentation": drawn,
                    "area": area,
                    "bbox": box,
                    "iscrowd": int(crowd[i]),
                }
            )
    categories = [{"id": k + 1, "name": f"class {k + 1}"} for k in range(classes)]
    gt = {"images": photos, "annotations": annotations, "categories": categories}
    (folder / "gt.json").write_text(json.dumps(gt))
    for name, n_near, n_far in (("bbox", 4, 6), ("segm", 3, 2.5)):
        with open(folder / f"dt_{name}.json", "w") as file:
            file.write(
                json.dumps(list(detections(rng, objects, image, category, n_near, n_far, images, classes, name)))
            )


def detections(rng, objects, image, category, n_near, n_far, images, classes, name):
    near = np.repeat(np.arange(len(image)), rng.randint(0, 2 * n_near + 1, len(image)))
    n_far = int(len(image) * n_far)
    quality = rng.rand(len(near))
    centre, radius, waves = take(objects, near)
    slack = 0.02 + 0.25 * (1 - quality[:, None])
    moved = centre + radius * rng.normal(0, slack)
    stretched = radius * np.exp(rng.normal(0, slack, radius.shape))
    bent = waves + rng.normal(0, 0.05, waves.shape)
    mine = [np.concatenate(pair) for pair in zip((moved, stretched, bent), outlines(rng, n_far))]
    photo = np.concatenate((image[near], rng.randint(0, images, n_far)))
    wrong = rng.rand(len(near)) < 0.1
    guess = np.where(wrong, rng.randint(0, classes, len(near)), category[near])
    guess = np.concatenate((guess, (classes * rng.beta(0.7, 1.6, n_far)).astype(int)))
    score = np.concatenate((0.6 * quality + 0.4 * rng.rand(len(near)), 0.7 * rng.rand(n_far) ** 3))
    score = np.round(np.clip(score, 0.001, 0.999), 5)
    order = np.argsort(photo, kind="stable")
    for start in range(0, len(order), BLOCK):
        rows = order[start : start + BLOCK]
        points = vertices(take(mine, rows))
        if name == "segm":
            masks = polygons_to_rle([[each] for each in points.reshape(len(rows), -1)], (HEIGHT, WIDTH))
            found = [{"segmentation": mask} for mask in masks.to_coco()]
        else:
            found = [{"bbox": box} for box in boxes(points).tolist()]
        for row, each in zip(rows.tolist(), found):
            head = {"image_id": int(photo[row]) + 1, "category_id": int(guess[row]) + 1}
            yield head | each | {"score": float(score[row])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--classes", type=int, default=80)
    parser.add_argument("--seed", type=int, default=777)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    write(args.folder, images=args.images, classes=args.classes, seed=args.seed)


if __name__ == "__main__":
    main()
