"""Why an attempt at a job ended, in a word, and what helps: one pure function."""

import dataclasses
import re
import signal
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

from cvzoo.studio.jobs.run_record import number

_Ended: TypeAlias = Literal["done", "stopped", "user-error", "data-error", "non-number", "disk-full"]
_Lost: TypeAlias = Literal["out-of-memory", "killed", "hung", "start-timeout", "poisoned"]
Word: TypeAlias = Literal[_Ended, _Lost]
_MEMORY = re.compile(r"MemoryError|[Oo]ut of memory|OutOfMemoryError|Cannot allocate memory|out_of_memory|bad_alloc")
_DISK = re.compile(r"No space left on device|Disk quota exceeded")
_NON_NUMBER = re.compile(r"iteration (\d+) of training has NaN or infinite values")
_DATA = re.compile(r"the data have errors|DatasetError|examples? (?:cannot|could not) be read|there is no such folder")
_FIRST = re.compile(r"^ *first: (.*)$", re.MULTILINE)
_N_LINE, _MAX_LINE = 20, 400
# sent by people, by the kernel, or at the end of a session: they say nothing of what the job did
_FROM_OUTSIDE = (None, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclasses.dataclass(frozen=True)
class End:
    """What is known of an attempt that ended.

    code, signal: of the process; reason: HUNG or START_TIMEOUT if its supervisor ended it, "" otherwise
    has_result: whether the job's result is there; is_asked: whether a person wanted it to end
    out_of_memory: whether the kernel ended a process meanwhile, as there was no memory left; peak: bytes in RAM
    step: the number of iterations when it ended; text: the end of its output; error: the last error in it
    settings: of the recipe, such as "lr" and "batch_size"; has_snapshot: whether the training can be resumed
    """

    code: int | None = None
    signal: int | None = None
    reason: str = ""
    has_result: bool = False
    is_asked: bool = False
    out_of_memory: bool = False
    peak: int = 0
    step: int = 0
    text: str = ""
    error: str = ""
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    has_snapshot: bool = False


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Why a job ended.

    sentence: for people; hint: what helps, "" if nothing has to; step: the number of iterations then
    lines, signal, peak: evidence: the end of its output, the signal that ended it, the most bytes in RAM
    changes: settings of a training that may succeed, name -> text
    is_resumed: whether that one begins with the last snapshot; is_final: that the same would happen again
    """

    word: Word
    sentence: str
    hint: str = ""
    step: int = 0
    lines: tuple[str, ...] = ()
    signal: int | None = None
    peak: int = 0
    changes: tuple[tuple[str, str], ...] = ()
    is_resumed: bool = False
    is_final: bool = False

    def to_json(self) -> dict[str, Any]:
        """For the database and the REST interface; `hint` is "try" there, as in errors."""
        tree = dataclasses.asdict(self) | {"changes": dict(self.changes), "lines": list(self.lines)}
        return {"try" if key == "hint" else key: value for key, value in tree.items()}


def outcome_from_json(tree: Mapping[str, Any]) -> Outcome | None:
    """The outcome of `to_json`; None of anything else."""
    try:
        if tree["word"] not in get_args(Word):
            return None
        return Outcome(
            tree["word"],
            str(tree["sentence"]),
            str(tree["try"]),
            step=int(tree["step"]),
            lines=tuple(map(str, tree["lines"])),
            signal=None if tree["signal"] is None else int(tree["signal"]),
            peak=int(tree["peak"]),
            changes=tuple((str(key), str(value)) for key, value in tree["changes"].items()),
            is_resumed=tree["is_resumed"] is True,
            is_final=tree["is_final"] is True,
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def judge(end: End, before: Outcome | None) -> Outcome:
    """Why the attempt ended. before: the outcome of the attempt before this one, None of the first"""
    lines = tuple(line[:_MAX_LINE] for line in end.text.strip().splitlines()[-_N_LINE:])
    outcome = dataclasses.replace(_judged(end), lines=lines, signal=end.signal, peak=end.peak, step=end.step)
    return _again(outcome, before, end)


def _judged(end: End) -> Outcome:
    if end.code == 0 and end.has_result:
        return Outcome("done", "")
    if end.is_asked:
        return Outcome("stopped", "")
    found = _NON_NUMBER.search(end.text)
    if found and end.code is not None:
        return _non_number(end, found[1])
    if end.reason == "hung":
        return Outcome("hung", "It made no progress, and was ended; its stacks are in its output.", _HUNG_TRY)
    if end.reason == "start-timeout":
        return Outcome("start-timeout", "It did not begin, and was ended; its stacks are in its output.", _START_TRY)
    if _DISK.search(end.error) and end.code != 130:
        return Outcome("disk-full", "The disk was full.", "make room, then resume it from its last snapshot")
    if (end.signal == 9 and end.out_of_memory) or (end.code is not None and _MEMORY.search(end.error)):
        return _out_of_memory(end)
    if end.signal is not None or end.code is None:
        return _killed(end)
    if end.code in (130, 143):
        return Outcome("stopped", "It was interrupted from outside of the studio.")
    if _DATA.search(end.text):
        return Outcome("data-error", end.error or "The data cannot be used.", "correct the data, then start it again")
    return Outcome("user-error", end.error or f"It ended with exit status {end.code}.", "see the end of its output")


_HUNG_TRY = "the stacks in its output say where it waited; resume it from its last snapshot"
_START_TRY = "its output says what it waited for, such as a download or a slow disk; start it again"


def _non_number(end: End, iteration: str) -> Outcome:
    first = _FIRST.search(end.text)
    sentence = f"Iteration {iteration} had NaN or infinite values" + (f": {first[1][:200]}." if first else ".")
    half = _half(end.settings, "lr")
    changes = () if half is None else (("lr", half),)
    where = "from the last snapshot" if end.has_snapshot else "from the start"
    hint = "a lower learning rate, a longer warm-up, gradient clipping; examples without NaN"
    if changes:
        hint = f"resume {where} with half of the learning rate, {half}; {hint}" if end.has_snapshot else hint
    return Outcome("non-number", sentence, hint, changes=changes, is_resumed=end.has_snapshot, is_final=True)


def _out_of_memory(end: End) -> Outcome:
    used = f", of which the job had {end.peak / 1e9:.1f} GB" if end.peak else ""
    size = number(end.settings.get("batch_size"))
    less = None if size is None or size < 2 else str(int(size) // 2)
    changes = () if less is None else (("batch_size", less),)
    words = [f"batch_size {size:g} -> {less}"] if less is not None else []
    hint = ", or ".join([*words, "smaller images, fewer data-loading workers, or fewer other programs"])
    return Outcome("out-of-memory", f"There was no memory left{used}.", hint, changes=changes)


def _killed(end: End) -> Outcome:
    how = "Its supervisor and its process were lost" if end.signal is None else _by_signal(end.signal)
    return Outcome("killed", f"{how}.", "resume it from its last snapshot; its output and the system's log may say why")


def _by_signal(number: int) -> str:
    return f"Its process was killed by signal {number}"


def _again(outcome: Outcome, before: Outcome | None, end: End) -> Outcome:
    """The outcome in the light of the one before: what happened twice in the same way happens a third time."""
    if outcome.word == "out-of-memory":
        is_second = before is not None and before.word == "out-of-memory"
        return dataclasses.replace(outcome, is_final=is_second or end.code is not None)
    is_own = outcome.word == "hung" or (outcome.word == "killed" and end.signal not in _FROM_OUTSIDE)
    if is_own and before is not None and before.word in ("killed", "hung") and end.step and end.step == before.step:
        sentence = f"{outcome.sentence} It was the second time at iteration {end.step}."
        hint = "an example or a step of that iteration ends the process: see its output; another seed meets it later"
        return dataclasses.replace(outcome, word="poisoned", sentence=sentence, hint=hint, is_final=True)
    return outcome


def _half(settings: Mapping[str, Any], name: str) -> str | None:
    value = number(settings.get(name))
    return None if value is None or value <= 0 else f"{value / 2:g}"
