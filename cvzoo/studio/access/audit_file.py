"""The audit as a file beside the database, which is only appended to: it outlives a lost database."""

import errno
import fcntl
import json
import os
import pathlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from sqlalchemy import Engine

from cvzoo.studio.place import AUDIT_FILE

# at, user, address, action, object, detail: as the database has them
Row: TypeAlias = tuple[int, str | None, str, str, str, str]
_KEYS = ("at", "user", "address", "action", "object")


def audit_file(engine: Engine) -> pathlib.Path:
    """The path of the file of a studio's database."""
    return pathlib.Path(str(engine.url.database)).with_name(AUDIT_FILE)


def append_rows(path: pathlib.Path, rows: Sequence[Row]) -> bool:
    """Whether the file took the lines; that it did not is told on the terminal only, as the database has the rows."""
    trees = (dict(zip(_KEYS, row)) | {"detail": json.loads(row[-1])} for row in rows)
    data = b"".join(json.dumps(tree).encode() + b"\n" for tree in trees)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # or the end of half a line could be that of another one
            before = os.fstat(descriptor).st_size
            if os.write(descriptor, data) < len(data):
                os.ftruncate(descriptor, before)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(descriptor)
    except OSError as error:
        what = f"{rows[0][3]}{f' and {len(rows) - 1} more' if len(rows) > 1 else ''}"
        print(f"cvzoo studio: {path} lacks {what}, which the database has: {error}", file=sys.stderr, flush=True)
        return False
    return True


def end_of(path: pathlib.Path) -> tuple[int, list[Row]]:
    """(the number of lines of the file, which may be missing; its last row, if it has one). Raises OSError."""
    lines = path.read_bytes().splitlines() if path.is_file() else []
    row = _row(lines[-1]) if lines else None
    return len(lines), [] if row is None else [row]


def read_rows(path: pathlib.Path) -> Iterator[Row]:
    """The rows of the file, which may be missing; lines that are malformed are left out. Raises OSError."""
    if not path.is_file():
        return
    with open(path, "rb") as file:
        for line in file:
            row = _row(line)
            if row is not None:
                yield row


def _row(line: bytes) -> Row | None:
    try:
        tree: dict[str, Any] = json.loads(line)
        at, user, *texts = (tree[key] for key in _KEYS)
        detail = json.dumps(tree["detail"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    is_right = isinstance(at, int) and 0 <= at < 2**62 and isinstance(user, str | None)
    if not is_right or not all(isinstance(each, str) for each in texts):
        return None
    address, action, thing = texts
    return at, user, address, action, thing, detail
