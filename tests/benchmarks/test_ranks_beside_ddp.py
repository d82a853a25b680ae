"""Our half of the benchmark of several ranks runs."""

import json
import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "benchmarks/distributed/beside_ddp.py"


@pytest.mark.slow
def test_sums_and_steps_of_two_ranks_are_measured(tmp_path):
    pytest.importorskip("mpi4py")
    out = tmp_path / "out.json"
    words = [sys.executable, SCRIPT, "--ranks", "1,2", "--runs", "1", "--out", out]
    subprocess.run(words, check=True, capture_output=True, timeout=300)
    rows = json.loads(out.read_text())["rows"]
    assert [(row["n_rank"], row["case"]) for row in rows] == [
        (1, "step"),
        *((2, f"allreduce {size}") for size in ("1 MB", "100 MB", "25 MB", "4 KB")),
        (2, "step"),
    ]
    assert all(row["cvzoo"]["median_ms"] > 0 for row in rows)
