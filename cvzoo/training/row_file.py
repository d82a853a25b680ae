"""A text file that gets a row now and then, and can be cut back to its first rows."""

import contextlib
import os
import pathlib


class RowFile:
    """Rows at the end of a file: each is there as a whole or not at all.

    path: the file
    keep: how many rows of the file that is there to go on after; what follows, a torn row too, is forgotten. None:
        begin anew
    n_row: how many rows there are; fewer than `keep` if the file has lost some
    """

    def __init__(self, path: str | os.PathLike, *, keep: int | None = None):
        self.path = pathlib.Path(path)
        ends = [0] if keep is None else _row_ends(self.path, keep)
        self.n_row = len(ends) - 1
        self._size = ends[-1]
        with open(self.path, "ab") as file:
            file.truncate(self._size)

    def append(self, row: str) -> None:
        """Add a row, a text without line ends. Raises OSError if it cannot be written; the file is as before then."""
        rest = memoryview(row.encode("utf-8") + b"\n")
        size = self._size + len(rest)
        with open(self.path, "r+b", buffering=0) as file:
            file.seek(self._size)
            try:
                while rest:
                    rest = rest[file.write(rest) :]
            except OSError:
                file.truncate(self._size)
                raise
        self._size = size
        self.n_row += 1

    def sync(self) -> None:
        """Return when all rows have reached the disk; a file that somebody took away meanwhile is no error."""
        with contextlib.suppress(FileNotFoundError), open(self.path, "r+b") as file:
            os.fsync(file.fileno())


def _row_ends(path: pathlib.Path, n: int) -> list[int]:
    """Where the first n rows end, after a 0 for the beginning; fewer if there are fewer whole rows."""
    ends = [0]
    if path.is_file():
        with open(path, "rb") as file:
            for line in file:
                if len(ends) > n or not line.endswith(b"\n"):
                    break
                ends.append(ends[-1] + len(line))
    return ends
