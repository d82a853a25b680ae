"""What `compile()` costs, in eager passes of the same network: CPU seconds of the process, one thread by default.

    python benchmarks/compile_time.py [--repeat 5] [--only resnet50] [--out benchmarks/results/FILE.json]

Each network is compiled once in a new process, before its first call ("first": weights are reordered and kernels
generated, as by any first call), and then repeatedly after `uncompile()`, in turn with eager passes ("again"): medians.
A pass of training is forward and backward for random gradients of the result, without the optimizer.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

THREADS = {name: os.environ.get(name, "1") for name in ("OMP_NUM_THREADS", "CVZOO_NUM_THREADS")}
CASES = {
    "ViT-B/16, batch 8": ("ViTB16", (8, 3, 224, 224), False),
    "ResNet-50, batch 1": ("ResNet50", (1, 3, 224, 224), False),
    "ResNet-50, batch 8": ("ResNet50", (8, 3, 224, 224), False),
    "MobileNetV2, batch 1": ("MobileNetV2", (1, 3, 224, 224), False),
    "SSD300, batch 1": ("SSD300", (1, 3, 300, 300), False),
    "RetinaNet, 800x1088": ("retinanet_resnet50_fpn", (1, 3, 800, 1088), False),
    "ResNet-50, batch 8, training": ("ResNet50", (8, 3, 224, 224), True),
    "ResNet-50, batch 16, training": ("ResNet50", (16, 3, 224, 224), True),
}


def seconds_of(run) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def measure(case: str, repeat: int) -> dict:
    import cvzoo
    import cvzoo.links as L

    name, shape, train = CASES[case]
    cvzoo.set_seed(0)
    is_classifier = shape[2:] == (224, 224)
    model = getattr(L, name)(**({"n_class": 1000} if is_classifier else {"n_fg_class": 20}))
    x = np.random.default_rng(0).standard_normal(shape, dtype="float32")
    x = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)

    def forward() -> None:
        if train:
            model.cleargrads()
            y = model(x)
            y.grad = gy
            y.backward()
            return
        with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
            model(x)

    gy = np.random.default_rng(0).standard_normal((len(x), 1000), dtype="float32")
    first = seconds_of(lambda: model.compile(x, train=train))
    passes, again = [], []
    for _ in range(repeat):
        model.uncompile()
        passes += [seconds_of(forward) for _ in range(2)][1:]
        again.append(seconds_of(lambda: model.compile(x, train=train)))
    row = {"pass_s": statistics.median(passes), "first_s": first, "again_s": statistics.median(again)}
    row |= {"first_passes": row["first_s"] / row["pass_s"], "again_passes": row["again_s"] / row["pass_s"]}
    return {"case": case, "repeat": repeat, **{key: round(value, 4) for key, value in row.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default="", help="a part of the case's name, in any letters")
    parser.add_argument("--out", help="write a JSON file of results")
    parser.add_argument("--case", choices=CASES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.case:
        print(json.dumps(measure(args.case, args.repeat)))
        return
    rows = []
    for case in CASES:
        if args.only.lower() not in case.lower():
            continue
        command = [sys.executable, __file__, "--case", case, "--repeat", str(args.repeat)]
        done = subprocess.run(command, env={**os.environ, **THREADS}, stdout=subprocess.PIPE, text=True, check=True)
        rows.append(json.loads(done.stdout))
        row = rows[-1]
        print(
            f"{case:<30} a pass {row['pass_s'] * 1e3:7.1f} ms; compile: {row['first_passes']:5.2f} passes first, "
            f"{row['again_passes']:5.2f} again",
            flush=True,
        )
    if args.out:
        from side_by_side import write_results

        import cvzoo

        versions = {"cvzoo": cvzoo.__version__, "numpy": np.__version__, "threads": THREADS["OMP_NUM_THREADS"]}
        write_results(args.out, title="What compiling costs", rows=rows, versions=versions, notes=__doc__)


if __name__ == "__main__":
    main()
