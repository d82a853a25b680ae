"""`@on_ranks(2, 3)`: a test that runs on several MPI processes, as `def test_...(comm)`.

All such tests of a file are run by one start of `mpiexec` for each number of ranks; a failure on one rank ends them.
"""

import functools
import importlib.util
import inspect
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback

import pytest

from cvzoo.distributed.launching.leftovers import remove_shared_memory, shared_memory

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 150  # seconds of one start
_registered = {}  # (file, function's name) -> function, in a rank


def mpiexec():
    """The launcher beside this interpreter, or on the path; skips without it or mpi4py."""
    found = shutil.which("mpiexec", path=str(pathlib.Path(sys.executable).parent)) or shutil.which("mpiexec")
    if importlib.util.find_spec("mpi4py") is None or found is None:
        pytest.skip('needs mpi4py and MPI: pip install "cvzoo[mpi]"')
    return found


def on_ranks(*sizes):
    """Decorator: the test runs on each of these numbers of ranks, with the communicator as its argument.

    Four and more, which are more than CI has cores, are marked as slow.
    """

    def decorate(function):
        file = inspect.getsourcefile(function)
        _registered[str(pathlib.Path(file).resolve()), function.__name__] = sizes, function

        @pytest.mark.parametrize("n", [pytest.param(n, marks=pytest.mark.slow) if n > 3 else n for n in sizes])
        def test(n):
            told = _results(str(pathlib.Path(file).resolve()), n)
            text = told.get(function.__name__, "was not run, since another test ended all ranks")
            if text != "passed":
                pytest.fail(text + told.get("output", ""), pytrace=False)

        test.__name__, test.__doc__, test.__module__ = function.__name__, function.__doc__, function.__module__
        return test

    return decorate


def run_ranks(n, *arguments, folder=None, limit=LIMIT, environment=None):
    """The completed `mpiexec -n N python ARGUMENTS`, with its output; killed with all its processes after the limit."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CVZOO_NUM_THREADS": "1", **(environment or {})}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "support")])
    command = [mpiexec(), "-n", str(n), sys.executable, *map(str, arguments)]
    before = shared_memory()
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        output += f"\nkilled after {limit} seconds"
    if process.returncode:
        remove_shared_memory(before)  # MPICH leaves that of aborted jobs
    return subprocess.CompletedProcess(command, process.returncode, output)


@functools.cache
def _results(file, n):
    """What became of each test of the file on n ranks, by its name."""
    with tempfile.TemporaryDirectory() as folder:
        done = run_ranks(n, __file__, file, str(n), folder=folder)
        told = {}
        for path in sorted(pathlib.Path(folder).glob("rank-*.json")):
            for line in path.read_text().splitlines():
                name, text = json.loads(line)
                told[name] = text if told.get(name, "passed") == "passed" else told[name] + text
        told["output"] = f"\n{n} ranks, status {done.returncode}:\n{done.stdout[-3000:]}"
        return told


def _run(file, n):
    """In a rank: runs the file's tests, and writes what became of them."""
    import on_ranks as self

    from cvzoo.distributed import create_communicator

    sys.path.insert(0, str(pathlib.Path(file).parent))
    spec = importlib.util.spec_from_file_location(pathlib.Path(file).stem, file)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    comm = create_communicator("mpi")
    with open(f"rank-{comm.rank}.json", "w") as told:
        for (home, name), (sizes, function) in self._registered.items():
            if home != file or n not in sizes:
                continue
            try:
                function(comm)
                text = "passed"
            except BaseException:
                text = f"rank {comm.rank} of {n}:\n{traceback.format_exc()}"
            print(json.dumps([name, text]), file=told, flush=True)
            if text != "passed":
                comm.abort(text)
            comm.barrier()


if __name__ == "__main__":
    _run(sys.argv[1], int(sys.argv[2]))
