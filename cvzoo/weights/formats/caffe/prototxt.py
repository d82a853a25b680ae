"""Reads a `.prototxt`: every message becomes a dict by field name.

Source: the text format of protocol buffers (https://protobuf.dev/reference/protobuf/textformat-spec). We differ:
extension names in brackets are refused; unknown fields keep their values as written.
"""

import math
import os
import re
from collections.abc import Iterator
from typing import Any

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.files.file_bytes import file_bytes
from cvzoo.weights.formats.caffe.schema import ENUMS, MESSAGES, V1_SPELLING, Field

MAX_BYTES = 4 << 20  # the largest public networks have half a megabyte
MAX_DEPTH = 30
_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r\f\v]+|\#[^\n]*)|(?P<line>\n)|(?P<name>[A-Za-z_]\w*)
    |(?P<number>-?\s{0,8}(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]?|(?:inf|nan)\w*))
    |(?P<string>"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*')|(?P<mark>[{}<>\[\]:;,])""",
    re.VERBOSE | re.ASCII,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_CLOSING = {"{": "}", "<": ">"}


class Word(str):
    """A bare word such as MAX or true, as opposed to a quoted string."""


def read_prototxt(path_or_text: str | os.PathLike) -> dict:
    """The NetParameter message in a text file, as a dict.

    path_or_text: a path; or the text itself, recognized by its line breaks or braces
    Each layer's dict also contains "line", its first line, from 1.
    Raises FileFormatError that names the line.
    """
    if isinstance(path_or_text, str) and ("\n" in path_or_text or "{" in path_or_text):
        text, where = path_or_text, "prototxt"
    else:
        where = os.path.basename(path_or_text)
        text = file_bytes(path_or_text, limit=MAX_BYTES).decode("utf-8", errors="replace")
    parser = _Parser(text, where)
    return parser.message("NetParameter", None, 0, 1)


class _Parser:
    def __init__(self, text: str, where: str):
        self._tokens = self._cut(text)
        self._where = where
        self.line = 1
        self._next_line = 1
        self._next: tuple[str, str] | None = None
        self._advance()

    def _cut(self, text: str) -> Iterator[tuple[str, str]]:
        position = 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                self.line = self._next_line
                raise self.error(f"cannot read {text[position : position + 20]!r}")
            position = match.end()
            if match.lastgroup == "line":
                self._next_line += 1
            elif match.lastgroup != "blank":
                yield str(match.lastgroup), match.group()

    def _advance(self) -> tuple[str, str] | None:
        """Returns the current token and advances to the next; `line` is the line of the current one."""
        token = self._next
        self._next = next(self._tokens, None)
        self.line = self._next_line
        return token

    def error(self, what: str) -> FileFormatError:
        return FileFormatError(f"{self._where}, line {self.line}: {what}")

    def message(self, kind: str | None, closing: str | None, depth: int, line: int) -> dict:
        """The fields up to the closing mark; kind None is an unknown message.

        line: of the message's name
        """
        if depth > MAX_DEPTH:
            raise self.error(f"messages are nested more than {MAX_DEPTH} deep")
        fields = MESSAGES.get(kind or "", {})
        values: dict[str, Any] = {}
        if kind in ("LayerParameter", "V1LayerParameter"):
            values["line"] = line
        while self._next != (("mark", closing) if closing else None):
            if self._next is None:
                raise self.error(f"the text ends where a {closing!r} is due")
            token, name = self._next
            if token != "name":
                raise self.error(f"a field's name is due, not {name[:40]!r}")
            field_line = self.line
            self._advance()
            self._field(values, name, fields.get(name), depth, field_line)
            if self._next is not None and self._next[1] in (",", ";") and self._next[0] == "mark":
                self._advance()
        self._advance()
        return values

    def _field(self, values: dict, name: str, field: Field | None, depth: int, line: int) -> None:
        colon = self._next == ("mark", ":")
        if colon:
            self._advance()
        if self._next is None:
            raise self.error(f"{name} has no value")
        if self._next == ("mark", "["):
            self._advance()
            items = []
            while self._next != ("mark", "]"):
                items.append(self._value(name, field, colon, depth, line))
                if self._next == ("mark", ","):
                    self._advance()
            self._advance()
        else:
            items = [self._value(name, field, colon, depth, line)]
        if field is None:  # an unknown field becomes a list if it is repeated
            if name not in values:
                values[name] = items[0] if len(items) == 1 else items
            elif isinstance(values[name], list):
                values[name].extend(items)
            else:
                values[name] = [values[name], *items]
        elif field.repeated:
            values.setdefault(name, []).extend(items)
        elif len(items) != 1:
            raise FileFormatError(f"{self._where}, line {line}: {name} takes one value, not {len(items)}")
        elif isinstance(items[0], dict) and name in values:
            values[name].update(items[0])
        else:
            values[name] = items[0]

    def _value(self, name: str, field: Field | None, colon: bool, depth: int, field_line: int) -> object:
        token, text = self._next or ("end", "")
        if token == "mark" and text in _CLOSING:
            if field is not None and field.kind not in MESSAGES:
                raise self.error(f"{name} is not a message")
            self._advance()
            return self.message(None if field is None else field.kind, _CLOSING[text], depth + 1, field_line)
        if not colon or token not in ("name", "number", "string"):
            raise self.error(f"{name}: a value is due, not {text[:40]!r}")
        line = self.line
        self._advance()
        if token == "string":
            parts = [text[1:-1]]
            while self._next is not None and self._next[0] == "string":  # adjacent strings are concatenated
                parts.append(self._next[1][1:-1])
                self._advance()
            value: str | float = _ESCAPE.sub(_unescape, "".join(parts))
        elif token == "number":
            value = _number(text)
        else:
            value = {"true": True, "false": False, "inf": math.inf, "nan": math.nan}.get(text, Word(text))
        try:
            return value if field is None else _typed(value, field)
        except (ValueError, OverflowError) as error:
            kind = "value" if field is None else field.kind
            raise FileFormatError(f"{self._where}, line {line}: {name} is a {kind}, not {text[:40]}") from error


def _unescape(match: re.Match[str]) -> str:
    code: str = match.group(1)
    if code[0] == "x":
        return chr(int(code[1:], 16))
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    return _LETTERS.get(code, code)


def _number(text: str) -> int | float:
    text = "".join(text.split())
    digits = text.removeprefix("-")
    if len(text) > 60:
        return math.nan
    if digits[:2] in ("0x", "0X"):
        return int(text, 16)
    if digits.isdecimal():
        is_octal = len(digits) > 1 and digits[0] == "0" and not set(digits) & set("89")
        return int(text, 8 if is_octal else 10)
    return float(text.rstrip("fF") if digits[0] not in "in" else text[: 4 if text[0] == "-" else 3])


def _typed(value: Any, field: Field) -> str | float:
    """The value converted to its field's kind. Raises ValueError if it is invalid."""
    kind = field.kind
    if kind in MESSAGES or kind == "Blob":
        raise ValueError
    if kind == "string":
        if not isinstance(value, str) or isinstance(value, Word):
            raise ValueError
        return value
    if kind in ENUMS:
        return _enumerated(value, ENUMS[kind], V1_SPELLING if kind == "V1LayerType" else {})
    if isinstance(value, str):
        raise ValueError
    if kind == "bool":
        if value not in (0, 1):
            raise ValueError
        return bool(value)
    if kind in ("float", "double"):
        return float(value)
    if isinstance(value, (bool, float)) or not -(1 << 63) <= value < 1 << 63 or (kind == "uint32" and value < 0):
        raise ValueError
    return value


def _enumerated(value: object, names: dict[int, str], spelling: dict[str, str]) -> str:
    if type(value) is int and value in names:
        return names[value]
    name = spelling.get(value, value) if isinstance(value, str) else value
    if name not in names.values():
        raise ValueError
    return str(name)
