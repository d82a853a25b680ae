"""ResNet-50 in float32, in eight bits and (where it can be had) in bfloat16, in turn, each in a process of its own.

    python benchmarks/int8.py [--out benchmarks/results/FILE.json]

The weights are random (time does not depend on them); the numbers' range is taken of four random photos.
"""

import argparse
import os
import sys

import numpy as np
from side_by_side import Worker, compare, machine, serve, write_results

BATCHES = (1, 8)
KINDS = ("int8", "bf16", "float32")


def serve_one(kind: str) -> None:
    import cvzoo
    from cvzoo.links.model.resnet.depths import ResNet50

    cvzoo.set_seed(0)
    model = ResNet50(n_class=1000)
    rng = np.random.default_rng(0)
    photos = [(rng.random((3, 224, 224)) * 255).astype(np.float32) for _ in range(4)]
    if kind != "float32":
        model = model.quantize(photos, precision=kind)

    def forward(x):
        with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
            return model(x).array

    cases = {}
    for batch in BATCHES:
        x = rng.standard_normal((batch, 224, 224, 3), "float32").transpose(0, 3, 1, 2)
        cases[f"forward batch {batch}"] = lambda x=x: forward(x)
    serve(cases)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--out", help="write a JSON file of results")
    parser.add_argument("--serve", choices=KINDS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        return serve_one(arguments.serve)
    environment = {"CVZOO_NUM_THREADS": str(arguments.threads), "OMP_NUM_THREADS": str(arguments.threads)}
    from cvzoo.backends.onednn.library import why_no_bf16

    kinds = [kind for kind in KINDS if kind != "bf16" or why_no_bf16() is None]
    workers = [Worker(kind, [sys.executable, __file__, "--serve", kind], environment) for kind in kinds]
    print(machine(), f"threads {arguments.threads}, load {os.getloadavg()[0]:.1f}")
    rows = [compare(workers, case, runs=arguments.runs) for case in workers[0].cases]
    for worker in workers:
        worker.close()
    if arguments.out:
        import cvzoo

        versions = {"cvzoo": cvzoo.__version__, "numpy": np.__version__, "threads": str(arguments.threads)}
        versions["load"] = f"{os.getloadavg()[0]:.1f}"
        write_results(arguments.out, title="ResNet-50, eager, int8 and float32", rows=rows, versions=versions)


if __name__ == "__main__":
    main()
