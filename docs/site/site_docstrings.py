"""The house's plain docstrings as reStructuredText, which Sphinx reads.

The dialect, as CONTRIBUTING has it: a first paragraph; lines `name: (N, 4) float32, meaning`, continued by indented
lines; lines that begin with `Returns`, `Raises` or `Source:`; `>>>` lines; and plain paragraphs. A line that ends in a
full stop well before the margin ends its statement.
"""

import re
from collections.abc import Callable, Iterator

Link = Callable[[str], str | None]  # a name as written -> the full public name that it means, or None

_NAME = r"\*{0,2}[a-z_A-Z][\w.\[\]]*(?:\(\))?"
_FIELD = re.compile(rf"({_NAME}(?:(?:, | and | / | \.\.\. ?){_NAME})*): +(\S.*)")
_LABEL = re.compile(r"(Raises|Returns|Yields|Source|Where we differ)(?::|\b)[ \n]*(.*)")
_ANOTHER = re.compile(r"; (?=[a-z_]\w*(?:, [a-z_]\w*)*: )")
_WORD = re.compile(r"[A-Z][a-z]+")
_PIECE = re.compile(r"`([^`]+)`|(https?://[^\s)]*[^\s).,;])|(\b[A-Z][a-z0-9]+[A-Z]\w*\b)")
_NARROWEST = 104  # a line shorter than this that ends in a full stop was not broken for want of room


def to_rst(docstring: str, link: Link) -> list[str]:
    """Lines of reStructuredText that say what a plain docstring says; `link` turns names into references."""
    lines: list[str] = []
    for block in re.split(r"\n[ \t]*\n", docstring.strip("\n")):
        lines += _block(block.split("\n"), link, is_first=not lines)
    return lines


def inline(text: str, link: Link) -> str:
    """A sentence as reStructuredText: code and names linked where `link` knows them, everything else as it stands."""
    parts, end = [], 0
    for match in _PIECE.finditer(text):
        parts.append(_escaped(text[end : match.start()]))
        code, url, word = match.groups()
        if url:
            parts.append(url)
        else:
            target = link(code or word)
            shown = f":py:obj:`{code or word} <{target}>`" if target else f"``{code}``" if code else _escaped(word)
            # markup must stand alone: an escaped space is no space
            parts.append(f"\\ {shown}\\ " if code or target else shown)
        end = match.end()
    return "".join([*parts, _escaped(text[end:])])


def statements(lines: list[str]) -> Iterator[list[str]]:
    """The lines of a block, those that belong together in one list."""
    current: list[str] = []
    for line in lines:
        if current and not _goes_on(current, line):
            yield current
            current = []
        current.append(line)
    if current:
        yield current


def _goes_on(current: list[str], line: str) -> bool:
    if line.startswith(" "):
        return True
    if current[0].startswith(">>>"):
        return True
    if (label := _LABEL.fullmatch(current[0])) and not label[2]:
        return False  # what belongs to a label alone on its line is indented
    if line.startswith(">>>") or _LABEL.match(line) or _FIELD.match(line):
        return False
    before = current[-1]
    if _FIELD.match(current[0]) and not _LABEL.match(current[0]):
        # fields are continued by indented lines; one that fills its line to the margin may go on without
        return len(before) >= _NARROWEST and not before.endswith(".")
    return len(before) >= _NARROWEST or not before.endswith((".", ":", "?"))


def _block(lines: list[str], link: Link, *, is_first: bool) -> list[str]:
    if is_first and not lines[0].startswith(">>>"):
        # the first sentence may have a colon and is no field for that
        head, rest = _first_sentence(lines)
        return [inline(" ".join(head), link), "", *(_block(rest, link, is_first=False) if rest else [])]
    made: list[str] = []
    for statement in statements(lines):
        made += _statement(statement, link)
    return made


def _first_sentence(lines: list[str]) -> tuple[list[str], list[str]]:
    head = [lines[0]]
    for line in lines[1:]:
        if not _goes_on([lines[0] if not _FIELD.match(lines[0]) else "x", head[-1]], line):
            break
        head.append(line)
    return [line.strip() for line in head], lines[len(head) :]


def _statement(lines: list[str], link: Link) -> list[str]:
    if lines[0].startswith(">>>"):
        return ["", *lines, ""]
    if label := _LABEL.match(lines[0]):
        return _labelled(label[1], label[2], lines[1:], link)
    if _FIELD.match(lines[0]):
        text = " ".join(line.strip() for line in lines)
        return [line for part in _ANOTHER.split(text) for line in _field(part, link)]
    return ["", inline(" ".join(line.strip() for line in lines), link), ""]


def _labelled(label: str, text: str, rest: list[str], link: Link) -> list[str]:
    if not text and rest:  # its own lines below it, each a field
        inner = [line for statement in statements(_dedented(rest)) for line in _statement(statement, link)]
        return ["", f"**{label}**", *(f"    {line}" for line in inner), ""]
    body = inline(" ".join([text, *(line.strip() for line in rest)]).strip(), link)
    return ["", f"**{label}**", f"    {body}", ""]


def _field(text: str, link: Link) -> list[str]:
    match = _FIELD.match(text)
    if match is None:
        return ["", inline(text, link), ""]
    names = re.sub(_NAME, _term, match[1])
    return ["", names, f"    {inline(match[2], link)}", ""]


def _term(name: re.Match[str]) -> str:
    if name[0] == "and":
        return name[0]
    return f"**{name[0]}**" if _WORD.fullmatch(name[0]) else f"``{name[0]}``"


def _dedented(lines: list[str]) -> list[str]:
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    return [line[margin:] for line in lines]


def _escaped(text: str) -> str:
    return re.sub(r"([\\*_|`])", r"\\\1", text)
