"""Whether a job hangs, by a clock that tests set."""

import pytest

from cvzoo.studio.worker.attempt import Limits
from cvzoo.studio.worker.liveness import HUNG, START_TIMEOUT, Liveness


class Training:
    """Marks of a training, as a supervisor sees them."""

    def __init__(self, limits=None):
        self.now, self.step, self.beat, self.mark = 1000.0, None, 0, 0
        self.liveness = Liveness(limits or Limits(), lambda: self.now)

    def look(self, after=0.0):
        self.now += after
        return self.liveness.look(self.step, self.beat, self.mark)

    def iterate(self, n, seconds):
        for _ in range(n):
            self.step = (self.step or 0) + 1
            assert self.look(seconds) is None


@pytest.fixture
def training():
    return Training()


def test_within_an_iteration_two_minutes_are_too_long(training):
    training.iterate(5, 1.0)
    assert training.look(119) is None
    assert training.look(2) == HUNG


def test_long_iterations_may_take_ten_times_their_median(training):
    training.iterate(9, 60.0)
    assert training.look(599) is None
    assert training.look(2) == HUNG


def test_a_line_of_output_is_a_sign_of_life(training):
    training.iterate(5, 1.0)
    for _ in range(5):
        training.mark += 1
        assert training.look(119) is None
    assert training.look(121) == HUNG


def test_a_validation_has_half_an_hour_and_ten_times_the_last_one(training):
    training.iterate(5, 1.0)
    training.beat += 1  # a batch is read, and no iteration ends
    assert training.look(2) is None
    assert training.look(1790) is None
    assert training.look(20) == HUNG
    slow = Training()
    slow.iterate(5, 1.0)
    slow.beat += 1
    assert slow.look(400) is None
    slow.iterate(2, 1.0)  # the validation took 401 s
    slow.beat += 1
    assert slow.look(2) is None
    assert slow.look(4000) is None
    assert slow.look(30) == HUNG


def test_a_training_that_says_nothing_before_its_first_iteration_has_ten_minutes(training):
    for _ in range(5):  # it checks data, or downloads
        training.mark += 1
        assert training.look(599) is None
    assert training.look(602) == START_TIMEOUT


def test_the_first_iteration_may_take_half_an_hour(training):
    training.step = 0
    assert training.look() is None
    assert training.look(1799) is None
    assert training.look(2) == START_TIMEOUT


def test_a_job_without_iterations_is_judged_by_its_batches_and_output():
    job = Training(Limits(validation=100, setup=None))
    for _ in range(5):
        job.beat += 1
        assert job.look(99) is None
    assert job.look(101) == HUNG


def test_a_resumed_training_that_begins_at_a_later_iteration_is_at_its_start(training):
    training.step = 500
    assert training.look() is None
    assert training.look(1000) is None
    training.step = 501
    assert training.look(1) is None
