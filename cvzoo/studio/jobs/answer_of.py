"""Answers of short processes, which may import what the server does not."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from cvzoo.errors.exceptions import ConfigError
from cvzoo.studio.worker.attempt import kept_environment


def answer_of(module: Sequence[str], *, failed: str, timeout: float, question: Any = None) -> Any:
    """What `python -m MODULE ...` prints as JSON; the question is its standard input, as JSON.

    failed: the beginning of the error, such as "the zoo could not be listed"
    timeout: seconds
    Raises ConfigError after the timeout, or with the last line of its errors if its status is not 0.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-m", *module],
            input=json.dumps(question).encode(),
            capture_output=True,
            timeout=timeout,
            env=kept_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ConfigError(f"{failed} within {timeout:g} s") from None
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise ConfigError(f"{failed}, the process says: {''.join(last)[:300]}")
    return json.loads(done.stdout)
