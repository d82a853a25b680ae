"""`cvzoo data split`: splits a data set into a training set and evaluation sets."""

import argparse
import sys

from cvzoo.cli.data_spec_argument import spec_of
from cvzoo.cli.progress import Progress
from cvzoo.cli.result_table import printable
from cvzoo.datasets.split.write_split import Split, write_split
from cvzoo.errors.exceptions import ConfigError
from cvzoo.reporting.counted import counted


def run(args: argparse.Namespace) -> int:
    """Returns 0. Raises CvzooError or OSError if there is nothing to split, or the files cannot be written."""
    shares = {"train": 1 - args.val - args.test, "val": args.val, "test": args.test}
    if shares["train"] < 1e-9:
        raise ConfigError("--val and --test leave nothing for train", got=f"{args.val:g} + {args.test:g}")
    progress: list[Progress] = []

    def start(total: int) -> None:
        progress.append(Progress(None if args.quiet else sys.stderr, total=total))

    try:
        done = write_split(
            spec_of(args),
            args.out,
            shares={name: share for name, share in shares.items() if share > 0},
            seed=args.seed,
            group_pattern=args.group_by,
            group_column=args.group_column,
            group_look_alikes=args.group_duplicates,
            replace=args.replace,
            start=start,
            step=lambda: progress[0].step(),
        )
    finally:
        for each in progress:
            each.clear()
    print(split_text(done, with_classes=not args.quiet))
    return 0


def split_text(done: Split, *, with_classes: bool) -> str:
    """The result as text for a terminal. with_classes: with the number of objects per class and part."""
    lines = []
    for p, (name, images) in enumerate(done.parts.items()):
        n_object = sum(counts[p] for counts in done.objects.values())
        lines.append(
            f"{printable(str(done.files[name]))}: {counted(len(images), 'image')}, {counted(n_object, 'object')}"
        )
    n = sum(map(len, done.parts.values()))
    if done.n_group < n:
        lines.append(f"{counted(n, 'image')} in {counted(done.n_group, 'group')} that are not split")
    if done.left_out:
        words = (
            f"{counted(len(done.left_out), 'image is', 'images are')} missing, outside of the data set or "
            "not annotated, thus in no part"
        )
        lines.append(f"{words}: {printable(done.left_out[0])}{' ...' if len(done.left_out) > 1 else ''}")
    if with_classes and done.objects:
        names = {name: printable(name) for name in done.objects}
        width = max(len("class"), *map(len, names.values()))
        lines += ["", f"{'class':<{width}}" + "".join(f"  {part:>8}" for part in done.parts)]
        for name, counts in done.objects.items():
            lines.append(f"{names[name]:<{width}}" + "".join(f"  {count:>8}" for count in counts))
    train = f"cvzoo train --recipe retinanet_resnet18 --data {printable(done.data)} --out FOLDER"
    return "\n".join([*lines, "", train])
