"""Why attempts ended: a word, what helps, and what happened twice."""

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.studio.jobs.outcomes import End, Outcome, judge, outcome_from_json

NAN = "cvzoo train: error: iteration 12 of training has NaN or infinite values:\n  main/loss is nan\n  first: Exp of /a"
SETTINGS = {"lr": 0.01, "batch_size": 4}


@pytest.mark.parametrize(
    ("end", "word"),
    [
        (End(code=0, has_result=True), "done"),
        (End(code=0, has_result=True, is_asked=True), "done"),
        (End(code=130, is_asked=True), "stopped"),
        (End(signal=9, is_asked=True), "stopped"),
        (End(code=130), "stopped"),
        (End(code=2, error="the option is invalid"), "user-error"),
        (End(code=1), "user-error"),
        (End(code=1, text="cvzoo train: the data have errors; repair them with:"), "data-error"),
        (End(code=2, text=NAN), "non-number"),
        (End(code=1, error="numpy._core._exceptions._ArrayMemoryError: Unable to allocate 9 GiB"), "out-of-memory"),
        (End(signal=9, out_of_memory=True), "out-of-memory"),
        (End(signal=9), "killed"),
        (End(), "killed"),
        (End(signal=11), "killed"),
        (End(signal=6, reason="hung"), "hung"),
        (End(signal=6, reason="start-timeout"), "start-timeout"),
        (End(code=1, error="OSError: [Errno 28] No space left on device"), "disk-full"),
    ],
)
def test_each_end_has_its_word_and_what_failed_a_remedy(end, word):
    found = judge(end, None)
    assert found.word == word
    assert bool(found.hint) is (word not in ("done", "stopped"))
    assert outcome_from_json(json.loads(json.dumps(found.to_json()))) == found


def test_a_loss_that_is_no_number_is_retried_with_half_of_the_learning_rate():
    found = judge(End(code=2, text=NAN, settings=SETTINGS, has_snapshot=True), None)
    assert (found.changes, found.is_resumed) == ((("lr", "0.005"),), True)
    assert "Iteration 12 had NaN or infinite values: Exp of /a." in found.sentence
    assert "from the last snapshot with half of the learning rate, 0.005" in found.hint
    assert judge(End(code=2, text=NAN, settings={"lr": None}, has_snapshot=True), None).changes == ()


def test_without_memory_the_first_attempt_is_repeated_and_the_second_says_a_smaller_batch():
    end = End(signal=9, out_of_memory=True, peak=3_000_000_000, settings=SETTINGS)
    first = judge(end, None)
    second = judge(end, first)
    assert not first.is_final
    assert second.is_final
    assert "batch_size 4 -> 2" in second.hint
    assert "3.0 GB" in second.sentence
    assert second.changes == (("batch_size", "2"),)
    assert judge(dataclasses.replace(end, settings={"batch_size": 1}), first).changes == ()


def test_what_ends_twice_at_one_iteration_is_poisoned_but_not_by_a_kill_from_outside():
    crash = End(signal=11, step=37)
    first = judge(crash, None)
    assert (first.word, first.is_final) == ("killed", False)
    second = judge(crash, first)
    assert (second.word, second.is_final) == ("poisoned", True)
    assert "second time at iteration 37" in second.sentence
    assert judge(dataclasses.replace(crash, step=38), first).word == "killed"
    assert judge(dataclasses.replace(crash, signal=9), first).word == "killed"
    assert judge(End(signal=11, step=0), judge(End(signal=11, step=0), None)).word == "killed"
    hung = End(signal=6, reason="hung", step=37)
    assert judge(hung, first).word == "poisoned"


def test_the_evidence_is_the_end_of_the_output():
    found = judge(End(signal=11, text="\n".join(map(str, range(50))), peak=5), None)
    assert found.lines == tuple(map(str, range(30, 50)))
    assert (found.signal, found.peak) == (11, 5)


@pytest.mark.parametrize(
    "tree", [{}, {"word": "x"}, {"word": "done"}, {"word": "done", "sentence": "", "try": "", "changes": []}]
)
def test_a_malformed_outcome_is_none(tree):
    assert outcome_from_json(tree) is None


@given(
    st.builds(
        End,
        code=st.none() | st.integers(0, 255),
        signal=st.none() | st.integers(1, 31),
        reason=st.sampled_from(["", "hung", "start-timeout"]),
        has_result=st.booleans(),
        is_asked=st.booleans(),
        out_of_memory=st.booleans(),
        step=st.integers(0, 3),
        text=st.sampled_from(["", NAN, "MemoryError", "No space left on device"]),
        settings=st.sampled_from([{}, SETTINGS, {"lr": "x", "batch_size": -1}]),
    ),
    st.integers(0, 4),
)
def test_the_same_end_again_and_again_is_given_up_only_for_a_reason(end, n):
    before = None
    for _ in range(n):
        before = judge(end, before)
    found = judge(end, before)
    assert isinstance(found, Outcome)
    if found.is_final:
        assert found.word in ("non-number", "out-of-memory", "poisoned")
    if found.word == "done":
        assert end.code == 0
