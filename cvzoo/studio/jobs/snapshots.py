"""Snapshots of a run: those of its training, which removes all but the newest, and those that people keep.

A kept one has a second name in a folder of its own, so that it stays when the training, another process, removes the
first.
"""

import contextlib
import dataclasses
import os
import pathlib
import stat
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from cvzoo.studio.jobs.curves import X_KEYS, keys_of
from cvzoo.studio.jobs.files import KEPT, run_file, run_snapshots
from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.studio.jobs.rows import Row, all_rows
from cvzoo.studio.jobs.run_record import DATA, METRICS, best_of, number
from cvzoo.studio.jobs.scores import classes_of
from cvzoo.training.run.class_scores import class_scores

Keeper: TypeAlias = Literal["person", "best", "policy"]
_MAX_LISTED = 1000


@dataclasses.dataclass(frozen=True)
class RunSnapshot:
    """A snapshot of a run. name: of the file, as of `run_file`; size: bytes; epoch: None if it is not known

    scores: values that the log has at the iteration, but those of one class
    kept: "person": until a person takes that back; "policy": as long as the training does; "best": that, too, of the
        one with the best score
    """

    iteration: int
    name: str
    size: int
    epoch: float | None
    scores: dict[str, float]
    kept: Keeper

    def to_json(self) -> dict[str, Any]:
        """For the REST interface."""
        return dataclasses.asdict(self)


def snapshots(
    run: pathlib.Path, best_key: str | None, best_is: str, rows: list[Row] | None = None
) -> list[RunSnapshot]:
    """The snapshots by iteration, the newest 1,000.

    best_key, best_is: as of RunRecord; rows: of the log, None: they are read
    """
    names = run_snapshots(run)[-_MAX_LISTED:]
    if not names:
        return []
    rows = all_rows(run / METRICS)[0] if rows is None else rows
    of_classes = class_scores(keys_of(rows), classes_of(read_json_object(run / DATA))).all_keys
    at = {iteration: row for row in rows if (iteration := number(row.get("iteration"))) is not None}
    best = best_of(rows, best_key, best_is) or {}
    found = []
    for name in names:
        path = run_file(run, name)
        try:
            size = 0 if path is None else path.stat().st_size
        except OSError:  # a training replaces its snapshots
            continue
        iteration = int(name.rpartition("_")[2].removesuffix(".npz"))
        row = at.get(iteration, {})
        keys = [key for key in row if key not in X_KEYS and key not in of_classes]
        scores = {key: value for key in keys if (value := number(row[key])) is not None}
        is_kept = run_file(run, f"{KEPT}/{name_of(iteration)}") is not None
        keeper: Keeper = "person" if is_kept else "best" if best.get("iteration") == iteration else "policy"
        found.append(RunSnapshot(iteration, name, size, number(row.get("epoch")), scores, keeper))
    return found


def name_of(iteration: int) -> str:
    """The name of a snapshot's file."""
    return f"snapshot_iter_{iteration}.npz"


def keep(run: pathlib.Path, iteration: int) -> None:
    """Keeps the snapshot; nothing if it is kept. Raises FileNotFoundError if there is none, OSError."""
    name = name_of(iteration)
    with _opened(run) as own:
        with contextlib.suppress(FileExistsError):
            os.mkdir(KEPT, 0o700, dir_fd=own)
        with _opened(KEPT, own) as kept, contextlib.suppress(FileExistsError):
            os.link(name, name, src_dir_fd=own, dst_dir_fd=kept, follow_symlinks=False)
            if not stat.S_ISREG(os.stat(name, dir_fd=kept, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=kept)
                raise FileNotFoundError(f"{name} is no file")


def release(run: pathlib.Path, iteration: int) -> None:
    """Leaves the snapshot to the training, which may have removed it; nothing if it is not kept. Raises OSError."""
    with contextlib.suppress(FileNotFoundError), _opened(run) as own, _opened(KEPT, own) as kept:
        os.unlink(name_of(iteration), dir_fd=kept)


@contextlib.contextmanager
def _opened(folder: str | os.PathLike[str], parent: int | None = None) -> Iterator[int]:
    """A descriptor of the folder, which is no link: the job may write where its folder is."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
