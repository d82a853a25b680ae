"""The pages of the API reference: one per public module, or one per folder of it where a module has many names."""

import importlib
import inspect
import re
from collections.abc import Iterable

from site_docstrings import Link, inline
from site_names import PublicName, definition_of, doors, members_of, public_names, summary_of

MANY = 64  # names of a module that still fit on one page
LONG = 40  # lines of a constant that are still shown
_TOKEN = re.compile(r"[\w.]+")


def reference_pages() -> dict[str, str]:
    """Path of each page below `reference/`, without its ending, and its reStructuredText."""
    pages = {"index": _index()}
    for door in doors():
        pages |= _pages_of(door)
    return pages


def meaning_of(written: str, door: str) -> str | None:
    """The full public name of the entry that `written` means on a page of `door`, or None.

    written: "nms", "geometry.nms", "L.ResNet50" or "cvzoo.geometry.nms"; with or without `()` at its end
    A bare name means the module's own, else the only one of that name anywhere.
    """
    name = written.removesuffix("()")
    if not _TOKEN.fullmatch(name):
        return None
    head, _, last = name.rpartition(".")
    head = {"L": "links", "F": "functions", "T": "transforms"}.get(head, head)
    owners = _owners().get(last, {})
    if head:
        full = head if head.startswith("cvzoo") else f"cvzoo.{head}"
        return owners.get(full)
    if door in owners:
        return owners[door]
    places = set(owners.values())
    return places.pop() if len(places) == 1 and _is_telling(last) else None


def _is_telling(name: str) -> bool:
    """Whether a bare name is hardly an argument's or a plain word: it has a capital inside, or an underscore."""
    return "_" in name or re.search(r"[a-z][A-Z]|[A-Z]{2}", name) is not None


_OWNERS: dict[str, dict[str, str]] = {}


def _owners() -> dict[str, dict[str, str]]:
    """name -> {door: path of the entry}."""
    if not _OWNERS:
        for each in public_names():
            _OWNERS.setdefault(each.name, {})[each.door] = each.entry
    return _OWNERS


def _index() -> str:
    rows = [(f":doc:`{door} <{door}>`", inline(_first_sentence(door), _linker(door))) for door in doors()]
    intro = (
        "Every public name, with its signature and its source. ``import cvzoo.links as L`` and "
        "``import cvzoo.functions as F`` are the usual short names. The search field finds names and words of their "
        "descriptions."
    )
    toctree = [".. toctree::", "   :hidden:", "", *(f"   {door}" for door in doors())]
    return "\n".join([*_title("API reference"), intro, "", *_table(rows), "", *toctree, ""])


def _pages_of(door: str) -> dict[str, str]:
    names = [each for each in public_names() if each.door == door]
    own = [each for each in names if not each.is_alias]
    folders = sorted({each.folder for each in own}) if len(own) > MANY else [""]
    lines = [*_title(door), f".. py:module:: {door}", "", inline(_first_sentence(door), _linker(door)), ""]
    if len(folders) == 1:
        return {door: "\n".join([*lines, *_summary(own), *_entries(own), *_aliases(names)])}
    pages = {}
    for folder in folders:
        inside = [each for each in own if each.folder == folder]
        title = _title_of(door, folder)
        lines += [f".. rubric:: {title}", "", *_summary(inside)]
        if folder:
            path = f"{door}.{folder.replace('/', '.')}"
            text = [*_title(title), f"Names of :py:mod:`{door}`.", "", f".. py:currentmodule:: {door}", ""]
            pages[path] = "\n".join([*text, *_summary(inside), *_entries(inside)])
    core = [each for each in own if not each.folder]
    if core:
        lines += [*_title(_title_of(door, ""), "-"), *_entries(core)]
    toctree = [".. toctree::", "   :hidden:", "", *(f"   {path}" for path in pages), ""]
    return {door: "\n".join([*lines, *_aliases(names), *toctree]), **pages}


def _entries(names: Iterable[PublicName]) -> list[str]:
    lines = []
    for each in sorted(names, key=lambda each: each.name.casefold()):
        if each.kind == "data":
            found = definition_of(each.door, each.name)
            value = found.value if found is not None else repr(each.value)
            lines += [f".. py:data:: {each.name}", "", f"   {inline(summary_of(each), _linker(each.door))}", ""]
            if value.count("\n") < LONG:
                lines += ["   .. code-block:: python", "", *(f"      {line}" for line in value.split("\n")), ""]
        elif each.kind == "class":
            members = ", ".join(members_of(each.value))
            shown = [f"   :members: {members}"] if members else []
            lines += [f".. autoclass:: {each.path}", *shown, "   :show-inheritance:", ""]
        else:
            lines += [f".. autofunction:: {each.path}", ""]
    return lines


def _aliases(names: Iterable[PublicName]) -> list[str]:
    lines = []
    for each in names:
        if each.is_alias:
            lines += [f".. py:{each.kind}:: {each.name}", "", f"   The same as :py:obj:`{each.entry}`.", ""]
    return [*_title("Names of other rooms", "-"), *lines] if lines else []


def _summary(names: Iterable[PublicName]) -> list[str]:
    rows = [
        (f":py:obj:`{each.name} <{each.path}>`", inline(summary_of(each), _linker(each.door)))
        for each in sorted(names, key=lambda each: each.name.casefold())
    ]
    return _table(rows)


def _table(rows: list[tuple[str, str]]) -> list[str]:
    if not rows:
        return []
    lines = [".. list-table::", "   :widths: 1 2", "   :class: names", ""]
    for left, right in rows:
        lines += [f"   * - {left}", f"     - {right}"]
    return [*lines, ""]


def _title(text: str, line: str = "=") -> list[str]:
    return [text, line * len(text), ""]


def _title_of(door: str, folder: str) -> str:
    if not folder:
        return "Core"
    package = importlib.import_module(f"{door}.{folder.replace('/', '.')}")
    sentence = (inspect.getdoc(package) or "").split("\n\n")[0].replace("\n", " ").rstrip(".")
    plain = folder.rsplit("/", 1)[-1].replace("_", " ")
    return sentence if 0 < len(sentence) <= 60 and "`" not in sentence else plain[:1].upper() + plain[1:]


def _first_sentence(door: str) -> str:
    return " ".join((inspect.getdoc(importlib.import_module(door)) or "").split("\n\n")[0].split())


def _linker(door: str) -> Link:
    return lambda written: meaning_of(written, door)
