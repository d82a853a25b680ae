"""How far a long run is."""

import io

import pytest

from cvzoo.cli.progress import Progress
from cvzoo.reporting import as_time


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(stream, n_step, *, total, seconds):
    """A progress after that many steps, each of so many seconds."""
    clock = Clock()
    progress = Progress(stream, total=total, clock=clock)
    for _ in range(n_step):
        clock.now += seconds
        progress.step()
    return progress


@pytest.mark.parametrize(
    ("n_step", "total", "seconds", "text"),
    [
        (0, 10, 1, "0 of 10 images"),
        (4, 10, 0.5, "4 of 10 images, 2.0 a second, 0:03 left"),
        (10, 10, 0.5, "10 of 10 images, 2.0 a second"),
        (4, None, 0.5, "4 images, 2.0 a second"),  # a list on standard input: nobody knows how long
        (1, 10, 100, "1 of 10 images, 100 seconds each, 15:00 left"),
        (12, 10, 0.5, "12 of 10 images, 2.0 a second"),
    ],
)
def test_it_tells_count_rate_and_the_time_left(n_step, total, seconds, text):
    assert run(None, n_step, total=total, seconds=seconds).text() == text


def test_a_file_gets_a_plain_line_now_and_then():
    stream = io.StringIO()
    run(stream, 25, total=100, seconds=1)
    assert stream.getvalue().splitlines() == [
        "10 of 100 images, 1.0 a second, 1:30 left",
        "20 of 100 images, 1.0 a second, 1:20 left",
    ]


def test_a_terminal_gets_one_line_that_is_rewritten_and_taken_away():
    stream = Terminal()
    progress = run(stream, 3, total=3, seconds=0.25)
    assert "\n" not in stream.getvalue()
    assert stream.getvalue().count("\r") == 3
    progress.clear()
    last = stream.getvalue().split("\r")[-2]
    assert last
    assert not last.strip()
    before = stream.getvalue()
    progress.clear()  # there is nothing left to take away
    assert stream.getvalue() == before


def test_a_terminal_is_not_flooded():
    stream = Terminal()
    run(stream, 1000, total=1000, seconds=0.001)
    assert stream.getvalue().count("\r") <= 5


def test_a_shorter_line_leaves_nothing_of_a_longer_one():
    stream = Terminal()
    run(stream, 10, total=10, seconds=1)  # the last line has no time left to tell
    last, before = stream.getvalue().split("\r")[-1], stream.getvalue().split("\r")[-2]
    assert len(last) == len(before)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00"), (7.4, "0:07"), (59.6, "1:00"), (116, "1:56"), (3600, "1:00:00"), (7380, "2:03:00")],
)
def test_times_read_as_clocks_do(seconds, text):
    assert as_time(seconds) == text
