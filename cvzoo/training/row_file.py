"""A text file of rows that can be appended to, and truncated to its first rows."""

import contextlib
import os
import pathlib

from cvzoo.typing.aliases import FilePath


class RowFile:
    """Appends rows to a file, each of them atomically.

    path: the file
    keep: number of rows of the existing file to keep; the others, and an incomplete row, are removed. None: starts an
        empty file
    n_row: number of rows; fewer than `keep` if the file has lost some
    """

    def __init__(self, path: FilePath, *, keep: int | None = None):
        self.path = pathlib.Path(path)
        ends = [0] if keep is None else _row_ends(self.path, keep)
        self.n_row = len(ends) - 1
        self._size = ends[-1]
        with open(self.path, "ab") as file:
            file.truncate(self._size)

    def append(self, row: str) -> None:
        """Appends a row, a text without line ends. Raises OSError if that fails; the file is unchanged then."""
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
        """Flushes all rows to the disk; a file that was removed meanwhile is not an error."""
        with contextlib.suppress(FileNotFoundError), open(self.path, "r+b") as file:
            os.fsync(file.fileno())


def _row_ends(path: pathlib.Path, n: int) -> list[int]:
    """The offsets of the ends of the first n rows, after a 0; fewer if there are fewer complete rows."""
    ends = [0]
    if path.is_file():
        with open(path, "rb") as file:
            for line in file:
                if len(ends) > n or not line.endswith(b"\n"):
                    break
                ends.append(ends[-1] + len(line))
    return ends
