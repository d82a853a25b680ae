"""Jobs on the machines of a Ray cluster, whose nodes are processes of this machine."""

import json
import pathlib

import pytest
from ray_nodes import ray_nodes

from cvzoo.distributed.launching.leftovers import remove_shared_memory, shared_memory

PROGRAM = str(pathlib.Path(__file__).with_name("rank_program.py"))
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster():
    """A cluster of two nodes with two CPU cores each."""
    with ray_nodes() as nodes:
        nodes.start(gpus=2)
        nodes.second = nodes.start(gpus=2)
        yield nodes


@pytest.fixture
def launched(cluster, tmp_path):
    """Runs a mode of the program on both nodes; at the end nothing of it is left."""
    before = shared_memory()

    def launch(mode, *words, per_node=1, options=()):
        size = ("--nodes", "1:2", "--per-node", per_node, "--logs", tmp_path / "logs")
        job = cluster.launch(*size, *options, PROGRAM, mode, *words)
        job.status = job.ended()
        job.attempts = json.loads((tmp_path / "logs" / "report.json").read_text())
        return job

    yield launch
    assert not processes_of(PROGRAM)
    assert not remove_shared_memory(before)  # those that no process uses


def processes_of(program):
    """The ids of processes of ranks, whose command has the word."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        found += [path.parent.name] * (program.encode() in words and b"launch" not in words)
    return found


def test_ranks_run_on_all_machines_with_logs_in_one_place(launched, tmp_path):
    done = launched("done", "one", "--two=3", per_node=2)
    assert (done.status, done.attempts[0]["n_rank"]) == (0, 4)
    for rank in range(4):
        log = (tmp_path / "logs" / "attempt-0" / f"rank-{rank}.log").read_text()
        assert sorted(log.splitlines()) == ["an aside", f"rank {rank} of 4 one --two=3"]


def test_an_exception_of_one_rank_ends_all_and_is_not_restarted(launched):
    done = launched("raised", options=("--restarts", "3"))
    assert (done.status, len(done.attempts)) == (1, 1)
    assert done.attempts[0]["reason"] == "rank 1 ended with exit status 1: ValueError: boom"


def test_a_killed_rank_is_named_and_the_job_restarted(launched):
    done = launched("killed", options=("--restarts", "1"))
    assert (done.status, len(done.attempts)) == (0, 2)
    assert done.attempts[0]["reason"] == "rank 1 was killed by SIGKILL"
    assert "    the last words" in done.said


def test_a_deadlock_ends_with_the_stacks_of_all_ranks(launched):
    done = launched("deadlock", options=("--patience", "3"))
    assert done.status == 124
    assert "no rank has shown a sign of life for 3 s" in done.attempts[0]["reason"]
    assert "in waits_for_rank_0" in done.said
    assert "in deadlock" in done.said


def test_a_stopped_rank_is_named(launched):
    done = launched("stopped", options=("--patience", "2"))
    assert done.status == 124
    assert done.attempts[0]["reason"] == "the job hangs: rank 1 has been stopped (SIGSTOP) for 2 s"


def test_after_exhausted_memory_fewer_ranks_are_started_on_each_machine(launched):
    done = launched("out_of_memory", per_node=2, options=("--restarts", "1"))
    assert [each["n_rank"] for each in done.attempts] == [4, 2]
    assert done.status == 0


def test_too_few_machines_are_said_and_waited_for(launched):
    done = launched("done", per_node=3, options=("--patience", "0.5"))
    assert done.status == 69
    assert "1 with 3 CPU cores each are needed, and there are" in done.attempts[0]["reason"]
    assert "waiting for machines" in done.said


def test_the_clusters_token_is_not_for_programs(launched, tmp_path):
    launched("names_of_ray")
    assert (tmp_path / "logs" / "attempt-0" / "rank-0.log").read_text() == "[]\n"


def test_a_gpu_is_reserved_for_each_rank(launched, tmp_path):
    launched("gpus", per_node=2)
    for rank in range(4):
        assert (tmp_path / "logs" / "attempt-0" / f"rank-{rank}.log").read_text() == "0,1\n"


def test_a_lost_machine_is_left_out_and_used_again_when_it_is_back(cluster, tmp_path):
    wanted = tmp_path / "it is back"
    job = cluster.launch(
        *("--nodes", "1:2", "--per-node", 1, "--restarts", 2, "--node-timeout", 10, "--logs", tmp_path / "logs"),
        *(PROGRAM, "machines_come_and_go", wanted),
    )
    job.wait_for("attempt 0: 1 batches of rank 0")
    cluster.kill(cluster.second)
    job.wait_for("attempt 1: 2 batches of rank 0")  # the same global batch on one rank
    cluster.second = cluster.start(gpus=2)
    wanted.touch()
    assert job.ended() == 0, job.said
    attempts = json.loads((tmp_path / "logs" / "report.json").read_text())
    assert [(each["n_rank"], each["status"]) for each in attempts] == [(2, 69), (1, 137), (2, 0)]
    assert " is lost: " in attempts[0]["reason"]
    assert "attempt 2: 1 batches of rank 0" in job.said
    assert not processes_of(PROGRAM)


def test_ranks_end_with_a_launcher_that_is_killed(cluster):
    job = cluster.launch("--nodes", 2, PROGRAM, "waits_aside")
    job.wait_for("rank 0 waits")
    job.process.kill()
    job.ended()
    while processes_of(PROGRAM):  # a test that never ends has failed
        pass


def test_a_cluster_without_tokens_is_refused(tmp_path):
    with ray_nodes() as nodes:
        nodes.environment["RAY_AUTH_MODE"] = "disabled"
        nodes.start()
        nodes.environment["RAY_AUTH_MODE"] = "token"
        job = nodes.launch("--nodes", 1, PROGRAM, "done")
        assert job.ended() == 2, job.said
        assert "this Ray cluster accepts programs of all callers, without a token" in job.said
