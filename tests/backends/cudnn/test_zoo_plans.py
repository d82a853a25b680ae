"""Every convolution of the zoo has a plan for an H100, says the real library; nothing is executed.

The list is what benchmarks/gpu/zoo_convolutions.py wrote down; benchmarks/gpu/cudnn_plans.py plans all of it.
"""

import json
import pathlib

import ml_dtypes
import numpy as np
import pytest

from cvzoo.backends.cudnn.arrangement import Shapes
from cvzoo.backends.cudnn.graph import forward_graph, input_grad_graph, weight_grad_graph
from cvzoo.backends.cudnn.planner import Rules, candidates
from cvzoo.backends.numpy.windows import out_size
from cvzoo.links.model.families import zoo_members

ZOO = pathlib.Path(__file__).parents[3] / "benchmarks" / "gpu" / "zoo_convolutions.json"
EVERY = 61  # so many'th convolution is looked at here
MODES = {
    "float32": (np.dtype(np.float32), Rules(strict=True, workspace_limit=1 << 30)),
    "tf32": (np.dtype(np.float32), Rules(strict=False)),
    "mixed_bf16": (np.dtype(ml_dtypes.bfloat16), Rules()),
    "mixed_fp16": (np.dtype(np.float16), Rules()),
}


@pytest.fixture(scope="module")
def zoo():
    return json.loads(ZOO.read_text())


def test_the_list_is_of_every_member(zoo):
    assert {member.name for member in zoo_members()} == set(zoo["members"]), "run benchmarks/gpu/zoo_convolutions.py"


@pytest.mark.parametrize("mode", MODES)
def test_convolutions_of_the_zoo_have_plans(real_h100, zoo, mode):
    dtype, rules = MODES[mode]
    rows = [dict(zip(zoo["columns"], row)) for row in zoo["rows"]]
    rows = [row for row in rows if row["kind"] == "forward" and (row["groups"] == 1 or row["w"][1] > 1)]
    assert len(rows) > 2000
    for row in rows[::EVERY]:
        o, _, *ksize = row["w"]
        geometry = [tuple(row[key]) for key in ("stride", "pad", "dilate")]
        out = out_size(row["size"], ksize, *geometry)
        shapes = Shapes(tuple(row["x"]), o, out, tuple(ksize), dtype, *geometry, row["groups"], strict=rules.strict)
        dims = (shapes.x, shapes.w, shapes.y, shapes.window, shapes.dtype)
        for graph in (
            forward_graph(*dims, add=False, bias=False, relu=False),
            forward_graph(*dims, add=True, bias=True, relu=True),
            input_grad_graph(*dims, add=True),
            weight_grad_graph(*dims),
        ):
            reasons = []
            assert next(candidates(graph, rules, real_h100, reasons=reasons), None) is not None, (row, reasons)
