"""Networks in float32, in int8 and (where it can be had) in bfloat16: how fast, and how right on real images.

    python benchmarks/int8.py [--out benchmarks/results/FILE.json] [--threads 1 4] [--runs 9]

Speed: ResNet-50, MobileNetV2 (random weights: time does not depend on them) and Yolo-Fastest, eager and compiled, one
and eight images; the kinds in turn, each in a process of its own for each number of threads.
Scores: of ResNet-20 how many of 4,000 CIFAR images are right, of Yolo-Fastest COCO's AP of 50 images; of public weights
in the folder ../shared, without which both are left out, and Yolo-Fastest's speed. Default settings, 64 and 16 images.
"""

import argparse
import os
import pathlib
import sys
import time

import numpy as np
from side_by_side import Worker, compare, machine, serve, write_results

SHARED = pathlib.Path(__file__).resolve().parents[2] / "shared"
BATCHES = (1, 8)
KINDS = ("int8", "bf16", "float32")


def yolo_fastest():
    from cvzoo.links.model.darknet.detector import DarknetDetector

    folder = SHARED / "weights" / "yolo_fastest_coco"
    files = (folder / "yolo-fastest-1.1.cfg", folder / "yolo-fastest-1.1.weights")
    return DarknetDetector(*files, label_names=folder / "coco.names")


def networks() -> dict:
    from cvzoo.links.model.mobilenet_v2.mobilenet_v2 import MobileNetV2
    from cvzoo.links.model.resnet.resnet import ResNet50

    made = {"ResNet-50": ResNet50(n_class=1000), "MobileNetV2": MobileNetV2(n_class=1000)}
    return made | {"Yolo-Fastest": yolo_fastest()} if SHARED.is_dir() else made


def serve_one(kind: str) -> None:
    import cvzoo

    cvzoo.set_seed(0)
    rng = np.random.default_rng(0)
    photos = [(rng.random((3, 320, 320)) * 255).astype(np.float32) for _ in range(4)]
    cases = {}

    def run(model, x):
        with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
            return model(x)

    for name, model in networks().items():
        model = model if kind == "float32" else model.quantize(photos, precision=kind)
        replayed = model.copy("copy")
        replayed.compile()
        size = 320 if name == "Yolo-Fastest" else 224
        for batch in BATCHES:
            x = rng.random((batch, size, size, 3), "float32").transpose(0, 3, 1, 2)
            for how, each in (("eager", model), ("compiled", replayed)):
                cases[f"{name} {how} batch {batch}"] = lambda each=each, x=x: run(each, x)
    serve(cases)


# --- scores ---------------------------------------------------------------------------------------------------------
def _kinds(model, photos, kinds):
    for kind in kinds:
        yield kind, model if kind == "float32" else model.quantize(photos, precision=kind)


def right_of_cifar(kinds) -> dict:
    from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet

    with np.load(SHARED / "data" / "cifar10_train_4000.npz") as file:
        images, labels = file["images"].transpose(0, 3, 1, 2).astype(np.float32), file["labels"]
    model = CIFARResNet(20, pretrained_model=SHARED / "weights" / "resnet20_cifar10" / "resnet20-12fca82f.th")
    row: dict = {"case": "ResNet-20, CIFAR-10: right of 4,000 training photos"}
    for kind, each in _kinds(model, images[:64], kinds):
        row[kind] = int((np.asarray(each.predict(images, batch_size=100)).argmax(axis=1) == labels).sum())
    return row


def ap_of_tiny_coco(kinds) -> dict:
    from cvzoo.datasets import COCOJSONBboxDataset
    from cvzoo.evaluations import DetectionCOCOEvaluator
    from cvzoo.iterators import SerialIterator

    model, folder = yolo_fastest(), SHARED / "data" / "tiny_coco"
    data = COCOJSONBboxDataset(
        folder / "annotations" / "instances_train2017.json",
        folder / "train2017",
        use_crowded=True,
        return_area=True,
        return_crowded=True,
    )
    row: dict = {"case": f"Yolo-Fastest, {len(data)} photos of COCO: AP"}
    for kind, each in _kinds(model, [data[i][0] for i in range(16)], kinds):
        with each.using_preset("evaluate"):
            scores = DetectionCOCOEvaluator(SerialIterator(data, 1, repeat=False, shuffle=False), each)()
        row[kind] = round(float(scores["main/map/iou=0.50:0.95/area=all/max_dets=100"]), 4)
    return row


# --------------------------------------------------------------------------------------------------------------------
def measure(kinds, threads: int, runs: int) -> list[dict]:
    environment = {"CVZOO_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    workers = [Worker(kind, [sys.executable, __file__, "--serve", kind], environment) for kind in kinds]
    print(f"threads {threads}, load {os.getloadavg()[0]:.1f}")
    # a compiled model records a shape when it comes for the second time: one more round than usual to warm up
    rows = [compare(workers, case, runs=runs, warmup=4) | {"threads": threads} for case in workers[0].cases]
    for worker in workers:
        worker.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, cores}))
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--only-scores", action="store_true")
    parser.add_argument("--out", help="write a JSON file of results")
    parser.add_argument("--serve", choices=KINDS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        return serve_one(arguments.serve)
    import cvzoo
    from cvzoo.backends.onednn.library import why_no_bf16

    start = time.perf_counter()
    print(machine())
    kinds = [kind for kind in KINDS if kind != "bf16" or why_no_bf16() is None]
    rows = []
    if SHARED.is_dir():
        for score in (right_of_cifar, ap_of_tiny_coco):
            rows.append(score(kinds))
            print("  ".join(f"{name}: {value}" for name, value in rows[-1].items()), flush=True)
    if not arguments.only_scores:
        for threads in arguments.threads:
            rows += measure(kinds, threads, arguments.runs)
    print(f"{time.perf_counter() - start:.0f} s in all")
    if arguments.out:
        versions = {"cvzoo": cvzoo.__version__, "numpy": np.__version__, "load": f"{os.getloadavg()[0]:.1f}"}
        notes = "scores with the default settings of quantize; times of forward passes, without preparing photos"
        write_results(arguments.out, title="int8, bf16 and float32", rows=rows, versions=versions, notes=notes)


if __name__ == "__main__":
    main()
