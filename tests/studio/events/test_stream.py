"""Server-sent events of a run."""

import asyncio
import json

import pytest

from cvzoo.studio.events import follow, stream
from cvzoo.studio.jobs.curves import Offsets, read_curves


def parsed(chunk):
    """(event, data, id) of a chunk; None of a comment."""
    fields = dict(line.split(": ", 1) for line in chunk.decode().splitlines() if ": " in line and line[0] != ":")
    return (fields["event"], json.loads(fields["data"]), fields["id"]) if "event" in fields else None


def first_events(studio, record, offsets, n, change=None):
    """The first n events; `change` is called after the first one."""

    async def collect():
        found = []
        async for chunk in stream.run_events(studio, record, offsets, lambda: True):
            event = parsed(chunk)
            if event is None:
                continue
            found.append(event)
            if len(found) == 1 and change is not None:
                change()
            if len(found) == n:
                break
        return found

    return asyncio.run(asyncio.wait_for(collect(), 20))


@pytest.fixture(autouse=True)
def fast(monkeypatch):
    monkeypatch.setattr(stream, "ASK_S", 0.0)
    monkeypatch.setattr(follow, "LOOK_S", 0.001)
    monkeypatch.setattr(follow, "ANEW_S", 0.001)


@pytest.fixture
def record(studio, run_id):
    return studio.runs.record(run_id)


def test_a_browser_gets_what_it_has_not(studio, record):
    (rows, state) = first_events(studio, record, Offsets(), 2)
    assert rows[0] == "rows"
    assert len(rows[1]["metrics.jsonl"]) == 3
    assert state[0] == "state"
    assert state[1]["name"] == "first"


def test_appended_rows_follow_with_the_offset_behind_them(studio, record):
    def append():
        with open(record.folder / "metrics.jsonl", "a") as file:
            file.write('{"epoch": 4, "iteration": 10, "main/loss": 1}\n')

    _, offsets = read_curves(record.folder, 100)
    events = first_events(studio, record, offsets, 2, append)
    assert events[1][0] == "rows"
    assert events[1][1]["metrics.jsonl"][0]["iteration"] == 10
    assert events[1][2] == str(read_curves(record.folder, 100)[1])


def test_a_resumed_run_starts_the_curves_again(studio, record):
    _, offsets = read_curves(record.folder, 100)
    (record.folder / "metrics.jsonl").write_text('{"epoch": 1}\n')
    assert [each[0] for each in first_events(studio, record, offsets, 1)] == ["reset"]


def test_a_stream_ends_with_the_server(studio, record):
    studio.stopping.set()

    async def collect():
        return [parsed(chunk) async for chunk in stream.run_events(studio, record, Offsets(), lambda: True)]

    assert asyncio.run(collect()) == [None]


def test_a_stream_ends_when_its_browser_has_signed_out(studio, record):
    answers = iter([True, True, False])

    async def collect():
        return [parsed(c) async for c in stream.run_events(studio, record, Offsets(), lambda: next(answers))]

    events = asyncio.run(asyncio.wait_for(collect(), 20))
    assert [each[0] for each in events if each] == ["rows", "state"]


def test_a_browser_without_a_free_connection_asks_for_what_there_is_now(browser, run_id):
    answer = browser.get(f"/api/v1/jobs/{run_id}/events?once=true")
    assert [parsed(part.encode())[0] for part in answer.text.split("\n\n") if "event:" in part] == ["rows", "state"]
    assert answer.text.startswith("retry: 5000")


def test_the_stream_of_a_closed_session_ends(browser, run_id, monkeypatch):
    seen = []
    real = stream.run_events

    def spied(studio, record, offsets, is_signed_in, *, once):
        seen.append(is_signed_in)
        return real(studio, record, offsets, is_signed_in, once=once)

    monkeypatch.setattr("cvzoo.studio.api.jobs.run_events", spied)
    browser.get(f"/api/v1/jobs/{run_id}/events?once=true")
    assert seen[0]()
    browser.post("/sign-out")
    assert not seen[0]()


def test_malformed_offsets_are_an_error_of_the_request(browser, run_id):
    assert browser.get(f"/api/v1/jobs/{run_id}/events?offsets=x").status_code == 400
