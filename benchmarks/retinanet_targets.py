"""What RetinaNet's training computes beside the network, cvzoo against torchvision, in turn.

    python benchmarks/retinanet_targets.py --torch-python ENV/bin/python [--threads N] [--out FILE.json]

ENV is an environment with torch and torchvision. The focal loss, forward and backward, of whole batches of scores:
torch is given its one-hot targets as its RetinaNet makes them, in the measured time, as cvzoo takes whole numbers. And
one image's targets: the matrix of all IoUs and torchvision's matcher against cvzoo's search in rows.
"""

import argparse
import math
import os
import sys

import numpy as np
from side_by_side import Worker, compare, machine, serve, write_results

# anchors, classes
LOSSES = {"focal loss 8 x 76725 anchors, 1 class": (8 * 76725, 1), "focal loss 76725 anchors, 91 classes": (76725, 91)}
# size of the image, objects, whether they are lines of text
TARGETS = {
    "targets 640 x 640, 20 objects": ((640, 640), 20, False),
    "targets 1024 x 768, 200 lines": ((1024, 768), 200, True),
}


def scores(n: int, n_class: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    t = np.full(n, -1)
    t[random.choice(n, n // 500, replace=False)] = random.integers(0, n_class, n // 500)
    t[random.choice(n, n // 300, replace=False)] = -2
    return random.normal(-4, 2, (n, n_class)).astype("f"), t


def anchors_and_boxes(size: tuple[int, int], n: int, lines: bool) -> tuple[np.ndarray, np.ndarray]:
    """As y_min, x_min, y_max, x_max."""
    parts = []
    for stride in (8, 16, 32, 64, 128):
        sides = [
            (4 * stride * 2 ** (k / 3) * math.sqrt(r), 4 * stride * 2 ** (k / 3) / math.sqrt(r))
            for r in ((1 / 8, 1 / 4, 0.5, 1, 2) if lines else (0.5, 1, 2))
            for k in range(3)
        ]
        half = np.array(sides) / 2
        y, x = np.meshgrid(*(np.arange(-(-side // stride)) * stride for side in size), indexing="ij")
        place = np.stack([y, x, y, x], axis=-1)[:, :, None]
        parts.append((place + np.concatenate([-half, half], axis=1)).reshape(-1, 4))
    random = np.random.default_rng(0)
    if lines:
        side = np.stack([random.uniform(10, 30, n), random.uniform(30, 400, n)], axis=1)
    else:
        side = np.exp(random.uniform(math.log(12), math.log(400), (n, 2)))
    middle = random.uniform(0, 1, (n, 2)) * size
    return np.concatenate(parts).astype("f"), np.concatenate([middle - side / 2, middle + side / 2], axis=1).astype("f")


def serve_cvzoo() -> None:
    import cvzoo.functions as F
    from cvzoo import Variable
    from cvzoo.links.model.retinanet.targets import AnchorRows, match_anchors

    def learn(x: np.ndarray, t: np.ndarray) -> None:
        x = Variable(x)
        F.focal_loss(x, t).backward()

    cases = {}
    for name, shape in LOSSES.items():
        x, t = scores(*shape)
        cases[name] = lambda x=x, t=t: learn(x, t)
    for name, case in TARGETS.items():
        anchors, bbox = anchors_and_boxes(*case)
        rows = AnchorRows(anchors)
        cases[name] = lambda rows=rows, bbox=bbox: match_anchors(rows, bbox)
    serve(cases)


def serve_torch() -> None:
    import torch
    from torchvision.models.detection._utils import Matcher
    from torchvision.ops import box_iou, sigmoid_focal_loss

    torch.set_num_threads(int(os.environ["CVZOO_NUM_THREADS"]))

    def learn(x: torch.Tensor, t: torch.Tensor) -> None:
        x.grad = None
        target = torch.zeros_like(x)
        yes = t >= 0
        target[yes, t[yes]] = 1.0
        seen = t != -2
        (sigmoid_focal_loss(x[seen], target[seen], reduction="sum") / max(1, int(yes.sum()))).backward()

    matcher = Matcher(0.5, 0.4, allow_low_quality_matches=True)
    cases = {}
    for name, shape in LOSSES.items():
        x, t = map(torch.from_numpy, scores(*shape))
        x.requires_grad_()
        cases[name] = lambda x=x, t=t: learn(x, t)
    for name, case in TARGETS.items():
        anchors, bbox = (torch.from_numpy(b[:, [1, 0, 3, 2]].copy()) for b in anchors_and_boxes(*case))
        cases[name] = lambda anchors=anchors, bbox=bbox: matcher(box_iou(bbox, anchors))
    serve(cases)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch-python", help="the python of an environment with torch and torchvision")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--out", help="write a JSON file of results")
    parser.add_argument("--serve", choices=("cvzoo", "torch"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        return serve_cvzoo() if arguments.serve == "cvzoo" else serve_torch()
    environment = {"CVZOO_NUM_THREADS": str(arguments.threads), "OMP_NUM_THREADS": str(arguments.threads)}
    workers = [Worker("cvzoo", [sys.executable, __file__, "--serve", "cvzoo"], environment)]
    if arguments.torch_python:
        workers.append(Worker("torch", [arguments.torch_python, __file__, "--serve", "torch"], environment))
    print(machine(), f"threads {arguments.threads}")
    rows = [compare(workers, case, runs=arguments.runs) for case in (*LOSSES, *TARGETS)]
    for worker in workers:
        worker.close()
    if arguments.out:
        versions = {"numpy": np.__version__, "threads": str(arguments.threads)}
        write_results(
            arguments.out, title="RetinaNet's losses and targets", rows=rows, versions=versions, notes=__doc__
        )


if __name__ == "__main__":
    main()
