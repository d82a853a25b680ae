import hypothesis
import hypothesis.strategies as st
import pytest

from cvzoo.graph.memory_plan import ALIGNMENT, Lifetime, most_alive, plan_memory

lifetimes = st.lists(
    st.tuples(st.integers(1, 5000), st.integers(0, 30), st.integers(0, 12)).map(
        lambda each: Lifetime(each[0], each[1], each[1] + each[2])
    ),
    max_size=25,
).map(lambda each: dict(enumerate(each)))


@hypothesis.given(lifetimes)
def test_blocks_that_live_together_lie_apart_and_inside_the_arena(blocks):
    plan = plan_memory(blocks)
    for a, one in blocks.items():
        assert plan.offsets[a] % ALIGNMENT == 0
        assert plan.offsets[a] + one.nbytes <= plan.nbytes
        for b, other in blocks.items():
            if a < b and one.first <= other.last and other.first <= one.last:
                assert (
                    plan.offsets[a] + one.nbytes <= plan.offsets[b] or plan.offsets[b] + other.nbytes <= plan.offsets[a]
                )


@hypothesis.given(lifetimes)
def test_no_plan_is_below_the_lower_bound_nor_above_the_sum(blocks):
    plan = plan_memory(blocks)
    padded = sum(-(-each.nbytes // ALIGNMENT) * ALIGNMENT for each in blocks.values())
    assert plan.lower_bound == most_alive(blocks) <= plan.nbytes <= padded


@hypothesis.given(lifetimes)
def test_the_lower_bound_is_what_lives_at_the_fullest_step(blocks):
    fullest = max(
        (
            sum(-(-each.nbytes // ALIGNMENT) * ALIGNMENT for each in blocks.values() if each.first <= t <= each.last)
            for t in range(64)
        ),
        default=0,
    )
    assert most_alive(blocks) == fullest


@pytest.mark.parametrize(
    ("blocks", "nbytes"),
    [
        ({}, 0),
        ({0: Lifetime(64, 0, 1), 1: Lifetime(64, 1, 2), 2: Lifetime(64, 2, 3)}, 128),
        ({0: Lifetime(1, 0, 0), 1: Lifetime(1, 1, 1)}, 64),
        ({0: Lifetime(640, 0, 1), 1: Lifetime(64, 1, 3), 2: Lifetime(640, 2, 3)}, 704),
    ],
)
def test_chains_share_two_places(blocks, nbytes):
    assert plan_memory(blocks).nbytes == nbytes
