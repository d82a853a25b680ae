"""Common command-line arguments of training scripts."""

import argparse


def script_parser(description: str | None, *, data: str | None = None) -> argparse.ArgumentParser:
    """A parser of --data, --out, --resume and --smoke, for a script's `main(data, out, resume, smoke)`.

    description: of the script, its `__doc__`, shown verbatim
    data: the help of --data; None: the script has no such option
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    if data is not None:
        parser.add_argument("--data", required=True, help=data)
    parser.add_argument("--out", required=True, help="the run's folder")
    parser.add_argument("--resume", action="store_true", help="resume the run in the folder")
    parser.add_argument(
        "--smoke", action="store_true", help="a test of about a minute with a small network and few images"
    )
    return parser
