"""The states of a job, and how events change them: one pure function."""

import dataclasses
from typing import Literal, TypeAlias, get_args

_Waiting: TypeAlias = Literal["draft", "queued", "paused"]
_Living: TypeAlias = Literal["starting", "running", "pausing", "stopping", "killing"]
_Ended: TypeAlias = Literal["succeeded", "failed", "stopped"]
JobState: TypeAlias = Literal[_Waiting, _Living, _Ended]
Event: TypeAlias = Literal["start", "admit", "begin", "pause", "resume", "stop", "kill", "retry", "exit", "lose"]
LIVING: tuple[JobState, ...] = get_args(_Living)
ENDED: tuple[JobState, ...] = get_args(_Ended)
MAX_LOST = 4  # attempts without progress: it is started again three times
# what people ask for, and the state after it
_ASKED: dict[tuple[JobState, Event], JobState] = {
    ("draft", "start"): "queued",
    ("queued", "pause"): "paused",
    ("queued", "stop"): "stopped",
    ("queued", "kill"): "stopped",
    ("starting", "pause"): "pausing",
    ("running", "pause"): "pausing",
    ("starting", "stop"): "stopping",
    ("running", "stop"): "stopping",
    ("pausing", "stop"): "stopping",
    ("starting", "kill"): "killing",
    ("running", "kill"): "killing",
    ("pausing", "kill"): "killing",
    ("stopping", "kill"): "killing",
    ("paused", "resume"): "queued",
    ("paused", "stop"): "stopped",
    ("paused", "kill"): "stopped",
    ("failed", "retry"): "queued",
    ("stopped", "retry"): "queued",
}


@dataclasses.dataclass(frozen=True)
class Facts:
    """What is known of an attempt that ended.

    code: exit status, None if a signal ended it; signal: its number
    has_result: whether the run says that it finished, and its best model is there
    n_lost: earlier attempts that were lost since the last progress
    reason: a sentence from the log; lost: one that says how it was lost
    is_final: whether the same would happen again, so that it is not started again
    """

    code: int | None = None
    signal: int | None = None
    has_result: bool = False
    n_lost: int = 0
    reason: str = ""
    lost: str = ""
    is_final: bool = False


def step(state: JobState, event: Event, facts: Facts | None = None) -> tuple[JobState, str] | None:
    """The state after the event, and a sentence why; None if the event is not possible in this state."""
    facts = facts or Facts()
    if event == "admit":
        return ("starting", "") if state == "queued" else None
    if event == "begin":
        return ("running", "") if state == "starting" else None
    if event in ("exit", "lose"):
        return _ended(state, facts, is_lost=event == "lose") if state in LIVING else None
    after = _ASKED.get((state, event))
    return None if after is None else (after, "")


def allowed(state: JobState) -> list[Event]:
    """What people may ask for in this state."""
    return [event for before, event in _ASKED if before == state]


def _ended(state: JobState, facts: Facts, *, is_lost: bool) -> tuple[JobState, str]:
    if facts.code == 0 and facts.has_result:
        return "succeeded", ""
    if state in ("stopping", "killing"):
        return "stopped", "Killed." if state == "killing" else "Stopped."
    if state == "pausing":
        if facts.code in (0, 1, 2):  # it ended on its own meanwhile
            return "failed", facts.reason or f"It ended with exit status {facts.code}."
        return "paused", "" if facts.code == 130 else "It was killed; it resumes from its last snapshot."
    if facts.code in (130, 143):
        return "stopped", "It was interrupted from outside of the studio."
    if facts.code is not None:
        return "failed", facts.reason or f"It ended with exit status {facts.code}."
    how = "Its supervisor and its process were lost" if is_lost else f"Its process was killed by signal {facts.signal}"
    why = facts.lost or f"{how}."
    if facts.is_final:
        return "failed", why
    if facts.n_lost + 1 < MAX_LOST:
        return "queued", f"{why} It is started again from its last snapshot."
    return "failed", f"{why} It was the {MAX_LOST}th time without progress. {facts.reason}".strip()
