"""`cvzoo rerun`: repeat a training and compare what comes out."""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Repeat the training of a run's folder in another folder, and say what differs."
    parser.epilog = "exit status: 0 the same to the bit; 1 something differs; 2 it cannot be repeated or failed"
    parser.add_argument("folder", metavar="FOLDER", help="of a finished run")
    parser.add_argument("--out", metavar="DIR", help="the new folder (default: FOLDER-again)")
