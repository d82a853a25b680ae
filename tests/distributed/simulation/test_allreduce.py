"""Times of an allreduce."""

import pytest

from cvzoo.distributed.simulation.allreduce import ALGORITHMS, Cluster, fastest_algorithm, ring_allreduce
from cvzoo.distributed.simulation.interconnect import INSIDE_A_NODE, Interconnect, network
from cvzoo.errors.exceptions import ValueRangeError

FREE = Interconnect("no latency", 117e6, 0.0, 0.0)


def test_a_ring_sends_twice_the_array_but_one_part_in_n():
    cluster = Cluster(4, 1, INSIDE_A_NODE["memory"], FREE)
    assert ring_allreduce(cluster, 25e6).transfer == pytest.approx(2 * 3 / 4 * 25e6 / 117e6)


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_one_rank_communicates_nothing(name):
    assert ALGORITHMS[name](Cluster(1, 1, FREE, FREE), 1e6).total == 0


def test_the_slower_interconnect_limits_a_ring():
    nvlink = INSIDE_A_NODE["nvlink4"]
    assert Cluster(1, 8, nvlink, FREE).bandwidth == nvlink.bandwidth
    assert Cluster(2, 8, nvlink, FREE).bandwidth == FREE.bandwidth
    fast = network("16x400gbit")
    assert Cluster(2, 8, nvlink, fast).bandwidth == nvlink.bandwidth
    assert Cluster(2, 1, nvlink, fast).bandwidth == fast.bandwidth


def test_small_arrays_on_many_nodes_take_the_tree():
    cluster = Cluster(128, 8, INSIDE_A_NODE["nvlink4"], network("400gbit"))
    assert fastest_algorithm(cluster, 1e6) == "tree"
    assert fastest_algorithm(Cluster(1, 8, INSIDE_A_NODE["nvlink4"], FREE), 100e6) == "ring"


@pytest.mark.parametrize(
    ("text", "bandwidth"),
    [("1gbit", 0.94e9 / 8), ("100Mbit", 0.94e8 / 8), ("400gbit", 0.88 * 50e9), ("8x400gbit", 0.75 * 400e9)],
)
def test_links_are_read(text, bandwidth):
    assert network(text).bandwidth == pytest.approx(bandwidth)


def test_efficiency_and_latency_can_be_given():
    link = network("25gbit", efficiency=1.0, latency=30e-6)
    assert link.bandwidth == 25e9 / 8
    assert link.ring_latency == 30e-6
    assert link.tree_latency == pytest.approx(30e-6 * 50 / 9.6)


@pytest.mark.parametrize("text", ["fast", "0gbit", "0x10gbit", "10", "gbit", "-1gbit"])
def test_other_links_are_refused(text):
    with pytest.raises(ValueRangeError, match="not a network link"):
        network(text)


def test_an_efficiency_is_in_0_to_1():
    with pytest.raises(ValueRangeError, match="efficiency of a link"):
        network("1gbit", efficiency=0)
