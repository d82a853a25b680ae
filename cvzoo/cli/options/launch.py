"""`cvzoo launch`: run a script or a verb on several processes, watch them, and restart them."""

import argparse

from cvzoo.cli.option_values import node_range, not_negative, positive, rank_range


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Runs a script, or a verb of cvzoo, as several ranks of MPI, on this machine or on those of a Ray cluster; if "
        "one dies, hangs or runs out of memory, or a machine is lost, ends all, says why with the last lines of each, "
        "and restarts them. Leaves no process and no shared memory behind."
    )
    parser.usage = (
        "cvzoo launch -n N [options] SCRIPT.py ... | cvzoo launch -n N [options] -- VERB ... | "
        "cvzoo launch --engine ray --nodes LEAST:MOST [--per-node N] [options] -- VERB ..."
    )
    parser.epilog = (
        "exit status: 0 all ranks are done; else that of the rank that failed, 128 + signal number for one that was "
        "killed; 124 for a job that hung; 69 if a machine was lost, or there are too few; 130 after Ctrl-C"
    )
    parser.add_argument(
        "-n",
        dest="ranks",
        type=rank_range,
        metavar="N|LEAST:N",
        help="number of ranks; 2:4 begins with 4, and restarts with one less after memory was exhausted, down to 2; "
        "train divides the same batch among fewer ranks",
    )
    parser.add_argument(
        "--engine",
        choices=("local", "ray"),
        default="local",
        help="mpiexec on this machine (local), or on machines of the Ray cluster of RAY_ADDRESS or of this machine "
        '(ray, by pip install "cvzoo[cluster]")',
    )
    parser.add_argument(
        "--nodes",
        type=node_range,
        metavar="N|LEAST:MOST",
        help="with --engine ray: number of machines; 1:4 begins with up to 4, and restarts with as many as are left",
    )
    parser.add_argument(
        "--per-node",
        type=positive,
        metavar="N",
        help="with --engine ray: ranks on each machine, one less after memory was exhausted (1)",
    )
    parser.add_argument(
        "--node-timeout",
        type=float,
        metavar="S",
        help="with --engine ray: seconds without an answer after which a machine is lost (30)",
    )
    parser.add_argument(
        "--restarts", type=not_negative, default=0, metavar="N", help="attempts after the first, not after errors (0)"
    )
    parser.add_argument(
        "--restart-with",
        metavar="WORDS",
        help="arguments that are appended in a restart, as --restart-with=--resume (train: --resume; others: none)",
    )
    parser.add_argument(
        "--logs",
        metavar="DIR",
        help="folder for a log file per rank and report.json (default: temporary, kept if the job fails)",
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=1800.0,
        metavar="S",
        help="seconds after which a job hangs whose ranks print nothing and do not advance; 0: forever (1800)",
    )
    parser.add_argument(
        "--grace",
        type=float,
        default=60.0,
        metavar="S",
        help="seconds in which ranks may save and end after Ctrl-C or SIGTERM, before they are killed (60)",
    )
    parser.add_argument(
        "--timeline",
        metavar="FILE.json",
        help="write when each rank computes, sends gradients and waits for them, for chrome://tracing or Perfetto, and "
        "print which fraction of the communication was hidden",
    )
    parser.add_argument(
        "program", nargs=argparse.REMAINDER, metavar="PROGRAM", help="a script or a verb, with its arguments"
    )
