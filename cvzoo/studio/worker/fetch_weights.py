"""Downloads the weights of a model of the zoo: `python -m cvzoo.studio.worker.fetch_weights NAME [HIDDEN ...]`.

HIDDEN: what it may not read. Lines of JSON go to standard output: {"done", "total"} of the bytes of a file now and
then, and at the end {"is_here": true} or {"error"}. An interrupted download continues.
"""

import json
import os
import sys
import time
from collections.abc import Callable

from cvzoo.errors.exceptions import CvzooError
from cvzoo.files.home import cvzoo_home
from cvzoo.links.model.families import zoo_members
from cvzoo.studio.client.token_file import token_file
from cvzoo.studio.worker.landlock import restrict
from cvzoo.studio.worker.limits import limit
from cvzoo.studio.worker.parent import end_with_parent
from cvzoo.studio.worker.rights import devices, secrets
from cvzoo.weights.download import fetch_weights

_MEMORY = 12 << 30  # of addresses: the model is loaded once
_N_TASK = 1024
_EVERY_S = 0.2


def main(name: str, *hidden: str) -> int:
    """0 when the weights are there, and a model has loaded them."""
    end_with_parent()
    folder = cvzoo_home() / "weights"
    folder.mkdir(parents=True, exist_ok=True)
    limit(memory=_MEMORY, n_task=_N_TASK)
    restrict(
        readable=None,
        writable=[str(folder), *devices()],
        network=True,
        hidden=[*hidden, str(token_file()), *secrets()],
    )
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no line of progress
    try:
        fetch(name, lambda tree: print(json.dumps(tree), file=out, flush=True))
    except (CvzooError, OSError, MemoryError) as error:
        text = " ".join(str(error).split()) or type(error).__name__
        print(json.dumps({"error": text[:600]}), file=out, flush=True)
        return 1
    print(json.dumps({"is_here": True}), file=out, flush=True)
    return 0


def fetch(name: str, tell: Callable[[dict[str, int | None]], None]) -> None:
    """Downloads the files of a model of the zoo, and loads them once. tell: gets {"done", "total"} of a file

    Raises CvzooError for an unknown name, DownloadError, and what loading raises.
    """
    member = next((each for each in zoo_members() if each.name == name), None)
    if member is None:
        raise CvzooError(f"the zoo has no model {name[:80]!r}")
    told = 0.0

    def progress(done: int, total: int | None) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told >= _EVERY_S or done == total:
            told = now
            tell({"done": done, "total": total})

    for record in member.files:
        fetch_weights(record, progress=progress, pin=False)  # done by the model
    member.make()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
