"""Questions about recipes, answered by a process that may import networks."""

import functools
import threading
from collections.abc import Mapping
from typing import Any

from cvzoo.studio.jobs.answer_of import answer_of

_TIMEOUT_S = 120
_AT_ONCE = threading.Semaphore(2)


@functools.cache
def recipes() -> dict[str, dict[str, Any]]:
    """The listed recipes by name, with task, summary and fields; asked once."""
    return {recipe["name"]: recipe for recipe in _ask({})["recipes"]}


def check(recipe: str, data: str, settings: Mapping[str, str]) -> dict[str, str]:
    """What is wrong with a training, by field; empty if it can be started."""
    fields: dict[str, str] = _ask({"recipe": recipe, "data": data, "settings": dict(settings)})["fields"]
    return fields


def _ask(question: dict[str, Any]) -> dict[str, Any]:
    with _AT_ONCE:
        answer: dict[str, Any] = answer_of(
            ["cvzoo.studio.worker.recipes"],
            failed="the settings could not be checked",
            timeout=_TIMEOUT_S,
            question=question,
        )
    return answer
