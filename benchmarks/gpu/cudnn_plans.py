"""Plans for every convolution of the zoo, for a device that need not be there: `cudnn_plans.py ZOO.json DEVICE.json`.

ZOO.json: what zoo_convolutions.py wrote down. DEVICE.json: a device as cuDNN describes it; nothing is executed.
Needs libcudnn 9 and ml_dtypes, no GPU. Kernels that cuDNN would have to compile are not counted: without a driver they
cannot be listed, and the backend does without them.
"""

import argparse
import collections
import itertools
import json
import pathlib
import time

import ml_dtypes
import numpy as np

from cvzoo.backends.cudnn.arrangement import Shapes
from cvzoo.backends.cudnn.graph import forward_graph, input_grad_graph, weight_grad_graph
from cvzoo.backends.cudnn.library import library
from cvzoo.backends.cudnn.planner import Rules, Target, candidates
from cvzoo.backends.numpy.windows import out_size

MODES = {
    "float32": (np.dtype(np.float32), Rules(strict=True, workspace_limit=1 << 30)),
    "tf32": (np.dtype(np.float32), Rules(strict=False)),
    "bfloat16": (np.dtype(ml_dtypes.bfloat16), Rules()),
    "float16": (np.dtype(np.float16), Rules()),
}
TRAINING_BATCH = 16
REGIONS = 100  # where random weights found none


def graphs(row, dtype, strict):
    """What a network does with one convolution: (batch, graph) at inference and in training."""
    b, c = row["x"][0] or REGIONS, row["x"][1]
    o, c_group, *ksize = row["w"]
    geometry = [tuple(row[key]) for key in ("stride", "pad", "dilate")]
    size = tuple(row["size"])
    if row["kind"] == "forward":
        x, out = (c, *row["x"][2:]), out_size(row["x"][2:], ksize, *geometry)
    else:  # x of the record is what the gradient comes from
        x, out, o = (c_group * row["groups"], *size), tuple(row["x"][2:]), c
    for batch in (b, TRAINING_BATCH if b == 1 else b):
        told = ((batch, *x), o, out, tuple(ksize), dtype, *geometry, row["groups"])
        shapes = Shapes(*told, strict=strict)
        plain = (shapes.x, shapes.w, shapes.y, shapes.window, shapes.dtype)
        shapes = Shapes(*told, strict=strict, may_block=True)
        dims = (shapes.x, shapes.w, shapes.y, shapes.window, shapes.dtype)
        yield forward_graph(*dims, add=False, bias=False, relu=False)
        yield input_grad_graph(*plain, add=False)
        if batch == b:
            for add, relu in itertools.product((False, True), repeat=2):
                yield forward_graph(*dims, add=add, bias=True, relu=relu)
        else:
            yield input_grad_graph(*plain, add=True)
            yield weight_grad_graph(*dims)


def main():
    """Plan all and print what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("zoo")
    parser.add_argument("device")
    parser.add_argument("--out")
    parser.add_argument("--note", default="", help="what should be known of the machine")
    parser.add_argument("--every", type=int, default=1, help="only every so many'th convolution")
    arguments = parser.parse_args()
    zoo = json.loads(pathlib.Path(arguments.zoo).read_text())
    rows = [dict(zip(zoo["columns"], row)) for row in zoo["rows"]]
    depthwise = [row for row in rows if row["groups"] > 1 and row["w"][1] == 1]
    rows = [row for row in rows if row not in depthwise][:: arguments.every]
    device = pathlib.Path(arguments.device).read_bytes()
    place = Target.described(device)
    found = {}
    for mode, (dtype, rules) in MODES.items():
        wanted = {graph: row for row in rows for graph in graphs(row, dtype, rules.strict)}
        table = found[mode] = collections.defaultdict(collections.Counter)
        engines = collections.defaultdict(collections.Counter)
        missing, largest = [], (0, "")
        start = time.perf_counter()
        for graph, row in wanted.items():
            reasons = []
            plan = next(candidates(graph, rules, place, reasons=reasons), None)
            kind = table[graph.name]
            kind["graphs"] += 1
            if plan is None:
                kind["without a plan"] += 1
                missing.append({"graph": graph.name, "row": row, "reasons": reasons[-3:]})
            else:
                kind["planned"] += 1
                engines[graph.name][plan.engine] += 1
                kind["more than 16 MB to work in"] += plan.workspace > 16 << 20
                largest = max(largest, (plan.workspace, f"{graph.name} {graph.tensors[0].dims} {row['w']}"))
        seconds = time.perf_counter() - start
        found[mode] = {
            "patterns": table,
            "cuDNN's engines": engines,
            "seconds": round(seconds, 1),
            "milliseconds a plan": round(1e3 * seconds / len(wanted), 2),
            "largest workspace in bytes": largest,
            "missing": missing,
        }
        print(f"{mode:9s} {len(wanted)} graphs, {len(missing)} without a plan, {seconds:.0f} s, workspace {largest}")
        for name, kind in table.items():
            print(f"    {name:20s} {dict(kind)}")
        for each in missing[:5]:
            print("   ", each)
    result = {
        "cudnn": library().version,
        "device": json.loads(device)["deviceName"],
        "members of the zoo": len(zoo["members"]),
        "convolutions": len(rows),
        "depthwise, which have kernels of our own": len(depthwise),
        "executed": False,
        "note": arguments.note,
        "modes": found,
    }
    if arguments.out:
        pathlib.Path(arguments.out).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
