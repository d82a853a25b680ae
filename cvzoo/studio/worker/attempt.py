"""What a server and the supervisor of an attempt at a job both know: files, limits and the environment.

The server imports no more of the supervisor, which is a program of its own.
"""

import dataclasses
import os
import shutil
import tempfile

STARTED, EXIT, ORDER, LOG, CONTROL = "started.json", "exit.json", "order.json", "log.txt", "control"
USAGE = "usage.jsonl"
INTERRUPT, KILL, DUMP = "interrupt", "kill", "dump"  # files in `control`
FAILED = 100
BEAT = "alive-0"  # changes with each batch that is read
# what a training needs of the environment; anything else, such as passwords, is left out
_KEPT = (
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "TMPDIR",
    "TZ",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "LD_LIBRARY_PATH",
    "XDG_CACHE_HOME",
)
_KEPT_PREFIXES = ("CVZOO_", "OMP_", "OPENBLAS_", "MKL_", "CUDA_", "NVIDIA_", "LC_")


@dataclasses.dataclass(frozen=True)
class Limits:
    """Seconds without a mark after which a job hangs, at least.

    iteration: of a training, within an iteration; validation: of all else, such as a validation or an export
    setup: of a training, before its first iteration begins; None of a job without iterations
    start: within the first iteration, whose length is not known before it has ended
    """

    iteration: float = 120.0
    validation: float = 30 * 60.0
    setup: float | None = 10 * 60.0
    start: float = 30 * 60.0


def kept_environment() -> dict[str, str]:
    """The variables of the environment that a training gets."""
    return {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_PREFIXES)}


def temporary_prefix(lock: str) -> str:
    """How the name of an attempt's folder for temporary files begins. lock: its lock file"""
    return f"cvzoo-{os.path.basename(lock)}-"


def delete_temporary(lock: str) -> None:
    """Deletes the folder for temporary files of an attempt whose supervisor was killed."""
    root = tempfile.gettempdir()
    for name in os.listdir(root):
        path = os.path.join(root, name)
        # a folder of another user is none of ours, whatever its name
        if name.startswith(temporary_prefix(lock)) and os.lstat(path).st_uid == os.getuid():
            shutil.rmtree(path, ignore_errors=True)
