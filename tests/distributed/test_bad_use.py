"""Bad use ends in one clear error, and never in a process that waits forever."""

import subprocess
import sys

import pytest
from on_ranks import run_ranks

BEGIN = "import numpy as np\nfrom cvzoo.distributed import create_communicator\ncomm = create_communicator()\n"


def program(tmp_path, text):
    path = tmp_path / "program.py"
    path.write_text(BEGIN + text)
    return path


@pytest.mark.parametrize("n", [2, 3])
def test_a_rank_that_raises_ends_those_that_wait_for_it(tmp_path, n):
    text = "if comm.rank == 1:\n    raise ValueError('no such image')\ncomm.allreduce(np.ones(3))\n"
    done = run_ranks(n, program(tmp_path, text))
    assert done.returncode > 0
    assert "ValueError: no such image" in done.stdout
    assert f"rank 1 of {n} aborts: uncaught ValueError: no such image" in done.stdout
    assert "killed after" not in done.stdout


def test_a_rank_that_exits_with_a_status_ends_those_that_wait_for_it(tmp_path):
    text = "if comm.rank == 1:\n    raise SystemExit(3)\ncomm.allreduce(np.ones(3))\n"
    done = run_ranks(2, "-m", "mpi4py", program(tmp_path, text))
    assert done.returncode > 0
    assert "killed after" not in done.stdout


def test_a_missing_mpi4py_is_an_error_with_the_pip_command(tmp_path):
    hidden = "import sys\nsys.modules['mpi4py'] = None\n"
    text = hidden + BEGIN.replace("create_communicator()", "create_communicator('mpi')")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode
    assert 'pip install "cvzoo[mpi]"' in done.stderr


def test_one_process_imports_no_mpi():
    text = "import sys\nfrom cvzoo.distributed import create_communicator\ncreate_communicator()\n"
    subprocess.run([sys.executable, "-c", text + "assert 'mpi4py' not in sys.modules"], check=True)
