"""Whether the data of an evaluation are recognized, answered by a process that may import what reads them."""

import threading

from cvzoo.studio.jobs.answer_of import answer_of

_TIMEOUT_S = 120
_AT_ONCE = threading.Semaphore(2)


def unrecognized(data: str, split: str) -> dict[str, str]:
    """What is wrong with data and split, by field, as `worker.evaluation_data` finds it; empty if they are recognized.

    Raises ConfigError if the process fails, or takes two minutes.
    """
    with _AT_ONCE:
        fields: dict[str, str] = answer_of(
            ["cvzoo.studio.worker.evaluation_data"],
            failed="the data could not be checked",
            timeout=_TIMEOUT_S,
            question={"data": data, "split": split},
        )["fields"]
    return fields
