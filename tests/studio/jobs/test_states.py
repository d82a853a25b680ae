"""States of jobs: every edge, and what random histories never do."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.studio.jobs.states import ENDED, LIVING, MAX_LOST, Facts, allowed, step

STATES = ("draft", "queued", "paused", *LIVING, *ENDED)
EVENTS = ("start", "admit", "begin", "pause", "resume", "stop", "kill", "retry", "exit", "lose")
# (state, event) -> the state after it; of "exit" and "lose" see below
EDGES = {
    ("draft", "start"): "queued",
    ("queued", "admit"): "starting",
    ("queued", "pause"): "paused",
    ("queued", "stop"): "stopped",
    ("queued", "kill"): "stopped",
    ("starting", "begin"): "running",
    ("starting", "pause"): "pausing",
    ("starting", "stop"): "stopping",
    ("starting", "kill"): "killing",
    ("running", "pause"): "pausing",
    ("running", "stop"): "stopping",
    ("running", "kill"): "killing",
    ("pausing", "stop"): "stopping",
    ("pausing", "kill"): "killing",
    ("stopping", "kill"): "killing",
    ("paused", "resume"): "queued",
    ("paused", "stop"): "stopped",
    ("paused", "kill"): "stopped",
    ("failed", "retry"): "queued",
    ("stopped", "retry"): "queued",
}
DONE, ERROR, INTERRUPTED = Facts(code=0, has_result=True), Facts(code=2, reason="no data"), Facts(code=130)
SHOT, LOST_OFTEN = Facts(signal=9), Facts(signal=9, n_lost=MAX_LOST - 1)


@pytest.mark.parametrize(("state", "event"), list(itertools.product(STATES, EVENTS)))
def test_every_pair_of_state_and_event(state, event):
    after = step(state, event, DONE)
    if event in ("exit", "lose"):
        assert (after is not None) is (state in LIVING)
    else:
        assert (None if after is None else after[0]) == EDGES.get((state, event))


@pytest.mark.parametrize(
    ("state", "facts", "after"),
    [
        *((state, DONE, "succeeded") for state in LIVING),  # what finished has finished, whatever was asked for
        *((state, ERROR, "failed") for state in ("starting", "running", "pausing")),
        *((state, INTERRUPTED, "stopped") for state in ("starting", "running", "stopping", "killing")),
        ("pausing", INTERRUPTED, "paused"),
        ("pausing", SHOT, "paused"),  # from its last snapshot
        *((state, SHOT, "stopped") for state in ("stopping", "killing")),
        *((state, SHOT, "queued") for state in ("starting", "running")),
        *((state, LOST_OFTEN, "failed") for state in ("starting", "running")),
        ("running", Facts(code=0, has_result=False), "failed"),  # it said nothing, and left nothing
        ("running", Facts(code=143), "stopped"),
        ("stopping", ERROR, "stopped"),
    ],
)
def test_how_an_attempt_ends(state, facts, after):
    assert step(state, "exit", facts)[0] == after


def test_a_lost_attempt_is_started_again_but_not_for_ever():
    assert step("running", "lose", Facts())[0] == "queued"
    assert step("running", "lose", Facts(n_lost=MAX_LOST - 1))[0] == "failed"


def test_what_failed_says_why():
    assert step("running", "exit", ERROR)[1] == "no data"
    assert "exit status 1" in step("running", "exit", Facts(code=1))[1]
    assert "signal 9" in step("running", "exit", SHOT)[1]


@pytest.mark.parametrize("state", STATES)
def test_what_is_allowed_is_what_works(state):
    assert set(allowed(state)) == {event for before, event in EDGES if before == state} - {"admit", "begin"}


@given(st.lists(st.tuples(st.sampled_from(EVENTS), st.sampled_from([DONE, ERROR, INTERRUPTED, SHOT, LOST_OFTEN]))))
def test_random_histories_stop_only_more_severely(history):
    severity = {"pausing": 1, "stopping": 2, "killing": 3}
    state = "draft"
    for event, facts in history:
        found = step(state, event, facts)
        if found is None:
            continue
        after = found[0]
        assert after in STATES
        assert after != "draft"  # what was started once is no draft any more
        if state in severity and after in LIVING:
            assert severity[after] > severity[state]
        if after in LIVING:  # no process without an admission
            assert state in LIVING or event == "admit"
        state = after
