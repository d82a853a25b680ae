"""The model of scaling against published measurements, a simulation of its events, and its own monotonicity."""

import dataclasses

import numpy as np
import pytest

from cvzoo.distributed.simulation.allreduce import ALGORITHMS, Cluster
from cvzoo.distributed.simulation.calibration import calibrate
from cvzoo.distributed.simulation.interconnect import INSIDE_A_NODE, Interconnect, network
from cvzoo.distributed.simulation.scaling import Workload, cluster_sizes, expected_maximum, predict_scaling
from cvzoo.errors.exceptions import ValueRangeError

# ChainerMN's table: ResNet-50, 4 GPUs per node (T. Akiba et al., 2017)
CHAINERMN = {2: 1.85, 4: 3.53, 8: 7.09, 16: 13.42, 32: 26.63, 64: 50.52, 128: 101.32}
PCIE = Interconnect("PCIe 3", 10e9, 10e-6, 28e-6)
FDR = Interconnect("InfiniBand FDR 4X", 5.5e9, 5e-6, 50e-6)
RESNET50 = Workload(0.40, 25_557_032 * 4, overlap=0)
ETHERNET = Interconnect("one 100 GbE card", 11e9, 9.6e-6, 50e-6)


def chainermn_cluster(n):
    return Cluster(max(1, n // 4), min(4, n), PCIE, FDR)


def fitted(points):
    return calibrate(RESNET50, points, chainermn_cluster, algorithm="hierarchical")


def speedup(n, workload):
    return predict_scaling(chainermn_cluster(n), workload, algorithm="hierarchical").speedup


def test_the_fit_reproduces_chainermns_table_within_3_5_percent():
    workload = fitted(CHAINERMN)
    errors = [abs(speedup(n, workload) / measured - 1) for n, measured in CHAINERMN.items()]
    assert max(errors) <= 0.035


def test_a_fit_to_32_gpus_predicts_64_and_128_within_5_percent():
    workload = fitted({n: measured for n, measured in CHAINERMN.items() if n <= 32})
    for n in (64, 128):
        assert speedup(n, workload) == pytest.approx(CHAINERMN[n], rel=0.05)


def test_the_fitted_jitter_predicts_mn_1_with_1024_gpus_within_80_plus_or_minus_6_percent():
    # 15 minutes for 90 epochs; float16 gradients, NCCL 2.0 had rings only; 8 GPUs and two FDR cards per node
    step = 15 * 60 * 32 * 1024 / (90 * 1_281_167)
    cluster = Cluster(128, 8, Interconnect("PCIe 3", 10e9, 5.7e-6, 28e-6), Interconnect("2 x FDR", 10e9, 9.6e-6, 50e-6))
    nbytes = RESNET50.nbytes // 2
    jitter = fitted(CHAINERMN).jitter
    alone = (step - ALGORITHMS["ring"](cluster, nbytes).total) / (1 + jitter * expected_maximum(1024))
    workload = Workload(alone, nbytes, jitter=jitter, overlap=0)
    whole = predict_scaling(cluster, workload, algorithm="ring")
    node = predict_scaling(dataclasses.replace(cluster, n_node=1), workload, algorithm="ring")
    assert whole.step == pytest.approx(step)
    assert whole.efficiency / node.efficiency == pytest.approx(0.80, abs=0.06)


def simulated_step(cluster, workload, n_sample, seed):
    """Mean step of sampled steps: every rank's time is drawn, and every bucket is sent when all ranks have it."""
    random = np.random.default_rng(seed)
    n, k = cluster.size, workload.n_bucket
    times = workload.step_seconds * (1 + workload.jitter * random.standard_normal((n_sample, n)))
    slowest = times.max(axis=1)
    bucket = min(ALGORITHMS[name](cluster, workload.nbytes / k).total for name in ("ring", "tree"))
    window = workload.overlap * workload.step_seconds
    end = np.zeros(n_sample)
    for i in range(k):
        ready = slowest - window * (k - 1 - i) / k
        end = np.maximum(ready, end) + bucket
    return end.mean() + workload.fixed_seconds


@pytest.mark.parametrize("overlap", [0, 0.6])
@pytest.mark.parametrize("n_node", [1, 16])
def test_sampled_steps_have_the_predicted_mean_within_half_a_percent(overlap, n_node):
    cluster = Cluster(n_node, 8, INSIDE_A_NODE["nvlink4"], ETHERNET)
    workload = Workload(0.05, 102_000_000, jitter=0.03, overlap=overlap, fixed_seconds=0.001)
    assert predict_scaling(cluster, workload).step == pytest.approx(
        simulated_step(cluster, workload, 4000, seed=0), rel=0.005
    )


def test_a_link_that_is_too_slow_hides_the_window_only():
    cluster = Cluster(2, 1, INSIDE_A_NODE["memory"], Interconnect("1 Gbit/s", 117e6, 0.0, 0.0))
    workload = Workload(0.5, 100_000_000, jitter=0, overlap=0.6, bucket_bytes=10_000_000)
    found = predict_scaling(cluster, workload, algorithm="ring")
    assert found.exposed == pytest.approx(found.communication - 0.3 * 9 / 10)
    assert found.step == pytest.approx(simulated_step(cluster, workload, 1, seed=0))


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_a_step_takes_longer_with_more_ranks_latency_jitter_and_less_bandwidth(algorithm):
    cluster = Cluster(16, 8, INSIDE_A_NODE["nvlink4"], ETHERNET)

    def step(change=None, **workload):
        base = Workload(0.05, 102_000_000)
        each = change or cluster
        return predict_scaling(each, dataclasses.replace(base, **workload), algorithm=algorithm).step

    sizes = [step(each) for each in cluster_sizes(cluster)]
    assert sizes == sorted(sizes)
    assert step(dataclasses.replace(cluster, between=ETHERNET.with_latency(50e-6))) > step()
    assert step(dataclasses.replace(cluster, between=dataclasses.replace(ETHERNET, bandwidth=1e9))) > step()
    assert step(jitter=0.02) > step(jitter=0.01) > step(jitter=0)
    assert step(nbytes=51_000_000) < step()


@pytest.mark.parametrize("overlap", [0, 0.6])
def test_the_targets_on_nvlink_and_infiniband_are_met(overlap):
    # docs/distributed_scaling.md: H100, 8 cards of 400 Gbit/s per node
    workload = Workload(0.095, RESNET50.nbytes, overlap=overlap)
    efficiency = {
        n: predict_scaling(Cluster(n // 8, 8, INSIDE_A_NODE["nvlink4"], network("8x400gbit")), workload).efficiency
        for n in (128, 1024)
    }
    assert efficiency[128] >= 0.95
    assert efficiency[1024] >= 0.93


def test_expected_maxima_are_those_of_the_tables():
    expected = {1: 0.0, 2: 0.56419, 3: 0.84628, 8: 1.42360, 100: 2.50759, 1000: 3.24144}
    assert {n: round(expected_maximum(n), 5) for n in expected} == expected


def test_the_parts_of_a_step_add_up_and_the_reason_names_the_largest():
    cluster = Cluster(4, 1, INSIDE_A_NODE["memory"], ETHERNET)
    slow = predict_scaling(cluster, Workload(0.01, 100_000_000, overlap=0))
    assert slow.step == slow.compute + slow.wait + slow.exposed + slow.fixed
    assert slow.hidden == 0
    assert "communication that is not hidden" in slow.reason()
    uneven = predict_scaling(cluster, Workload(1.0, 1000, jitter=0.1))
    assert "waiting for the slowest rank" in uneven.reason()
    alone = predict_scaling(dataclasses.replace(cluster, n_node=1), Workload(1.0, 1000))
    assert (alone.speedup, alone.efficiency, alone.hidden, alone.reason()) == (1, 1, 1, "nothing is lost")


def test_cluster_sizes_end_with_the_cluster():
    cluster = Cluster(3, 6, INSIDE_A_NODE["pcie4"], ETHERNET)
    assert [each.size for each in cluster_sizes(cluster)] == [1, 2, 4, 6, 12, 18]


def test_bad_values_are_refused():
    cluster = Cluster(2, 1, INSIDE_A_NODE["memory"], ETHERNET)
    with pytest.raises(ValueRangeError, match="unknown algorithm 'star'"):
        predict_scaling(cluster, RESNET50, algorithm="star")
    with pytest.raises(ValueRangeError, match="overlap in"):
        dataclasses.replace(RESNET50, overlap=1.0)
    with pytest.raises(ValueRangeError, match="at least one node"):
        Cluster(0, 8, PCIE, FDR)
    with pytest.raises(ValueRangeError, match="at least two numbers of ranks"):
        fitted({1: 1.0, 2: 1.9})


def test_ideal_speedups_are_fitted_by_no_jitter_and_no_fixed_costs():
    workload = fitted({n: float(n) for n in (2, 4, 8)})
    assert (workload.jitter, workload.fixed_seconds) == (0, 0)
