"""Training on one host, and on two hosts with a link of 1 Gbit/s: speed-up, and how much communication is hidden.

    python benchmarks/distributed/two_hosts_1gbit.py --sroie ROOT [--cases sroie,resnet50] [--out FILE.json]

The hosts are network namespaces of this machine, which need root and two CPU cores; each has one rank with one thread.
The runs are in turn: one host, two hosts, ... Times are medians of steps. `sroie` is RetinaNet (ResNet-50, FPN),
one receipt per host, resized to 288 x 608 (32 million parameters, 129 MB of gradients); `resnet50` is an image
classifier (102 MB), 4 images of 224 x 224 per host, whose order of gradients is real and whose images are random.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).parents[k]) for k in (1, 2)]
sys.path.append(str(pathlib.Path(__file__).parents[2] / "tests" / "support"))

SIZE = (608, 288)  # of receipts
FOLDER = "CVZOO_LAUNCH_TIMELINE"  # as `cvzoo launch --timeline` sets it


def sroie_batches(root: str, comm):
    """The loss's arguments, of one receipt per rank and step."""
    import numpy as np

    from cvzoo.datasets import SROIETextDataset
    from cvzoo.distributed import scatter_batches
    from cvzoo.iterators import SerialIterator
    from cvzoo.transforms import resize, resize_bbox

    iterator = scatter_batches(SerialIterator(SROIETextDataset(root, "train"), comm.size), comm)
    while True:
        ((img, bbox, label),) = iterator.next()
        x = resize(img, SIZE).astype(np.float32)[None] / 255
        yield x, [resize_bbox(bbox, img.shape[1:], SIZE)], [label]


def sroie_loss():
    from cvzoo.links import retinanet_resnet50_fpn
    from cvzoo.links.model.retinanet.loss import RetinaNetLoss

    return RetinaNetLoss(retinanet_resnet50_fpn(n_fg_class=1))


def resnet50_batches(root: str, comm):
    import numpy as np

    random = np.random.default_rng(comm.rank)
    while True:
        yield random.standard_normal((4, 3, 224, 224), "float32"), random.integers(0, 1000, 4).astype("int32")


def resnet50_loss():
    import cvzoo.links as L

    return L.Classifier(L.ResNet50(n_class=1000))


def train(case: str, root: str, n_step: int) -> None:
    """A rank: rank 0 prints the seconds of each step after the first two."""
    import cvzoo
    from cvzoo.distributed import create_communicator, create_multi_node_optimizer
    from cvzoo.optimizers import MomentumSGD

    comm = create_communicator("mpi")
    cvzoo.set_seed(0)
    loss = {"sroie": sroie_loss, "resnet50": resnet50_loss}[case]()
    optimizer = create_multi_node_optimizer(MomentumSGD(lr=1e-3), comm).setup(loss)
    batches = {"sroie": sroie_batches, "resnet50": resnet50_batches}[case](root, comm)
    seconds = []
    for _ in range(n_step + 2):
        batch = next(batches)
        comm.barrier()
        begin = time.perf_counter()
        optimizer.update(loss, *batch)
        comm.barrier()
        seconds.append(time.perf_counter() - begin)
    if comm.rank == 0:
        nbytes = sum(param.grad.nbytes for param in loss.params() if param.grad is not None)
        print(json.dumps({"seconds": seconds[2:], "nbytes": nbytes}), flush=True)


def hidden_of(folder: pathlib.Path) -> dict[str, float]:
    """Medians over the ranks of what their timelines say of the steps."""
    from cvzoo.distributed.timeline import read_events, summarize

    found = [summarize(read_events(path)) for path in sorted(folder.glob("timeline-*.json"))]
    return {
        "hidden": statistics.median(each.hidden for each in found),
        "wire_seconds": statistics.median(each.wire for each in found),
    }


def run(hosts, n: int, case: str, args: argparse.Namespace) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        words = [__file__, "--train", case, "--steps", args.steps, "--sroie", args.sroie or ""]
        command = hosts.command(*words)
        if n == 1:
            inside = command[: command.index("env")]
            command = [*inside, sys.executable, "-m", "mpi4py", *map(str, words)]
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "CVZOO_NUM_THREADS"), "1")
        environment = {**os.environ, **one, **({FOLDER: folder} if n > 1 else {})}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        found = json.loads(done.stdout.splitlines()[-1])
        return found | (hidden_of(pathlib.Path(folder)) if n > 1 else {})


def measure(hosts, case: str, args: argparse.Namespace) -> dict:
    from cvzoo.distributed.simulation.allreduce import Cluster, ring_allreduce
    from cvzoo.distributed.simulation.interconnect import INSIDE_A_NODE, network

    one, two = [], []
    for turn in range(args.turns):
        one.append(run(hosts, 1, case, args))
        two.append(run(hosts, 2, case, args))
        print(f"{case}, turn {turn + 1}: one host {statistics.median(one[-1]['seconds']):.2f} s per step, two hosts "
              f"{statistics.median(two[-1]['seconds']):.2f} s, hidden {two[-1]['hidden']:.2f}", flush=True)  # fmt: skip
    steps = {n: [s for each in runs for s in each["seconds"]] for n, runs in ((1, one), (2, two))}
    alone, together = statistics.median(steps[1]), statistics.median(steps[2])
    ring = ring_allreduce(Cluster(2, 1, INSIDE_A_NODE["memory"], network("1gbit")), one[0]["nbytes"]).total
    row = {
        "case": case,
        "nbytes": one[0]["nbytes"],
        "one_host_seconds": alone,
        "two_hosts_seconds": together,
        "speed_up": 2 * alone / together,
        "efficiency": alone / together,
        "hidden": [each["hidden"] for each in two],
        "allreduce_seconds_by_the_ring_formula": ring,
        "steps": steps,
    }
    print(f"{case}: {alone:.2f} s alone, {together:.2f} s on two hosts: speed-up {row['speed_up']:.2f}, efficiency "
          f"{row['efficiency']:.1%}; the formula's allreduce takes {ring:.2f} s", flush=True)  # fmt: skip
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sroie", help="folder of SROIE: img, box and train.txt")
    parser.add_argument("--cases", default="sroie,resnet50")
    parser.add_argument("--steps", type=int, default=8, help="measured steps per turn")
    parser.add_argument("--turns", type=int, default=3, help="of one host, two hosts")
    parser.add_argument("--out", help="JSON file")
    parser.add_argument("--train", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.train:
        return train(args.train, args.sroie, args.steps)
    from side_by_side import write_results
    from two_hosts import two_hosts

    with tempfile.TemporaryDirectory() as folder, two_hosts(folder, "1gbit") as hosts:
        rows = [measure(hosts, case, args) for case in args.cases.split(",")]
    if args.out:
        load = f"load average at the end {os.getloadavg()[0]:.1f}"
        write_results(args.out, title="two hosts with 1 Gbit/s", rows=rows, versions={}, notes=load)


if __name__ == "__main__":
    main()
