"""Reads the class names of a data.yaml, without a full YAML parser."""

import ast
import re
from collections.abc import Sequence


def names_in_yaml(text: str) -> tuple[str, ...] | None:
    """The value of `names:`: a list on the same line, a list below, or a mapping of numbers to names; None without it.

    Missing numbers become classes without a name.
    """
    lines = text.splitlines()
    for at, line in enumerate(lines):
        match = re.match(r"names\s*:\s*(.*)$", line)
        if match is None:
            continue
        rest = _without_comment(match.group(1)).strip()
        if rest.startswith(("[", "{")):
            return _from_flow(rest + " " + " ".join(map(_without_comment, lines[at + 1 :])))
        return _from_block(lines[at + 1 :])
    return None


def _from_flow(text: str) -> tuple[str, ...]:
    closing = {"[": "]", "{": "}"}[text[0]]
    inside = text[1 : text.index(closing)] if closing in text else text[1:]
    parts = [part.strip() for part in re.split(r""",(?=(?:[^'"]|'[^']*'|"[^"]*")*$)""", inside) if part.strip()]
    return _collected([_pair(part) if text[0] == "{" else (None, part) for part in parts])


def _from_block(lines: Sequence[str]) -> tuple[str, ...] | None:
    pairs: list[tuple[int | None, str]] = []
    for line in lines:
        line = _without_comment(line)
        if not line.strip():
            continue
        item = re.match(r"\s*-\s+(.*)$", line)
        if item is not None:
            pairs.append((None, item.group(1)))
        elif line[0] in " \t" and ":" in line:
            pairs.append(_pair(line))
        else:
            break
    return _collected(pairs) if pairs else None


def _pair(text: str) -> tuple[int | None, str]:
    number, _, name = text.partition(":")
    number = _unquoted(number)
    # the limit keeps a malformed file from making millions of names
    return (int(number) if number.isdecimal() and len(number) < 6 else None), name


def _collected(pairs: Sequence[tuple[int | None, str]]) -> tuple[str, ...]:
    names: dict[int, str] = {}
    for index, (number, name) in enumerate(pairs):
        names[index if number is None else number] = _unquoted(name)
    return tuple(names.get(number, "") for number in range(max(names, default=-1) + 1))


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            return str(ast.literal_eval(text))
        except (ValueError, SyntaxError):
            return text[1:-1]
    return text[1:-1].replace("''", "'") if len(text) > 1 and text[0] == text[-1] == "'" else text


def _without_comment(line: str) -> str:
    return re.sub(r"(^|\s)#.*$", "", line)
