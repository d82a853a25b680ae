"""Readers of darknet's files: the `.cfg` that defines a network, and the `.weights` with its values.

The weights file is an array of floats without names: they are assigned to layers in the order of the cfg, and the last
layer must end exactly at the end of the file.
Source: darknet (Redmon, https://pjreddie.com/darknet), the behavior of its `src/parser.c`. We differ: a line that
darknet warns about (no `=`, an option before the first section) is an error here.
"""

import dataclasses
import math
import os
import pathlib
import struct
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from cvzoo.errors.exceptions import FileError, FileFormatError, ShapeError
from cvzoo.files.file_bytes import file_bytes, file_size

CFG_LIMIT = 1 << 20  # the largest public cfg has 30 kB
MAX_SECTIONS = 10_000  # and some 300 sections
_Value = TypeVar("_Value")
_WANTED = object()  # marks "no default": an absent option is then an error


@dataclasses.dataclass(frozen=True)
class DarknetSection:
    """A section `[name]` of a cfg with its options as text; `line` is its first line, from 1.

    cfg: name of the cfg in errors, its path if it has one
    options: name -> text, the first of duplicate names, as in darknet
    option_lines: name -> line
    The getters convert values, and raise FileFormatError that names section, line and option.
    """

    name: str
    options: dict[str, str]
    line: int
    option_lines: dict[str, int] = dataclasses.field(default_factory=dict)
    cfg: str = dataclasses.field(default="cfg", compare=False)

    def __str__(self) -> str:
        return f"[{self.name}] at line {self.line}"

    def get_str(self, option: str, default: str | object = _WANTED) -> str:
        """The option's text, or `default`."""
        return self._get(option, default, str, "text")

    def get_int(self, option: str, default: int | object | None = _WANTED) -> int:
        """The option as an integer, or `default`."""
        return self._get(option, default, _integer, "an integer")

    def get_float(self, option: str, default: float | object | None = _WANTED) -> float:
        """The option as a finite number, or `default`."""
        return self._get(option, default, _finite, "a number")

    def get_bool(self, option: str, default: bool | object = _WANTED) -> bool:
        """The option as a bool: 0 is False, any other integer is True; or `default`."""
        return self._get(option, default, lambda text: _integer(text) != 0, "0 or 1")

    def get_ints(self, option: str, default: Sequence[int] | object | None = _WANTED) -> tuple[int, ...]:
        """The option as a tuple of integers, separated by commas; or `default`."""
        return self._get(option, default, lambda text: tuple(map(_integer, _split(text))), "integers with commas")

    def get_floats(self, option: str, default: Sequence[float] | object | None = _WANTED) -> tuple[float, ...]:
        """The option as a tuple of finite numbers, separated by commas; or `default`."""
        return self._get(option, default, lambda text: tuple(map(_finite, _split(text))), "numbers with commas")

    def error(self, what: str, *, option: str | None = None, hint: str | None = None) -> FileFormatError:
        """The error to raise, with this section and its line (or the option's line)."""
        line = self.line if option is None else self.option_lines.get(option, self.line)
        return FileFormatError(f"{self.cfg} line {line}, [{self.name}]: {what}", hint=hint)

    def _get(self, option: str, default: Any, convert: Callable[[str], _Value], kind: str) -> _Value:
        if option not in self.options:
            if default is _WANTED:
                raise self.error(f"option {option!r} is missing")
            return default
        try:
            return convert(self.options[option])
        except (ValueError, OverflowError) as error:
            raise self.error(f"{option}={self.options[option][:80]} is not {kind}", option=option) from error


def _split(text: str) -> list[str]:
    return [part for part in text.split(",") if part]  # some lists in darknet's own files end with a comma


def _integer(text: str) -> int:
    if len(text) > 32:
        raise ValueError("number too long to parse")
    value = float(text)
    if not value.is_integer():
        raise ValueError("expected an integer")
    return int(value)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("expected a finite number")
    return value


def read_darknet_cfg(path_or_text: str | os.PathLike) -> list[DarknetSection]:
    """The sections of a cfg, in order.

    path_or_text: a path; or the text itself, recognized by its line breaks
    Raises FileFormatError that names the line; FileError if the file does not exist.
    """
    if isinstance(path_or_text, str) and "\n" in path_or_text:
        text, cfg = path_or_text, "cfg"
    else:
        cfg = os.fspath(path_or_text)
        raw = file_bytes(path_or_text, limit=CFG_LIMIT)
        if b"\0" in raw:
            raise FileFormatError(f"{path_or_text}: holds zero bytes, so it is no darknet cfg")
        text = raw.decode("utf-8", errors="replace")  # comments have various encodings
    sections: list[DarknetSection] = []
    for number, raw_line in enumerate(text.split("\n"), start=1):
        line = "".join(raw_line.lstrip("\ufeff").split())  # darknet removes all spaces, also within values
        if not line or line[0] in "#;":
            continue
        line = line.split("#", 1)[0]
        if line[0] == "[":
            if not line.endswith("]") or len(line) < 3:
                raise FileFormatError(f"{cfg} line {number}: a section's name is not closed: {line[:80]!r}")
            if len(sections) == MAX_SECTIONS:
                raise FileFormatError(f"{cfg} line {number}: more than {MAX_SECTIONS} sections")
            sections.append(DarknetSection(line[1:-1].lower(), {}, number, cfg=cfg))
            continue
        option, equals, value = line.partition("=")
        if not equals or not option:
            raise FileFormatError(f"{cfg} line {number}: neither [section] nor option=value: {line[:80]!r}")
        if not sections:
            raise FileFormatError(f"{cfg} line {number}: an option precedes the first [section]: {line[:80]!r}")
        if option not in sections[-1].options:
            sections[-1].options[option] = value
            sections[-1].option_lines[option] = number
    if not sections:
        raise FileFormatError(f"{cfg}: no sections", hint="a darknet cfg begins with [net]")
    if sections[0].name not in ("net", "network"):
        raise sections[0].error("the first section must be [net]")
    return sections


class DarknetWeightsFile:
    """A `.weights` file, read sequentially; also a context manager.

    major, minor, revision: the version in the header
    seen: number of training images, darknet's name
    transposed: whether fully connected layers are stored (in, out), as in very old files
    n_float: number of float32 values after the header; `left` of them are still to be read
    Raises FileFormatError if the header is truncated or not darknet's.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = pathlib.Path(path)
        self._size = file_size(path)
        try:
            self._file = open(path, "rb")  # noqa: SIM115  closed by close(); the object is the context manager
        except OSError as error:
            raise FileError(f"{path}: cannot be read: {error}") from error
        try:
            self._read_header()
        except BaseException:
            self._file.close()
            raise

    def _read_header(self) -> None:
        head = self._file.read(20)
        if len(head) < 16:
            raise FileFormatError(f"{self.path}: ends inside of the header", expected="16 bytes or more", got=len(head))
        self.major, self.minor, self.revision = struct.unpack_from("<3i", head)
        if not all(0 <= number < 100_000 for number in (self.major, self.minor, self.revision)):
            raise FileFormatError(
                f"{self.path}: the header is not darknet's",
                expected="a version such as 0.2.0",
                got=f"{self.major}.{self.minor}.{self.revision}",
            )
        # since version 0.2, the number of images has 64 bits
        wide = self.major * 10 + self.minor >= 2 and self.major < 1000 and self.minor < 1000
        if wide and len(head) < 20:
            raise FileFormatError(f"{self.path}: ends inside of the header", expected="20 bytes", got=len(head))
        (self.seen,) = struct.unpack_from("<Q" if wide else "<i", head, 12)
        self.transposed = self.major > 1000 or self.minor > 1000
        self.header_size = 20 if wide else 16
        self._file.seek(self.header_size)
        self.n_float, self._odd = divmod(self._size - self.header_size, 4)
        self.left = self.n_float

    def take(self, shape: int | Sequence[int], layer_name: str) -> np.ndarray:
        """The next floats as a new float32 array of the shape.

        layer_name: for errors
        Raises FileFormatError, naming the layer, if fewer are left; ShapeError for an invalid shape.
        """
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        if any(n < 0 for n in shape):
            raise ShapeError(f"{layer_name}: a shape has no negative sizes", got=shape)
        n = math.prod(shape)
        if n > self.left:
            raise FileFormatError(
                f"{self.path.name}: ends inside of {layer_name}",
                expected=f"{n} floats of shape {shape}",
                got=f"{self.left} of the file's {self.n_float} left",
                hint="the cfg and the weights must match; otherwise download the weights again",
            )
        raw = self._file.read(4 * n)
        if len(raw) != 4 * n:  # the file was truncated while it was read
            raise FileFormatError(f"{self.path.name}: ends inside of {layer_name}; it changed while being read")
        self.left -= n
        return np.frombuffer(raw, "<f4").astype(np.float32).reshape(shape)

    def expect_end(self) -> None:
        """Raises FileFormatError with the number of remaining floats unless all were read."""
        if self.left or self._odd:
            odd = f" and {self._odd} bytes" if self._odd else ""
            raise FileFormatError(
                f"{self.path.name}: {self.left} floats{odd} of {self.n_float} are left over",
                hint="the cfg defines a smaller network than that of the weights",
            )

    def close(self) -> None:
        """Close the file; repeated calls have no effect."""
        self._file.close()

    def __enter__(self) -> "DarknetWeightsFile":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()
