"""What int8 costs public networks on real images that no range was taken of: ways to quantize, side by side.

    python benchmarks/int8_loss.py [--out benchmarks/results/FILE.json] [--only NAME ...] [--ways NAME ...]

Each way quantizes each network several times, with other images for the ranges each time, and is scored on images that
are not among them; float32 is scored on the same ones. A row has the mean of what is lost, its standard deviation and
its worst over these times, and how far the raw outputs are off (root mean squares, relative to their spread). A
detector's "agreement" is AP50 against the boxes that float32 finds (scores above 0.25): AP on 50 images moves by a
hundredth with any change of the numbers, up or down.
Reads weights and images in the folder ../shared.
"""

import argparse
import json
import os
import pathlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from side_by_side import machine, write_results

import cvzoo
from cvzoo.datasets import COCOJSONBboxDataset
from cvzoo.evaluations import eval_detection_coco, eval_semantic_segmentation
from cvzoo.images import read_image, read_label
from cvzoo.links import CIFARResNet, DarknetDetector, ESPNet
from cvzoo.links.quantization.watching import Comparison, Counting, ValueRange

SHARED = pathlib.Path(__file__).resolve().parents[2] / "shared"
WAYS: dict[str, dict[str, Any]] = {
    "as until now": {"method": "mse", "max_error": 0.1, "corrected": False},
    "corrected": {"method": "mse", "max_error": 0.1},
    "corrected, max_error 0.05": {"method": "mse", "max_error": 0.05},
    "the same, percentile 99.999": {"method": "percentile", "percentile": 99.999, "max_error": 0.05},
    "the same, minmax": {"method": "minmax", "max_error": 0.05},
    "the same, entropy": {"method": "mse", "max_error": 0.05, "entropy": True},
    "the same, first layer too": {"method": "mse", "max_error": 0.05, "in_float": "last"},
    "the same, last layers too": {"method": "mse", "max_error": 0.05, "in_float": "first"},
    "the same, first and last too": {"method": "mse", "max_error": 0.05, "first_and_last": False},
}
VOC_NAMES = {
    **{"airplane": "aeroplane", "motorcycle": "motorbike", "couch": "sofa", "potted plant": "pottedplant"},
    **{"dining table": "diningtable", "tv": "tvmonitor"},
}
KEYS = ("map/iou=0.50:0.95/area=all/max_dets=100", "map/iou=0.50/area=all/max_dets=100")


class Case(NamedTuple):
    """A network, its images, and how it is scored.

    draws: what ranges are taken of, and the numbers of the images that are scored then
    metrics: names of the scores
    score: of (model, numbers): the scores, and the raw outputs (images, ...)
    """

    name: str
    model: Any
    draws: list[tuple[str, list[Any], list[int]]]
    metrics: tuple[str, ...]
    score: Callable[[Any, Sequence[int]], tuple[tuple[float, ...], np.ndarray]]


# --- networks -------------------------------------------------------------------------------------------------------
def coco() -> COCOJSONBboxDataset:
    folder = SHARED / "data" / "tiny_coco"
    return COCOJSONBboxDataset(
        folder / "annotations" / "instances_train2017.json",
        folder / "train2017",
        use_crowded=True,
        return_area=True,
        return_crowded=True,
    )


def darknet(folder: str, stem: str, names: str, title: str, n_own: int, n_street: int) -> Case:
    """A detector on the 50 images of COCO; ranges of 16 of them, or of 16 frames of CamVid."""
    path = SHARED / "weights" / folder
    model = DarknetDetector(path / f"{stem}.cfg", path / f"{stem}.weights", label_names=path / names)
    data = coco()
    examples = [data[i] for i in range(len(data))]
    known = {name: label for label, name in enumerate(model.label_names)}
    labels = [known.get(VOC_NAMES.get(name, name), -1) for name in data.label_names]
    truths = []
    for _, bbox, label, area, crowded in examples:
        own = np.array([labels[each] for each in label], np.int32)
        truths.append(tuple(each[own >= 0] for each in (bbox, own, area, crowded)))

    of_float32 = list(zip(*model.predict([example[0] for example in examples])))

    def score(model: Any, numbers: Sequence[int]) -> tuple[tuple[float, ...], np.ndarray]:
        outputs, found = [], []
        with model.using_preset("evaluate"), cvzoo.no_backprop_mode(), cvzoo.using_config("train", False):
            for i in numbers:
                img = examples[i][0]
                heads = [y[0] for y in model.outputs(model.prepare(img)[None])]
                outputs.append(np.concatenate([y.ravel() for y in heads]))
                found.append(model.finished(model.decode(tuple(heads), img.shape[1:]), img.shape[1:]))
        scores = eval_detection_coco(
            *zip(*found), *zip(*((truths[i][0], truths[i][1]) for i in numbers)),
            gt_areas=[truths[i][2] for i in numbers], gt_crowdeds=[truths[i][3] for i in numbers],
        )  # fmt: skip
        truth = [of_float32[i][:2] for i in numbers]
        agreement = eval_detection_coco(*zip(*found), *zip(*truth))[KEYS[1]]
        return (*(float(scores[key]) for key in KEYS), float(agreement)), np.stack(outputs)

    rng = np.random.default_rng(0)
    draws = []
    for _ in range(n_own):
        order = rng.permutation(len(examples))
        draws.append(("16 other photos of COCO", [examples[i][0] for i in order[:16]], sorted(order[16:])))
    for frames in street_frames(rng, n_street):
        draws.append(("16 frames of CamVid", frames, list(range(len(examples)))))
    return Case(title, model, draws, ("AP", "AP50", "agreement"), score)


def street_frames(rng: np.random.Generator, n: int) -> Iterator[list[np.ndarray]]:
    root = SHARED / "data" / "camvid"
    lines = (root / "train.txt").read_text().splitlines()
    order = rng.permutation(len(lines))
    for k in range(n):
        yield [read_image(root / lines[i].split()[0]) for i in order[16 * k : 16 * (k + 1)]]


def resnet20() -> Case:
    with np.load(SHARED / "data" / "cifar10_train_4000.npz") as file:
        images, labels = file["images"].transpose(0, 3, 1, 2).astype(np.float32), file["labels"]
    model = CIFARResNet(20, pretrained_model=SHARED / "weights" / "resnet20_cifar10" / "resnet20-12fca82f.th")

    def score(model: Any, numbers: Sequence[int]) -> tuple[tuple[float, ...], np.ndarray]:
        x = np.stack([model.prepare(images[i]) for i in numbers])
        with cvzoo.no_backprop_mode(), cvzoo.using_config("train", False):
            logits = np.concatenate([model(x[i : i + 200]).array for i in range(0, len(x), 200)])
        return (float((logits.argmax(axis=1) == labels[numbers]).mean()),), logits

    order = np.random.default_rng(0).permutation(len(images))
    parts = [order[64 * k : 64 * (k + 1)] for k in range(4)]
    draws = [("64 other photos", list(images[part]), np.setdiff1d(order, part)) for part in parts]
    return Case("ResNet-20, 3,936 images of CIFAR-10", model, draws, ("accuracy",), score)


def espnet() -> Case:
    root = SHARED / "data" / "camvid"
    model = ESPNet(pretrained_model=SHARED / "weights" / "espnet_camvid" / "espnet_p_2_q_8_camvid.pth")
    pairs = [line.split() for line in (root / "val.txt").read_text().splitlines()][::4]
    imgs = [read_image(root / img) for img, _ in pairs]
    truths = [read_label(root / label) for _, label in pairs]
    truths = [np.where(label == 11, -1, label) for label in truths]

    def score(model: Any, numbers: Sequence[int]) -> tuple[tuple[float, ...], np.ndarray]:
        with cvzoo.no_backprop_mode(), cvzoo.using_config("train", False):
            y = [model(model.prepare(imgs[i])[None]).array[0, :, ::8, ::8] for i in numbers]
        maps = model.predict([imgs[i] for i in numbers])
        return (eval_semantic_segmentation(maps, [truths[i] for i in numbers])["miou"],), np.stack(y)

    rng = np.random.default_rng(0)
    draws = [("16 frames for training", frames, list(range(len(imgs)))) for frames in street_frames(rng, 3)]
    return Case("ESPNet, 26 frames of CamVid", model, draws, ("mean IoU",), score)


CASES: dict[str, Callable[[], Case]] = {
    "yolo": lambda: darknet(
        "yolo_fastest_coco", "yolo-fastest-1.1", "coco.names", "Yolo-Fastest, photos of COCO", 5, 2
    ),
    "nano": lambda: darknet(
        *("mobilenetv2_yolov3_nano_voc", "MobileNetV2-YOLOv3-Nano-voc", "voc.names"),
        *("MobileNetV2-YOLOv3-Nano, VOC's classes in photos of COCO", 4, 0),
    ),
    "resnet20": resnet20,
    "espnet": espnet,
}


# --- what was tried and is no part of cvzoo ---------------------------------------------------------------------------
def by_entropy(self: ValueRange, method: str, percentile: float) -> Counting:
    """The cut whose histogram, in as many steps as bytes have, tells the most of the whole (Migacz, 2017)."""
    signed = self.low < 0
    steps, largest = (127 if signed else 255), max(self.high, -self.low)
    if largest == 0:
        return Counting(1.0, signed)
    counts, best = self._counts, (np.inf, largest)
    for n in range(steps, len(counts) + 1, 16):
        p = counts[:n].copy()
        there = p > 0
        place = np.arange(n) * steps // n
        mean = np.bincount(place, p, steps) / np.maximum(np.bincount(place, there, steps), 1)
        p[-1] += counts[n:].sum()
        q = np.where(there, mean[place], 0)
        if q.sum() > 0:
            p, q = p / p.sum(), np.maximum(q / q.sum(), 1e-12)
            loss = float((p[p > 0] * np.log(p[p > 0] / q[p > 0])).sum())
            best = min(best, (loss, n * self._top / len(counts)))
    return Counting(float(np.float32(min(best[1], largest) / steps)), signed)


def quantized(
    model: Any, photos: list[Any], *, corrected: bool = True, entropy: bool = False, in_float: str = "", **how: Any
) -> Any:
    """in_float: "first" or "last", of the layers that are left in float32 by default, those which still are"""
    kept = Comparison.correct, ValueRange.counting
    if in_float:
        rows = model.quantize(photos, **how).quantization_report
        how |= {"in_float": [row.path for row in rows if row.why == in_float], "first_and_last": False}
    if not corrected:
        Comparison.correct = lambda self: None  # type: ignore[method-assign]
    if entropy:
        ValueRange.counting = by_entropy  # type: ignore[method-assign]
    try:
        return model.quantize(photos, **how)
    finally:
        Comparison.correct, ValueRange.counting = kept  # type: ignore[method-assign]


# --------------------------------------------------------------------------------------------------------------------
def measure(case: Case, ways: Sequence[str]) -> Iterator[dict]:
    floats = [case.score(case.model, numbers) for _, _, numbers in case.draws]
    for way in ways:
        kinds: dict[str, list[tuple[tuple[float, ...], tuple[float, ...], float]]] = {}
        for (kind, photos, numbers), (scores, outputs) in zip(case.draws, floats):
            small = quantized(case.model, photos, **WAYS[way])
            own, there = case.score(small, numbers)
            spread = np.square(outputs - outputs.mean(axis=0), dtype=np.float64).sum()
            off = np.sqrt(np.square(there - outputs, dtype=np.float64).sum() / spread)
            kinds.setdefault(kind, []).append((scores, own, float(off)))
        for kind, rows in kinds.items():
            for k, metric in enumerate(case.metrics):
                score = np.array([scores[k] for scores, _, _ in rows])
                lost = score - np.array([own[k] for _, own, _ in rows])
                yield {
                    "case": case.name,
                    "metric": metric,
                    "ranges of": kind,
                    "way": way,
                    "times": len(rows),
                    "int8 layers": f"{small.quantization_report.n_quantized} of {len(small.quantization_report)}",
                    "float32": round(float(score.mean()), 4),
                    "lost": round(float(lost.mean()), 4),
                    "deviation": round(float(lost.std()), 4),
                    "worst": round(float(lost.max()), 4),
                    "outputs off": round(float(np.mean([off for _, _, off in rows])), 4),
                }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=tuple(CASES), default=tuple(CASES))
    parser.add_argument("--ways", nargs="+", choices=tuple(WAYS), default=tuple(WAYS))
    parser.add_argument("--out", help="write a JSON file of results")
    arguments = parser.parse_args()
    start = time.perf_counter()
    print(machine())
    rows = []
    for name in arguments.only:
        for row in measure(CASES[name](), arguments.ways):
            rows.append(row)
            print(json.dumps(row), flush=True)
    print(f"{time.perf_counter() - start:.0f} s in all")
    if arguments.out:
        versions = {"cvzoo": cvzoo.__version__, "numpy": np.__version__, "load": f"{os.getloadavg()[0]:.1f}"}
        notes = "lost: float32's score less int8's, on photos that no range was taken of; below 0: int8 scores more"
        write_results(arguments.out, title="int8: what it costs", rows=rows, versions=versions, notes=notes)


if __name__ == "__main__":
    main()
