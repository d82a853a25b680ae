"""Suggestions for misspelled words of a command line."""

import difflib
import re
from collections.abc import Sequence

_CHOICE = re.compile(r"invalid choice: '?(?P<word>[^'\s]*)'? \(choose from (?P<choices>.*)\)$", re.DOTALL)
_UNKNOWN = "unrecognized arguments: "


def did_you_mean(message: str, options: Sequence[str], settings: Sequence[str] = ()) -> str:
    """argparse's error message, with a similar allowed word on a second line, if there is one.

    options: those of the verb, for unknown options; settings: names of its words KEY=VALUE
    """
    lines = []
    if choice := _CHOICE.search(message):
        choices = [each.strip("' ") for each in choice["choices"].split(",")]
        lines = _nearest(choice["word"], choices)
    elif message.startswith(_UNKNOWN):
        for word in message.removeprefix(_UNKNOWN).split():
            if word.startswith("-"):
                option, _, value = word.partition("=")
                setting = option.lstrip("-").replace("-", "_")
                named = [f"{setting}={value or 'VALUE'}"] if setting in settings else []
                lines += named or _nearest(option, options)
            elif "--model" in options and word.endswith(".safetensors"):
                lines.append(f"--model {word}")
    return message + "".join(f"\n  did you mean {each}?" for each in lines)


def _nearest(word: str, allowed: Sequence[str]) -> list[str]:
    # one may be the start of the other: detect, detection
    same = [each for each in allowed if len(word) > 2 and (each.startswith(word) or word.startswith(each))]
    return same[:1] or difflib.get_close_matches(word, allowed, n=1, cutoff=0.6)
