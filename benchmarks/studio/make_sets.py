"""Makes what the studio is measured with: a COCO set of many images, and many run folders.

    python benchmarks/studio/make_sets.py images OUT --real ../shared/data --n 100000
    python benchmarks/studio/make_sets.py runs OUT --n 1000
    python benchmarks/studio/make_sets.py rows HOME --n 100000

An image is a crop of one of 1,000 real ones, of a place and size drawn at random, at 600 x 450 pixels (0.27
megapixels), so that no two have the same bytes and few look alike, as in a real set. Objects and values of runs are
drawn at random; the same arguments give the same files. `rows` adds a data set of n images to the database of a studio
whose server does not run, by the studio's own code for the rows of an import; its image files are those that the studio
has already.
"""

import argparse
import io
import json
import math
import multiprocessing
import pathlib
from collections.abc import Iterator

import numpy as np
from PIL import Image

HEIGHT, WIDTH = 450, 600
N_REAL, N_CLASS = 1000, 80
MEAN_OBJECTS = 5.7  # as many as the trial of the design had
_QUALITY = 75
_VAL_EVERY = 10


def real_images(root: pathlib.Path) -> list[pathlib.Path]:
    """1,000 real images: all of the smaller folders, and camvid's up to that number."""
    found: list[pathlib.Path] = []
    for name in ("bccd/BCCD/JPEGImages", "sroie/img", "tiny_coco/train2017", "photos", "camvid/train"):
        found += sorted(each for each in (root / name).iterdir() if each.suffix in (".jpg", ".png", ".jpeg"))
    return found[:N_REAL]


def crops(real: pathlib.Path, number: int, out: pathlib.Path, ordinals: range) -> None:
    """Writes a crop of the real image for each ordinal."""
    with Image.open(real) as file:
        image = file.convert("RGB")
    image.thumbnail((1200, 1200))
    rng = np.random.default_rng((1, number))
    for ordinal in ordinals:
        width = image.width * float(rng.uniform(0.35, 0.9))
        height = min(width * HEIGHT / WIDTH * float(rng.uniform(0.8, 1.25)), image.height)
        left, top = (float(rng.uniform(0, image.width - width)), float(rng.uniform(0, image.height - height)))
        box = (left, top, left + width, top + height)
        crop = image.resize((WIDTH, HEIGHT), Image.Resampling.BILINEAR, box=box)
        if rng.random() < 0.5:
            crop = crop.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        stream = io.BytesIO()
        crop.save(stream, "JPEG", quality=_QUALITY, comment=f"crop {ordinal} of {real.name}")
        path = out / f"{ordinal:06d}_{real.stem[:24]}.jpg"
        path.write_bytes(stream.getvalue())


def _crops(task: tuple[pathlib.Path, int, pathlib.Path, range]) -> None:
    crops(*task)


def write_images(out: pathlib.Path, root: pathlib.Path, n: int) -> None:
    """The images in OUT/images and their objects in OUT/annotations, in COCO's layout."""
    (out / "images").mkdir(parents=True)
    (out / "annotations").mkdir()
    real = real_images(root)
    # image i is a crop of real image i % 1,000, so that neighbors differ as in a shuffled set
    tasks = [(path, i, out / "images", range(i, n, len(real))) for i, path in enumerate(real)]
    with multiprocessing.Pool(2) as pool:
        for _ in pool.imap_unordered(_crops, tasks, chunksize=4):
            pass
    write_objects(out, [real[i % len(real)].stem[:24] for i in range(n)])


def write_objects(out: pathlib.Path, stems: list[str]) -> None:
    """The annotations of the images."""
    categories = [{"id": k + 1, "name": f"class {k:02d}"} for k in range(N_CLASS)]
    boxes = drawn_boxes()
    files: dict[str, dict[str, list[dict]]] = {
        split: {"images": [], "annotations": [], "categories": categories} for split in ("train", "val")
    }
    number = 0
    for i, stem in enumerate(stems):
        file = files["val" if i % _VAL_EVERY == 0 else "train"]
        name = f"{i:06d}_{stem}.jpg"
        file["images"].append({"id": i + 1, "file_name": name, "height": HEIGHT, "width": WIDTH})
        for category, (x, y, width, height) in next(boxes):
            number += 1
            where = {"bbox": [x, y, width, height], "area": width * height, "iscrowd": 0}
            file["annotations"].append({"id": number, "image_id": i + 1, "category_id": category + 1} | where)
    for split, file in files.items():
        (out / "annotations" / f"instances_{split}.json").write_text(json.dumps(file))


def drawn_boxes() -> Iterator[list[tuple[int, tuple[float, float, float, float]]]]:
    """For each image (class, (x, y, width, height)) of its objects; of the 80 classes few are frequent."""
    rng = np.random.default_rng(2)
    frequency = 1 / np.arange(2, N_CLASS + 2)
    frequency /= frequency.sum()
    while True:
        n = int(rng.poisson(MEAN_OBJECTS))
        sizes = rng.uniform(20, 200, (n, 2)).round(1)
        corners = (rng.uniform(0, 1, (n, 2)) * ((WIDTH, HEIGHT) - sizes)).round(1)
        classes = rng.choice(N_CLASS, n, p=frequency)
        yield [(int(k), (*map(float, c), *map(float, s))) for k, c, s in zip(classes, corners, sizes)]


def add_rows(home: pathlib.Path, root: pathlib.Path, n: int) -> None:
    """Adds the data set "benchmark" to the database."""
    from cvzoo.studio.clock import now_ms
    from cvzoo.studio.data.datasets import Datasets
    from cvzoo.studio.data.take_in import take_in_import
    from cvzoo.studio.database.migrate import ready_database
    from cvzoo.studio.place import Place

    place = Place(home)
    place.make()
    engine = ready_database(place)
    stored = sorted(each.name for each in place.images.glob("*/*") if len(each.name) == 64)
    stems, boxes = [each.stem[:24] for each in real_images(root)], drawn_boxes()
    rows, findings = home / "rows.jsonl", home / "findings.jsonl"
    findings.touch()
    with open(rows, "w", encoding="utf-8") as file:
        for i in range(n):
            labels = [
                {"id": f"{i}-{j}", "class": f"class {k:02d}", "box": [y, x, y + height, x + width]}
                for j, (k, (x, y, width, height)) in enumerate(next(boxes))
            ]
            split = "val" if i % _VAL_EVERY == 0 else "train"
            row = {"ordinal": i, "name": f"{i:06d}_{stems[i % len(stems)]}.jpg", "sha256": stored[i % len(stored)]}
            row |= {"height": HEIGHT, "width": WIDTH, "split": split, "labels": labels, "extra": {}}
            file.write(json.dumps(row) + "\n")
    dataset = Datasets(engine, now_ms).create("benchmark", {"spec": "rows"}, None)
    classes = [f"class {k:02d}" for k in range(N_CLASS)]
    result = {"task": "boxes", "layout": "coco", "classes": classes, "n": n, "extra": {}, "findings": []}
    take_in_import(engine, now_ms, dataset.id, rows, findings, result)
    engine.dispose()
    rows.unlink()
    findings.unlink()


def write_runs(out: pathlib.Path, n: int, n_epoch: int = 30, n_step: int = 200) -> None:
    """Run folders as `cvzoo train` leaves them: 30 validations, 200 rows of iterations."""
    for i in range(n):
        write_run(out / f"group_{i % 20:02d}" / f"run_{i:04d}", i, n_epoch, n_step)


def write_run(folder: pathlib.Path, number: int, n_epoch: int, n_step: int) -> None:
    """One finished run."""
    rng = np.random.default_rng((3, number))
    folder.mkdir(parents=True)
    recipe = {
        "data": "coco:streets",
        "epochs": n_epoch,
        "batch_size": 8,
        "lr": round(float(rng.uniform(0.001, 0.1)), 4),
    }
    words = ["train", "--recipe", "ssd300", "--data", "coco:streets", "--out", "{out}"]
    config = {"format": 1, "recipe": recipe, "seed": number, "command": {"module": "cvzoo", "arguments": words}}
    n_iteration = n_epoch * 100
    status = {"state": "finished", "epoch": float(n_epoch), "iteration": n_iteration, "reason": ""}
    status |= {"seen": "2026-11-22 08:10:03 UTC", "best": "validation/main/map", "best_is": "largest"}
    part = {"n_example": 800, "label_names": [f"class {k:02d}" for k in range(20)]}
    for name, tree in (("config", config), ("status", status), ("data", {"train": part, "val": part})):
        (folder / f"{name}.json").write_text(json.dumps(tree))
    with open(folder / "metrics.jsonl", "w", encoding="utf-8") as file:
        for epoch in range(1, n_epoch + 1):
            value = 0.8 * (1 - math.exp(-epoch / 8)) + float(rng.normal(0, 0.01))
            row = {"epoch": epoch, "iteration": epoch * 100, "elapsed_time": epoch * 60.0}
            row |= {"main/loss": 4.0 / epoch, "validation/main/map": value}
            row |= {f"validation/main/ap/class {k:02d}": value + float(rng.normal(0, 0.05)) for k in range(20)}
            file.write(json.dumps(row) + "\n")
    with open(folder / "iterations.jsonl", "w", encoding="utf-8") as file:
        for step in range(1, n_step + 1):
            iteration = step * n_iteration // n_step
            row = {"epoch": iteration // 100, "iteration": iteration, "elapsed_time": iteration * 0.6}
            file.write(json.dumps(row | {"main/loss": 4.0 / step + float(rng.normal(0, 0.05)), "lr": 0.01}) + "\n")


def write_long_run(folder: pathlib.Path, n_row: int) -> None:
    """A run whose log of iterations has n_row rows of two values."""
    write_run(folder, 0, 30, 10)
    rng = np.random.default_rng(4)
    noise = rng.normal(0, 0.1, n_row)
    with open(folder / "iterations.jsonl", "w", encoding="utf-8") as file:
        for i in range(n_row):
            file.write(
                f'{{"epoch": {i // 10_000}, "iteration": {i + 1}, "elapsed_time": {i * 0.1:.1f}, '
                f'"main/loss": {4 / (1 + i / 1000) + noise[i]:.6f}, "lr": 0.01}}\n'
            )


def main() -> None:
    """Makes one of the sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("images", "runs", "long", "rows"))
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--real", type=pathlib.Path, default=pathlib.Path("../shared/data"))
    parser.add_argument("--n", type=int, default=1000)
    args = parser.parse_args()
    if args.kind == "images":
        write_images(args.out, args.real, args.n)
    elif args.kind == "runs":
        write_runs(args.out, args.n)
    elif args.kind == "rows":
        add_rows(args.out, args.real, args.n)
    else:
        write_long_run(args.out, args.n)


if __name__ == "__main__":
    main()
