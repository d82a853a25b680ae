"""The examples whose network is divided among ranks learn what one process would."""

import importlib.util

import numpy as np
import pytest
from on_ranks import ROOT, on_ranks, run_ranks

from cvzoo.distributed import NullCommunicator

EXAMPLE = ROOT / "examples" / "mnist_on_ranks.py"


def example():
    spec = importlib.util.spec_from_file_location("mnist_on_ranks", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drawn(n=46):
    rng = np.random.default_rng(0)
    t = rng.integers(0, 10, n).astype(np.int32)
    return list(zip((rng.normal(size=(n, 784)) + t[:, None] / 5).astype(np.float32), t))


@on_ranks(1, 2, 3)
def test_layers_on_several_ranks_have_the_weights_of_one_process(comm):
    script = example()
    settings = {"n_epoch": 2, "n_units": 12, "batch_size": 10}
    alone = script.train(NullCommunicator(), drawn(), **settings)
    whole = [param.array for param in alone.params()]
    for how in ("model", "pipeline"):
        stage = script.train(comm, drawn(), how=how, **settings)
        found = [array for part in comm.allgather_obj([p.array for p in stage.params()]) for array in part]
        assert len(found) == len(whole) == 8
        for array, expected in zip(found, whole):
            np.testing.assert_allclose(array, expected, rtol=1e-4, atol=2e-6)
        scores = script.accuracy(comm, stage, drawn(), batch_size=20)
        assert scores == script.accuracy(NullCommunicator(), alone, drawn())


@pytest.mark.slow
@pytest.mark.parametrize(("how", "n"), [("model", 2), ("pipeline", 3)])
def test_digits_are_learned(shared, how, n):
    done = run_ranks(n, "-m", "mpi4py", EXAMPLE, "--how", how, "--data", shared / "data" / "mnist", "--n-train", 6000)
    assert done.returncode == 0, done.stdout
    (line,) = [line for line in done.stdout.splitlines() if line.startswith(f"{n} ranks, {how}: test accuracy ")]
    assert float(line.split()[-1]) > 0.8
