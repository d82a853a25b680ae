"""Faults of a training on two hosts, network namespaces with a link of 1 Gbit/s, whose ranks are started through Ray.

Each ends or continues as docs/launch.md says; with as many ranks as before, the resumed training has the same bits.
"""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
from neighbour import module_at
from ray_nodes import ray_nodes
from two_hosts import ADDRESSES, two_hosts

HERE = pathlib.Path(__file__)
PROGRAM = str(HERE.with_name("rank_program.py"))
stand_ins = module_at(HERE.parents[2] / "docs" / "stand_ins.py")
snapshots = module_at(HERE.with_name("test_train.py"))
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    """The folder of the trainings: a disk of their own, which may become full."""
    folder = tmp_path_factory.mktemp("disk")
    # before the hosts are made, which see what is mounted then
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600m", "tmpfs", folder], check=False)
    if done.returncode:
        pytest.skip("a file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture(scope="module")
def hosts(disk, tmp_path_factory):
    """Two hosts, on each of which Ray has four CPU cores."""
    with two_hosts(tmp_path_factory.mktemp("hosts"), "1gbit") as hosts, ray_nodes(ADDRESSES[0]) as hosts.ray:
        hosts.ray.start(inside=hosts.inside(0), cores=4)
        hosts.ray.start(inside=hosts.inside(1), address=ADDRESSES[1], cores=4)
        yield hosts


@pytest.fixture(scope="module")
def train(hosts, disk):
    """Starts a training of four epochs; `fault` is what happens in the third, in the first attempt."""
    stand_ins.drawn_voc(disk / "voc", "train", "val", n=8)

    def start(fault, *options, per_node=1):
        job = hosts.ray.launch(
            *("--nodes", 2, "--per-node", per_node, "--restarts", 1, "--restart-with=--resume"),
            *("--node-timeout", 10, *options, "--logs", disk / f"logs of {fault}"),
            *(PROGRAM, "cvzoo_train", fault, os.getpid(), "--model", "retinanet_resnet18_small"),
            *("--data", f"voc:{disk / 'voc'}", "--out", disk / fault, "--epochs", 4, "--size", 96),
            *("--batch-size", 4, "--processes", 0, "--no-check"),
            inside=hosts.inside(0),
        )
        job.out, job.report = disk / fault, disk / f"logs of {fault}" / "report.json"
        return job

    return start


@pytest.fixture(scope="module")
def whole(train):
    """The name and the weights of the last snapshot of a training without faults."""
    job = train("none")
    assert job.ended() == 0, job.said
    return snapshots.weights_in(job.out)


def attempts_of(job):
    """(number of ranks, exit status) of all attempts; none took long."""
    attempts = json.loads(job.report.read_text())
    assert attempts[0]["seconds"] < 200
    return [(each["n_rank"], each["status"]) for each in attempts]


def assert_same_bits(job, whole):
    name, weights = snapshots.weights_in(job.out)
    assert name == whole[0] == "snapshot_iter_8.npz"
    assert weights.keys() == whole[1].keys()
    for path, array in whole[1].items():
        np.testing.assert_array_equal(weights[path], array, err_msg=path)


@pytest.mark.parametrize(("fault", "status"), [("kill", 137), ("stop", 124)])
def test_a_training_whose_rank_is_killed_or_stopped_has_the_same_bits(train, whole, fault, status):
    job = train(fault, "--patience", 25)
    assert job.ended() == 0, job.said
    assert attempts_of(job) == [(2, status), (2, 0)]
    assert_same_bits(job, whole)


def test_a_full_disk_costs_a_snapshot_and_a_restart_resumes_from_the_one_before(train, whole):
    job = train("disk")
    assert job.ended() == 0, job.said
    assert "snapshot_iter_4.npz could not be written: No space left on device; training continues" in job.said
    assert "resumes from" in job.said
    assert "after iteration 2" in job.said
    assert attempts_of(job) == [(2, 137), (2, 0)]
    assert_same_bits(job, whole)


def test_a_rank_without_memory_leaves_the_training_to_fewer(train):
    job = train("memory", per_node=2)
    assert job.ended() == 0, job.said
    assert attempts_of(job) == [(4, 2), (2, 0)]
    assert "rank 1 ran out of memory" in job.said
    assert snapshots.weights_in(job.out)[0] == "snapshot_iter_8.npz"


def test_after_a_cut_cable_the_job_waits_for_the_least_number_of_machines(hosts, train, whole):
    job = train("cut")
    job.wait_for("pull the cable")
    hosts.cut()
    job.wait_for(f"machine {ADDRESSES[1]} with ranks")
    assert " is lost: it has not answered for 10 s" in job.said
    job.wait_for("waiting for machines")
    hosts.plug_in()
    hosts.ray.start(inside=hosts.inside(1), address=ADDRESSES[1], cores=4)  # as a machine that was started anew
    assert job.ended() == 0, job.said
    assert attempts_of(job) == [(2, 69), (2, 0)]
    assert_same_bits(job, whole)
