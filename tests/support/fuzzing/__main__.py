"""`scripts/fuzz`: looks for small files and odd arrays that break something."""

import argparse
import pathlib
import sys

from fuzzing import watch
from fuzzing.targets import TARGETS

FOUND, INTERRUPTED = 1, 130


def main() -> int:
    """0 if nothing was found, 1 if something was."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__, allow_abbrev=False)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="names that --list shows; 'all' for each in turn")
    parser.add_argument("--list", action="store_true", help="show the targets")
    parser.add_argument("--minutes", type=float, default=1.0, help="for all targets together (1)")
    parser.add_argument("--cases", type=int, default=sys.maxsize, help="at most so many of each target")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same cases (0)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("fuzz-findings"), help="folder for findings")
    parser.add_argument("--replay", nargs="+", metavar="FILE", help="findings, or files of tests/corpus, once more")
    args = parser.parse_args()
    names = {target.name: target for target in TARGETS}
    if args.list:
        print("\n".join(names))
        return 0
    try:
        if args.replay:
            return _replay(args.replay)
        unknown = [name for name in args.targets if name not in names and name != "all"]
        if unknown or not args.targets:
            parser.error(f"no such target: {', '.join(unknown)}" if unknown else "which target? --list shows them")
        chosen = TARGETS if "all" in args.targets else [names[name] for name in args.targets]
        findings = watch.fuzz(chosen, seed=args.seed, seconds=60 * args.minutes, most=args.cases, out=args.out)
    except KeyboardInterrupt:
        print("\ninterrupted; findings so far are kept", file=sys.stderr)
        return INTERRUPTED
    return FOUND if findings else 0


def _replay(paths: list[str]) -> int:
    findings = watch.replay("replay", *paths)
    for each in findings:
        print(f"{each.file}: {each.kind} at {each.where or '?'}: {each.what}")
    print(f"{len(findings)} findings in {len(paths)} files")
    return FOUND if findings else 0


if __name__ == "__main__":
    sys.exit(main())
