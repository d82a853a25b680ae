"""A signal ends a command between two results, never within one."""

import signal

import pytest

from cvzoo.cli.ending_signals import Ended, EndingSignals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_raises_at_once(number):
    with EndingSignals(), pytest.raises(Ended) as ended:
        signal.raise_signal(number)
    assert ended.value.number == number
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_held_block_is_completed_first():
    done = []

    def work(signals):
        with signals.held():
            done.append("before")
        with signals.held():
            signal.raise_signal(signal.SIGTERM)
            done.append("whole")
        done.append("never")

    with EndingSignals() as signals, pytest.raises(Ended):
        work(signals)
    assert done == ["before", "whole"]


def test_a_second_signal_does_not_wait():
    with EndingSignals() as signals, signals.held():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(Ended):
            signal.raise_signal(signal.SIGINT)
        signals._number = None


def test_handlers_of_the_caller_stay():
    caught = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: caught.append(number))
    try:
        with EndingSignals():
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert caught == [signal.SIGTERM]
