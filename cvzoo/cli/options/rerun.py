"""`cvzoo rerun`: repeat a training run and compare the results."""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Repeats the training of a run's folder in another folder, and reports differences."
    parser.epilog = "exit status: 0 identical, bit for bit; 1 results differ; 2 it cannot be repeated or failed"
    parser.add_argument("folder", metavar="FOLDER", help="the folder of a finished run")
    parser.add_argument("--out", metavar="DIR", help="the new folder (default: FOLDER-again)")
    parser.add_argument(
        "--compare", action="store_true", help="train nothing: compare with the repetition that --out has already"
    )
