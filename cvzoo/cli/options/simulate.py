"""`cvzoo simulate`: predict the speed-up of training on many GPUs and machines, and what limits it."""

import argparse

from cvzoo.cli.option_values import measured_speedups, positive, positive_float, share
from cvzoo.distributed.bucket_size import BUCKET_MB

WIRE_DTYPES = {"float32": 4, "float16": 2, "bfloat16": 2}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Predicts data-parallel training of a model on a cluster: speed-up, efficiency, and what they are lost to, "
        "computation, waiting for the slowest rank, and communication that is not hidden behind the backward pass. A "
        "model of latencies and bandwidths: nothing is downloaded, and no cluster is needed."
    )
    group = parser.add_argument_group("the model")
    group.add_argument(
        "--model",
        metavar="NAME|FILE",
        help="a model of `cvzoo models` (resnet50 is short for resnet50_imagenet), a recipe of `cvzoo train --list`, "
        "or a file of a trained model; its parameters are counted",
    )
    group.add_argument("--parameters", type=positive, metavar="N", help="number of parameters, in place of a model")
    group.add_argument("--batch-size", type=positive, default=32, metavar="N", help="images of a rank's batch (32)")
    group.add_argument(
        "--step-seconds",
        type=positive_float,
        metavar="S",
        help="measured time of a step on one GPU, without communication",
    )
    group.add_argument(
        "--flops",
        type=positive_float,
        metavar="RATE",
        help="operations per second that a GPU reaches in training, such as 100e12; the step's time is estimated from "
        "the model's operations (default, without --step-seconds: 50e12)",
    )
    group.add_argument(
        "--size", type=positive, nargs=2, default=(480, 640), metavar=("H", "W"), help="size of an image (480 640)"
    )
    group = parser.add_argument_group("the cluster")
    group.add_argument("--nodes", type=positive, default=1, metavar="N", help="machines (1)")
    group.add_argument("--gpus", type=positive, default=8, metavar="N", help="GPUs of a machine, one rank each (8)")
    group.add_argument(
        "--link",
        default="400gbit",
        metavar="RATE",
        help="network of a machine: 25gbit, or 8x400gbit for 8 cards (400gbit)",
    )
    group.add_argument(
        "--inside",
        choices=("nvlink4", "nvlink3", "pcie4", "pcie3", "memory"),
        default="nvlink4",
        help="what connects the GPUs of a machine; memory: MPI's ranks on CPUs (nvlink4)",
    )
    group.add_argument(
        "--link-efficiency", type=share, metavar="F", help="fraction of --link that an allreduce reaches, 0 to 1"
    )
    group.add_argument(
        "--latency", type=positive_float, metavar="US", help="microseconds of a ring's step between machines (9.6)"
    )
    group = parser.add_argument_group("the training")
    group.add_argument(
        "--algorithm",
        choices=("ring", "tree", "hierarchical"),
        help="of the allreduce (default: the faster of ring, tree)",
    )
    group.add_argument("--wire-dtype", choices=tuple(WIRE_DTYPES), default="float32", help="of gradients that are sent")
    group.add_argument(
        "--overlap",
        type=share,
        default=0.6,
        metavar="F",
        help="fraction of the step in which gradients are sent while others are computed; 0: after backward (0.6)",
    )
    text = f"size of a bucket in MiB ({BUCKET_MB:g}, that of the multi-node optimizer)"
    group.add_argument("--bucket-mb", type=positive_float, default=BUCKET_MB, metavar="MB", help=text)
    group.add_argument(
        "--jitter",
        type=share,
        default=0.01,
        metavar="F",
        help="standard deviation of a rank's step time, relative (0.01)",
    )
    group.add_argument(
        "--measured",
        type=measured_speedups,
        metavar="N:SPEEDUP,...",
        help="speed-ups that were measured on smaller clusters of the same kind, such as 2:1.9,8:7.2: jitter and fixed "
        "costs are fitted to them",
    )
    parser.add_argument("--json", metavar="FILE", help="write it as JSON; - for standard output only")
