"""Server-sent events of a run."""

import asyncio
import json

import pytest

from cvzoo.studio.events import follow, stream
from cvzoo.studio.jobs.curves import Offsets, read_curves


def parsed(chunk):
    """(event, data, id) of each event of a chunk; comments are none."""
    found = []
    for part in chunk.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in part.splitlines() if ": " in line and line[0] != ":")
        found += [(fields["event"], json.loads(fields["data"]), fields["id"])] if "event" in fields else []
    return found


async def is_signed_in():
    return True


def first_events(studio, record, offsets, n, change=None):
    """The first n events; `change` is called after the first one."""

    async def collect():
        found = []
        async for chunk in stream.run_events(studio, record, offsets, is_signed_in):
            is_first = not found
            found += parsed(chunk)
            if is_first and found and change is not None:
                change()
            if len(found) >= n:
                break
        return found[:n]

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
        return [parsed(chunk) async for chunk in stream.run_events(studio, record, Offsets(), is_signed_in)]

    assert asyncio.run(collect()) == [[]]


def test_a_stream_ends_when_its_browser_has_signed_out(studio, record):
    answers = iter([True, True, False])

    async def is_still_signed_in():
        return next(answers)

    async def collect():
        chunks = [each async for each in stream.run_events(studio, record, Offsets(), is_still_signed_in)]
        return [event for chunk in chunks for event in parsed(chunk)]

    events = asyncio.run(asyncio.wait_for(collect(), 20))
    assert [each[0] for each in events] == ["rows", "state"]


def test_an_event_is_encoded_once_for_all_streams(studio, record):
    async def collect():
        streams = [stream.run_events(studio, record, Offsets(), is_signed_in) for _ in range(3)]
        found = [[await anext(each), await anext(each)][1] for each in streams]
        for each in streams:
            await each.aclose()
        return found

    first, *others = asyncio.run(asyncio.wait_for(collect(), 20))
    assert [each[0] for each in parsed(first)] == ["rows", "state"]
    assert all(each == first for each in others)
    assert len(studio.follows._followed) == 0


def test_rows_are_read_once_for_all_streams_and_not_after_each_of_them_asked(studio, record, monkeypatch):
    read, reads = follow.read_more, []
    monkeypatch.setattr(follow, "read_more", lambda *args: reads.append(args[1]) or read(*args))
    monkeypatch.setattr(follow, "ANEW_S", 1000.0)

    async def collect():
        _, offsets = read_curves(record.folder, 100)
        streams = [stream.run_events(studio, record, offsets, is_signed_in) for _ in range(3)]
        for each in streams:
            assert not parsed(await anext(each))
            assert [event[0] for event in parsed(await anext(each))] == ["state"]
        waiting = [asyncio.ensure_future(anext(each)) for each in streams]
        reads.clear()
        with open(record.folder / "metrics.jsonl", "a") as file:
            file.write('{"epoch": 4, "iteration": 10, "main/loss": 1}\n')
        found = [await each for each in waiting]
        for each in streams:
            await each.aclose()
        return offsets, found

    offsets, found = asyncio.run(asyncio.wait_for(collect(), 20))
    assert [each[0] for chunk in found for each in parsed(chunk)] == ["rows", "state"] * 3
    assert reads.count(offsets) <= 2  # a stream may still ask for what there was before


def test_a_browser_without_a_free_connection_asks_for_what_there_is_now(browser, run_id):
    answer = browser.get(f"/api/v1/jobs/{run_id}/events?once=true")
    assert [each[0] for each in parsed(answer.content)] == ["rows", "state"]
    assert answer.text.startswith("retry: 5000")


def test_the_stream_of_a_closed_session_ends(browser, run_id, monkeypatch):
    seen = []
    real = stream.run_events

    def spied(studio, record, offsets, is_signed_in, *, once):
        seen.append(is_signed_in)
        return real(studio, record, offsets, is_signed_in, once=once)

    monkeypatch.setattr("cvzoo.studio.api.jobs.run_events", spied)
    browser.get(f"/api/v1/jobs/{run_id}/events?once=true")
    assert asyncio.run(seen[0]())
    browser.post("/sign-out")
    assert not asyncio.run(seen[0]())


def test_malformed_offsets_are_an_error_of_the_request(browser, run_id):
    assert browser.get(f"/api/v1/jobs/{run_id}/events?offsets=x").status_code == 400
