"""Measure what a fresh process costs: each verb's help, first names of the package, first predictions of models.

    python benchmarks/startup.py [--repeat 5] [--out benchmarks/results]

Each row is a process of its own, started `--repeat` times, the rows taking turns: median CPU seconds (of all its
threads, user and system), the median of the same seconds of an empty `python -c pass` beside it, and how many files of
cvzoo it imported. The models have random weights, so that nothing is fetched.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys

from cvzoo.cli.verbs import summaries

HELP = "import contextlib, os\nfrom cvzoo.cli.main import main\nwith open(os.devnull, 'w') as nowhere:\n"
HELP += " with contextlib.redirect_stdout(nowhere), contextlib.suppress(SystemExit):\n  main({})\n"
IMAGE = "import numpy as np\nimg = np.full((3, 240, 320), 128, np.uint8)\n"
ROWS = {
    "python -c pass": "pass",
    "cvzoo --help": HELP.format(["--help"]),
    **{f"cvzoo {verb} --help": HELP.format([verb, "--help"]) for verb in summaries()},
    "import cvzoo": "import cvzoo",
    "from cvzoo.geometry import nms": "from cvzoo.geometry import nms",
    "from cvzoo import Link": "from cvzoo import Link",
    "from cvzoo.links import ResNet50": "from cvzoo.links import ResNet50",
    "from cvzoo.links import SSD300": "from cvzoo.links import SSD300",
    "from cvzoo.links import FasterRCNNFPN": "from cvzoo.links import FasterRCNNFPN",
    "SqueezeNet1_1(): made, first predict": IMAGE
    + "from cvzoo.links import SqueezeNet1_1\nSqueezeNet1_1(n_class=10).predict([img])",
    "retinanet_text: loaded, first predict": IMAGE
    + "from cvzoo.links import retinanet_text\nretinanet_text().predict([img])",
}
COUNT = "\nimport sys\nprint(sum(name.split('.')[0] == 'cvzoo' for name in sys.modules))"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    seconds, files = {name: [] for name in ROWS}, {}
    for _ in range(args.repeat):
        for name, program in ROWS.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run([sys.executable, "-c", program + COUNT], capture_output=True, text=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if done.returncode:
                sys.exit(f"{name}: {done.stderr}")
            seconds[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            files[name] = int(done.stdout.split()[-1])
    rows = {
        name: {
            "seconds": round(statistics.median(each), 3),
            "least": min(each),
            "most": max(each),
            "files": files[name],
        }
        for name, each in seconds.items()
    }
    for name, row in rows.items():
        print(f"{name:<42} {row['seconds']:6.2f} s  ({row['least']:.2f} to {row['most']:.2f})  {row['files']:4d} files")
    if args.out is not None:
        machine = {"python": platform.python_version(), "machine": platform.processor(), "cores": os.cpu_count()}
        today = datetime.date.today().isoformat()
        path = args.out / f"startup-{today}.json"
        path.write_text(json.dumps({"date": today, "machine": machine, "repeat": args.repeat, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
