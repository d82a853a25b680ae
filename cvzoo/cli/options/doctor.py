"""`cvzoo doctor`: show which backends, libraries and devices this installation uses, and why."""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Shows backends, libraries and devices with versions, the reason of each fallback, and tests a convolution."
    )
    parser.epilog = "exit status: 0 works; 1 does not, and the last line says why"
    parser.add_argument(
        "--json", nargs="?", const="-", metavar="FILE", help="write it as JSON; without FILE to standard output alone"
    )
    parser.add_argument(
        "--mpi", action="store_true", help="also start two processes of MPI, test an allreduce, and measure their link"
    )
