"""Time COCO's evaluation from JSON files beside pycocotools and its faster successors, in one run.

    python benchmarks/coco_eval_data.py FOLDER
    python benchmarks/coco_eval.py --gt FOLDER/gt.json --dt FOLDER/dt_segm.json --iou-type segm --runs 5
        [--peers-python ENV/bin/python] [--peers faster-coco-eval hotcoco ultrafast-pycocotools pycocotools]
        [--out benchmarks/results --name segm]

Load, evaluate, accumulate and summarize, each time in a new process, the libraries in turn, A B C A B C; the time
starts behind the imports. Medians, ranges and the peak of resident memory of the whole process are reported, and that
all libraries gave the same numbers. Rust libraries run on one thread (RAYON_NUM_THREADS=1) and, with --all-threads, on
all. The peers may live in an environment of their own; those that it lacks are left out.
"""

import argparse
import datetime
import importlib
import json
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import time

MODULES = {
    "pycocotools": ("pycocotools.coco", "pycocotools.cocoeval", "COCOeval"),
    "faster-coco-eval": ("faster_coco_eval", "faster_coco_eval", "COCOeval_faster"),
    "hotcoco": ("hotcoco", "hotcoco", "COCOeval"),
    "ultrafast-pycocotools": ("ultrafast_pycocotools", "ultrafast_pycocotools", "COCOeval"),
}


def run_cvzoo(gt, dt, iou_type):
    from cvzoo.evaluations.coco import COCOParameters, evaluate_coco, read_coco_detections, read_coco_ground_truth

    parameters = COCOParameters(iou_type=iou_type)
    start = time.perf_counter()
    objects, detections = read_coco_ground_truth(gt, parameters), read_coco_detections(dt, parameters)
    loaded = time.perf_counter()
    stats = evaluate_coco(objects, detections, parameters).stats
    return start, loaded, stats


def run_peer(name, gt, dt, iou_type):
    data, evaluation, evaluator = MODULES[name]
    coco, evaluator = importlib.import_module(data).COCO, getattr(importlib.import_module(evaluation), evaluator)
    start = time.perf_counter()
    objects = coco(gt)
    detections = objects.loadRes(dt)
    loaded = time.perf_counter()
    run = evaluator(objects, detections, iou_type)
    run.evaluate()
    run.accumulate()
    run.summarize()
    return start, loaded, run.stats


def worker(name, gt, dt, iou_type):
    """Run once and print a line of JSON on the first standard output; what libraries print goes nowhere."""
    out = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    run = run_cvzoo if name == "cvzoo" else lambda *args: run_peer(name, *args)
    start, loaded, stats = run(gt, dt, iou_type)
    stop = time.perf_counter()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    answer = {
        "load": loaded - start,
        "evaluate": stop - loaded,
        "total": stop - start,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss / 1024,
        "stats": [float(value) for value in stats[:12]],
    }
    os.write(out, (json.dumps(answer) + "\n").encode())


def once(name, python, args, threads):
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", RAYON_NUM_THREADS=str(threads))
    if python == sys.executable:
        environment["PYTHONPATH"] = str(pathlib.Path(__file__).resolve().parents[1])
    command = [python, __file__, "--worker", name, "--gt", args.gt, "--dt", args.dt, "--iou-type", args.iou_type]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        print(f"{name}: left out: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def spread(values):
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gt", required=True)
    parser.add_argument("--dt", required=True)
    parser.add_argument("--iou-type", default="bbox", choices=("bbox", "segm", "keypoints"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--peers", nargs="*", default=["faster-coco-eval", "hotcoco", "ultrafast-pycocotools"])
    parser.add_argument("--peers-python", default=sys.executable)
    parser.add_argument("--all-threads", action="store_true", help="run the peers on all threads as well")
    parser.add_argument("--out", type=pathlib.Path, help="folder for a dated JSON file")
    parser.add_argument("--name", help="what the file is called beside its date; default: the kind of overlap")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        worker(args.worker, args.gt, args.dt, args.iou_type)
        return
    cores = os.cpu_count()
    sides = [("cvzoo", sys.executable, 1)] + [(name, args.peers_python, 1) for name in args.peers]
    if args.all_threads:
        sides += [(name, args.peers_python, cores) for name in args.peers if name != "pycocotools"]
    runs = {side: [] for side in sides}
    for _ in range(args.runs):
        for side in sides:
            if runs[side] is not None:
                answer = once(side[0], side[1], args, side[2])
                runs[side] = None if answer is None else [*runs[side], answer]
    runs = {side: answers for side, answers in runs.items() if answers}
    first = runs[sides[0]][0]["stats"]
    report = {
        "what": f"COCO evaluation from JSON files, {args.iou_type}: seconds and megabytes, medians of {args.runs} runs",
        "date": datetime.date.today().isoformat(),
        "machine": {"cores": cores, "system": platform.platform(), "python": platform.python_version()},
        "file_mb": {part: round(os.path.getsize(path) / 1e6, 1) for part, path in (("gt", args.gt), ("dt", args.dt))},
        "AP": first[0],
        "load_average_at_the_end": os.getloadavg()[0],
        "sides": [],
    }
    print(
        f"{'':24s}{'threads':>8s}{'load':>8s}{'eval':>8s}{'total':>8s}{'least':>8s}{'most':>8s}{'MB':>8s}{'ratio':>8s}"
    )
    for (name, _, threads), answers in runs.items():
        column = {key: spread([answer[key] for answer in answers]) for key in answers[0] if key != "stats"}
        off = max(abs(a - b) for answer in answers for a, b in zip(answer["stats"], first, strict=True))
        ours = statistics.median(answer["total"] for answer in runs[sides[0]])
        column |= {
            "name": name,
            "threads": threads,
            "off_by_at_most": off,
            "times_ours": column["total"]["median"] / ours,
        }
        report["sides"].append(column)
        total = column["total"]
        print(
            f"{name:24s}{threads:8d}{column['load']['median']:8.2f}{column['evaluate']['median']:8.2f}"
            f"{total['median']:8.2f}{total['least']:8.2f}{total['most']:8.2f}{column['peak_mb']['median']:8.0f}"
            f"{column['times_ours']:8.2f}" + ("" if off < 1e-12 else f"  numbers differ by {off:.1e}")
        )
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        path = args.out / f"coco_eval_{args.name or args.iou_type}-{report['date']}.json"
        path.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
