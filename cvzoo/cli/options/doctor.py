"""`cvzoo doctor`: show what this installation computes with, and why."""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "What was found, its versions, why anything fell back, and one computation as proof."
    parser.epilog = "exit status: 0 all is well; 1 something is wrong, and the last line says what"
    parser.add_argument(
        "--json", nargs="?", const="-", metavar="FILE", help="write it as JSON; without FILE to standard output alone"
    )
