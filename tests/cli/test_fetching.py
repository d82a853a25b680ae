"""How far a download is."""

import io
import sys

from cvzoo.cli.fetching import fetching


class Terminal(io.StringIO):
    def isatty(self):
        return True


def lines_of(stream, monkeypatch, *calls):
    monkeypatch.setattr(sys, "stderr", stream)
    with fetching("net.weights") as progress:
        for done, total in calls:
            progress(done, total)
    return stream.getvalue()


def test_a_terminal_sees_the_share_and_a_file_one_line(monkeypatch):
    calls = [(0, 2_000_000), (1_000_000, 2_000_000), (2_000_000, 2_000_000)]
    said = lines_of(Terminal(), monkeypatch, *calls)
    assert said.endswith("\n")
    assert said.count("\n") == 1
    assert "2.0 of 2.0 MB" in said
    assert lines_of(io.StringIO(), monkeypatch, *calls) == "fetching net.weights\n"


def test_a_download_of_unknown_size_tells_what_came(monkeypatch):
    assert "fetching net.weights: 1.5 MB" in lines_of(Terminal(), monkeypatch, (1_500_000, None))


def test_nothing_is_said_of_what_was_there_already(monkeypatch):
    assert lines_of(Terminal(), monkeypatch) == ""
