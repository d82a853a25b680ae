"""`cvzoo launch`."""

import json
import sys

import pytest

from cvzoo.cli import launch
from cvzoo.distributed.launching import ray_engine
from cvzoo.distributed.launching.job import AttemptReport, Nodes
from cvzoo.distributed.launching.mpi_launcher import MPILauncher
from cvzoo.distributed.launching.outcome import Outcome


@pytest.fixture
def jobs(monkeypatch, tmp_path):
    """The jobs that would have been run; each fails with status 137."""
    found = []

    def run_job(job, say):
        found.append(job)
        say("a reason")
        return [AttemptReport(job.n, 1.5, tmp_path / "attempt-0", Outcome(137, "rank 1 was killed", True))]

    monkeypatch.setattr(launch, "run_job", run_job)
    return found


def test_a_script_is_launched_with_its_arguments(run, jobs, tmp_path):
    (tmp_path / "own.py").touch()
    status, _, errors = run("launch", "-n", "2:4", "--restarts", "3", tmp_path / "own.py", "--out", "x", "-n", "9")
    (job,) = jobs
    assert status == 137
    assert job.words == (str(tmp_path / "own.py"), "--out", "x", "-n", "9")
    assert (job.least, job.n, job.restarts, job.restart_words) == (2, 4, 3, ())
    assert "cvzoo launch: a reason" in errors
    (record,) = json.loads((tmp_path / "report.json").read_text())
    assert (record["status"], record["reason"], record["n_rank"]) == (137, "rank 1 was killed", 4)


def test_machines_of_a_cluster_are_for_as_many_ranks_as_the_most_of_them_have(run, jobs):
    run("launch", "--engine", "ray", "--nodes", "1:4", "--per-node", "8", "--node-timeout", "5", "--", "train")
    (job,) = jobs
    assert (job.nodes, job.n, job.least) == (Nodes(1, 4, 8, 5.0), 32, 8)


def test_a_number_of_machines_is_the_least_and_the_most(run, jobs):
    run("launch", "--engine", "ray", "--nodes", "3", "--", "train")
    assert jobs[0].nodes == Nodes(3, 3, 1)


@pytest.mark.parametrize(
    ("words", "restart_words"),
    [
        (("--", "train", "--out", "x"), ("--resume",)),
        (("train", "--resume", "x"), ()),
        (("--restart-with=--resume --fast 1", "--", "train", "--out", "x"), ("--resume", "--fast", "1")),
        (("--", "doctor"), ()),
    ],
)
def test_training_is_resumed_by_a_restart(run, jobs, words, restart_words):
    run("launch", "-n", "2", *words)
    assert jobs[0].restart_words == restart_words


def test_an_interrupted_training_can_be_resumed_on_as_many_ranks(run, monkeypatch, tmp_path):
    outcome = Outcome(130, "interrupted by SIGINT", is_by_user=True)
    monkeypatch.setattr(launch, "run_job", lambda job, say: [AttemptReport(2, 1.0, tmp_path / "attempt-0", outcome)])
    status, _, errors = run("launch", "-n", "2", "--", "train", "--out", "my run")
    assert status == 130
    assert "resume with: cvzoo launch -n 2 -- train --out 'my run' --resume" in errors


def test_an_interrupted_training_on_a_cluster_can_be_resumed_there(run, monkeypatch, tmp_path):
    outcome = Outcome(130, "interrupted by SIGINT", is_by_user=True)
    monkeypatch.setattr(launch, "run_job", lambda job, say: [AttemptReport(2, 1.0, tmp_path / "attempt-0", outcome)])
    _, _, errors = run("launch", "--engine", "ray", "--nodes", "1:2", "--", "train", "--out", "x")
    assert "cvzoo launch --engine ray --nodes 1:2 --per-node 1 -- train --out x --resume" in errors


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("-n", "2"), "no program was given"),
        (("-n", "2", "--"), "no program was given"),
        (("-n", "2", "none.py"), "there is no script none.py"),
        (("-n", "2", "fly"), "fly is neither a script nor a verb"),
        (("-n", "2", "--", "launch", "-n", "2", "doctor"), "cannot launch itself"),
        (("-n", "0", "doctor"), "0 is not a positive number"),
        (("-n", "4:2", "doctor"), "expected a number of ranks"),
        (("doctor",), "the number of ranks is missing"),
        (("-n", "2", "--nodes", "2", "doctor"), "--nodes is an option of --engine ray"),
        (("--engine", "ray", "-n", "2", "doctor"), "--engine ray needs --nodes, and no -n"),
        (("--engine", "ray", "--nodes", "3:2", "doctor"), "expected a number of machines"),
        (("--engine", "ray", "--nodes", "2", "--timeline", "t.json", "doctor"), "--timeline with --engine ray needs"),
        (("-n", "2", "--restarts", "-1", "doctor"), "-1 is negative"),
        (
            ("-n", "2", "--restart-with='--fast", "doctor"),
            "--restart-with cannot be split into words: No closing quotation",
        ),
        (("-n", "2", "--patience", "-1", "doctor"), "patience and grace must be at least 0"),
    ],
)
def test_bad_use_is_one_clear_error(run, words, says):
    status, _, errors = run("launch", *words)
    assert status == 2
    assert says in errors


def test_missing_ray_is_one_error_with_the_pip_command(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setattr(ray_engine, "find_mpi_launcher", lambda: MPILauncher("/bin/mpiexec", "mpich", "5.0.2"))
    status, _, errors = run("launch", "--engine", "ray", "--nodes", "1", "--", "doctor")
    assert status == 2
    assert errors.startswith("cvzoo launch: error: Ray is not installed\n")
    assert 'pip install "cvzoo[cluster]"' in errors


def test_a_verb_runs_on_each_rank(run, tmp_path):
    pytest.importorskip("mpi4py")
    status, _, _ = run("launch", "-n", "2", "--logs", tmp_path, "--", "models", "--search", "squeezenet1_1", "--json")
    assert status == 0
    for rank in (0, 1):
        text = (tmp_path / "attempt-0" / f"rank-{rank}.log").read_text()
        assert json.loads(text)[0]["name"] == "squeezenet1_1_imagenet"
