"""Time `cvzoo.geometry.nms` beside torchvision's compiled CPU operator, or beside a stand-in for it, in one run.

    python benchmarks/bench_nms.py [--repeat 15] [--out benchmarks/results]

torchvision is used if it can be imported. Without it, `nms_reference.c` (the same plain algorithm, written by us) is
compiled with gcc -O3 and takes its place; the result says which of the two it was. Both sides alternate, A B A B, on
one thread; the medians and the range are reported. Before timing, both must give the same indices.
"""

import argparse
import ctypes
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from cvzoo.geometry import nms

HERE = pathlib.Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--out", type=pathlib.Path, help="folder for a dated JSON file")
    arguments = parser.parse_args()
    rival_name, rival = torchvision_rival() or stand_in_rival()
    report = {
        "what": "nms, one thread, milliseconds",
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "rival": rival_name,
        "cases": [],
    }
    print(f"{report['machine']['processor']}, numpy {np.__version__}\nrival: {rival_name}\n")
    print(f"{'case':34} {'thresh':>6} {'kept':>6} {'cvzoo ms':>22} {'rival ms':>22} {'ratio':>6}")
    for name, bbox, score, iou_thresh in cases():
        case = measure(bbox, score, iou_thresh, rival, arguments.repeat)
        report["cases"].append({"name": name, "n_bbox": len(bbox), "iou_thresh": iou_thresh, **case})
        ours, theirs = ("{median:8.2f} ({least:.2f} .. {most:.2f})".format(**case[side]) for side in ("cvzoo", "rival"))
        print(f"{name:34} {iou_thresh:6} {case['n_kept']:6} {ours:>22} {theirs:>22} {case['ratio']:6.2f}")
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        path = arguments.out / f"nms-{report['date']}.json"
        path.write_text(json.dumps(report, indent=1) + "\n")
        print(f"\nwritten to {path}")


def cases():
    """Name, boxes, scores and threshold of each case; the first two are the ones with a target (below the rival)."""
    rng = np.random.default_rng(0)
    for n, iou_thresh in ((6000, 0.5), (6000, 0.45), (1000, 0.5), (300, 0.5), (20000, 0.5)):
        yield f"{n} random, 1000 x 1000, sides 1-200", random_boxes(rng, n), scores(rng, n), iou_thresh
    center = random_boxes(rng, 100)
    near = center[rng.integers(0, 100, 6000)] + rng.normal(0, 4, (6000, 4)).astype(np.float32)
    yield "6000 in 100 clusters", near, scores(rng, 6000), 0.5
    yield "6000 times the same box", np.repeat(center[:1], 6000, axis=0), scores(rng, 6000), 0.5


def random_boxes(rng, n):
    corner, size = rng.uniform(0, 1000, (n, 2)), rng.uniform(1, 200, (n, 2))
    return np.concatenate([corner, corner + size], axis=1).astype(np.float32)


def scores(rng, n):
    return rng.random(n, dtype=np.float32)


def measure(bbox, score, iou_thresh, rival, repeat):
    sides = {"cvzoo": lambda: nms(bbox, score, iou_thresh=iou_thresh), "rival": rival(bbox, score, iou_thresh)}
    kept = [np.asarray(run()) for run in sides.values()]
    if not np.array_equal(*kept):
        raise SystemExit("the two sides keep different boxes")
    times = {side: [] for side in sides}
    for _ in range(repeat):
        for side, run in sides.items():
            start = time.perf_counter()
            run()
            times[side].append(1000 * (time.perf_counter() - start))
    summary = {
        side: {"median": statistics.median(each), "least": min(each), "most": max(each)} for side, each in times.items()
    }
    ratio = summary["cvzoo"]["median"] / summary["rival"]["median"]
    return {"n_kept": len(kept[0]), "ratio": round(ratio, 3), **summary}


def torchvision_rival():
    try:
        import torch
        import torchvision
    except ImportError:
        return None
    torch.set_num_threads(1)

    def rival(bbox, score, iou_thresh):
        bbox, score = torch.from_numpy(bbox), torch.from_numpy(score)
        return lambda: torchvision.ops.nms(bbox, score, iou_thresh)

    return f"torchvision {torchvision.__version__}, its compiled CPU operator", rival


def stand_in_rival():
    folder = tempfile.mkdtemp(prefix="bench_nms_")
    library = pathlib.Path(folder, "nms_reference.so")
    command = ["gcc", "-O3", "-shared", "-fPIC", "-o", str(library), str(HERE / "nms_reference.c")]
    subprocess.run(command, check=True)
    function = ctypes.CDLL(str(library)).nms_reference
    function.restype = ctypes.c_int64

    def rival(bbox, score, iou_thresh):
        def run():
            order = np.argsort(-score, kind="stable")
            kept = np.empty(len(bbox), dtype=np.int64)
            n_kept = function(
                ctypes.c_void_p(bbox.ctypes.data),
                ctypes.c_void_p(order.ctypes.data),
                ctypes.c_int64(len(bbox)),
                ctypes.c_float(iou_thresh),
                ctypes.c_void_p(kept.ctypes.data),
            )
            return kept[:n_kept]

        return run

    return "stand-in for torchvision's compiled CPU operator: the same plain algorithm in our C, gcc -O3", rival


def machine():
    processor = platform.processor()
    info = pathlib.Path("/proc/cpuinfo")
    if info.is_file():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        processor = names[0] if names else processor
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


if __name__ == "__main__":
    main()
