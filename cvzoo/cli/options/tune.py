"""`cvzoo tune`: search for the best settings of a training."""

import argparse

from cvzoo.backends.threads import thread_count
from cvzoo.cli.model_options import add_device_argument
from cvzoo.cli.option_values import positive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Hyperparameter search over a recipe's settings by random search or asynchronous successive halving. Each "
        "trial is a run of `cvzoo train`; a search that was stopped or killed is resumed without losing one."
    )
    parser.epilog = (
        "search spaces: lr=log:1e-4..1e-1 (logarithmic range), momentum=0.8..0.99 (range), model.head_depth=2,3,4 "
        "(choices), 'scales=0.8,1|1' (choices of lists); KEY=VALUE is a fixed setting. In a file of --config they are "
        "in [tune]."
    )
    parser.add_argument("--recipe", metavar="NAME", help="a recipe of `cvzoo train --list`; needed for a new search")
    parser.add_argument("--config", metavar="FILE.toml|yaml", help="settings of the recipe; search spaces in [tune]")
    parser.add_argument("--data", metavar="SPEC", help="the data, as of `cvzoo train`")
    parser.add_argument("--out", metavar="DIR", help="the search's folder; needed for a new search")
    parser.add_argument("--resume", metavar="DIR", help="resume the search in DIR")
    parser.add_argument("--no-check", action="store_true", help="do not check the data for faults first")
    group = parser.add_argument_group("the budget", "one of them, or both; with --resume the new total")
    group.add_argument("--trials", type=positive, metavar="N", help="maximum number of trials")
    group.add_argument("--hours", type=float, metavar="H", help="maximum time")
    group = parser.add_argument_group("the search")
    group.add_argument(
        "--engine",
        choices=("processes", "ray"),
        help="what starts trials: processes of this machine, or tasks of Ray, here or on the cluster of RAY_ADDRESS "
        "(default: processes)",
    )
    group.add_argument(
        "--processes",
        type=processes,
        metavar="P",
        help="trials that are trained at the same time, threads divided among them; auto: one per core (default: 1)",
    )
    group.add_argument(
        "--method",
        choices=("halving", "random"),
        help="halving: trials are compared after few epochs, and the best third continues; random: all epochs for each "
        "(default: halving)",
    )
    group.add_argument(
        "--first", type=positive, metavar="EPOCHS", help="epochs of the first rung (default: a ninth of all)"
    )
    group.add_argument(
        "--factor", type=positive, metavar="N", help="the best 1/N of a rung's trials continue (default: 3)"
    )
    group.add_argument("--search-seed", type=int, metavar="N", help="seed of the trials' settings (default: 0)")
    parser.add_argument("--compile", action="store_true", default=None, help="compile the network to a graph")
    add_device_argument(parser)
    parser.add_argument(
        "settings", nargs="*", metavar="KEY=SPACE", help="search spaces, and fixed settings of the recipe"
    )


def processes(text: str) -> int:
    """A number of processes; "auto": one per core."""
    if text == "auto":
        return thread_count()[0]
    return positive(text)
