"""How many batches each rank accumulates."""

import pytest

from cvzoo.distributed.launching.accumulation import accumulation_steps, planned_ranks
from cvzoo.errors.exceptions import ConfigError, ValueRangeError


@pytest.mark.parametrize("planned", [1, 3, 4, 8])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_all_ranks_together_have_the_planned_batches_evenly(planned, size):
    steps = [accumulation_steps(rank, size, planned) for rank in range(size)]
    assert sum(steps) == planned
    assert max(steps) - min(steps) <= 1


def test_the_launcher_says_how_many_ranks_were_planned(monkeypatch):
    monkeypatch.delenv("CVZOO_LAUNCH_RANKS", raising=False)
    assert planned_ranks(3) == 3
    monkeypatch.setenv("CVZOO_LAUNCH_RANKS", "4")
    assert planned_ranks(3) == 4
    assert [accumulation_steps(rank, 3) for rank in range(3)] == [2, 1, 1]


def test_bad_values_are_refused(monkeypatch):
    with pytest.raises(ValueRangeError, match="there is no rank 2 of 2"):
        accumulation_steps(2, 2)
    monkeypatch.setenv("CVZOO_LAUNCH_RANKS", "four")
    with pytest.raises(ConfigError, match="CVZOO_LAUNCH_RANKS must be a positive number"):
        planned_ranks(2)
