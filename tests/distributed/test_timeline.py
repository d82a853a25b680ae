"""Timelines of ranks."""

import json

import pytest

from cvzoo.distributed.timeline import FOLDER, open_timeline, read_events, summarize
from cvzoo.errors.exceptions import FileFormatError


@pytest.fixture
def timeline(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER, str(tmp_path))
    made = open_timeline(1)
    yield made
    made.close()


def test_the_file_is_a_trace_at_any_time(timeline, tmp_path):
    timeline.add("wire", "8 bytes", 1.0, 1.5)
    with timeline.span("compute", "forward"):
        pass
    timeline.flush()
    text = (tmp_path / "timeline-1-0.json").read_text()
    name, wire, compute = json.loads(text.rstrip(",\n") + "]")
    assert name["args"] == {"name": "rank 1"}
    assert wire == {"name": "8 bytes", "cat": "wire", "ph": "X", "tid": 1, "ts": 1e6, "dur": 5e5, "pid": 1}
    assert (compute["cat"], compute["tid"]) == ("compute", 0)


def test_a_truncated_last_line_is_left_out(timeline, tmp_path):
    timeline.add("wait", "for gradients", 1.0, 1.5)
    timeline.flush()
    path = tmp_path / "timeline-1-0.json"
    whole = read_events(path)
    path.write_text(path.read_text() + '{"name": "wi')
    assert read_events(path) == whole
    path.write_text("{}")
    with pytest.raises(FileFormatError, match="not a timeline"):
        read_events(path)


def test_another_optimizer_has_a_file_of_its_own(timeline, tmp_path):
    open_timeline(1).close()
    assert len(list(tmp_path.glob("timeline-1-*.json"))) == 2


def test_without_the_launchers_option_there_is_none(monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)
    assert open_timeline(0) is None


@pytest.mark.parametrize(
    ("wire", "wait", "seconds", "exposed"),
    [
        ([(0, 4)], [], 4, 0),
        ([(0, 4)], [(3, 5)], 4, 1),
        ([(0, 2), (1, 4)], [(3, 4)], 4, 1),  # two messages at the same time
        ([(0, 1), (2, 3)], [(0.5, 2.5)], 2, 1),
        ([(0, 1)], [(0, 0.25), (0.5, 0.75)], 1, 0.5),
    ],
)
def test_communication_is_exposed_while_the_rank_waits(wire, wait, seconds, exposed):
    events = [
        {"ph": "X", "cat": kind, "ts": begin * 1e6, "dur": (end - begin) * 1e6}
        for kind, spans in (("wire", wire), ("wait", wait), ("compute", [(0, 1)]))
        for begin, end in spans
    ]
    found = summarize(events)
    assert found.wire == pytest.approx(seconds)
    assert found.exposed == pytest.approx(exposed)
    assert found.compute == pytest.approx(1)
    assert found.hidden == pytest.approx(1 - exposed / seconds)


def test_without_communication_all_is_hidden():
    assert summarize([]).hidden == 1
