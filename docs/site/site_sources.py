"""The package's source as plain pages, which the entries of the API reference link to, line by line."""

import ast
import functools
import html
import importlib
import inspect
import pathlib

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from site_names import PACKAGE, PublicName, definition_of, entries

FOLDER = "source"
_STYLE = """
body { margin: 0; font-family: system-ui, sans-serif; background: #fff; color: #222 }
header { padding: .6rem 1rem; border-bottom: 1px solid #8884 }
a { color: #0a4bff } pre { margin: 0; padding: 1rem; line-height: 1.45; overflow-x: auto; font-size: .85rem }
span[id]:target { background: #ff03; outline: 2px solid #fa08 }
"""
_DARK = "body { background: #131416; color: #ddd } a { color: #8ab4ff }"


def source_address(path: str) -> str | None:
    """Where the source of a public name, or of a method of one, stands, from a page of the reference; or None."""
    owner, _, member = path.rpartition(".")
    for name, inner in ((path, ""), (owner, member)):
        if (entry := entries().get(name)) is not None:
            return _address(entry.value, inner) if entry.kind != "data" else _address_of_constant(entry)
    return None


def _address_of_constant(entry: PublicName) -> str | None:
    found = definition_of(entry.door, entry.name)
    return None if found is None else f"../{FOLDER}/{_page_of(found.file)}#L-{found.line}"


def _address(value: object, member: str) -> str | None:
    if member:  # it may stand in a base
        value = next((base for base in getattr(value, "__mro__", ()) if member in vars(base)), value)
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not module or not name or not module.startswith("cvzoo"):
        return None
    file = inspect.getsourcefile(importlib.import_module(module))
    line = _lines(file).get(f"{name}.{member}" if member else name)
    return None if line is None else f"../{FOLDER}/{_page_of(pathlib.Path(file))}#L-{line}"


@functools.cache
def _lines(file: str) -> dict[str, int]:
    """Qualified name -> line, of the functions and classes of a file."""
    found: dict[str, int] = {}

    def look(nodes: list[ast.stmt], prefix: str) -> None:
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.setdefault(prefix + node.name, node.lineno)
                look(node.body if isinstance(node, ast.ClassDef) else [], f"{prefix}{node.name}.")

    look(ast.parse(pathlib.Path(file).read_text("utf-8")).body, "")
    return found


def write_sources(site: pathlib.Path) -> None:
    """Write a page for each file of the package that holds code, below `source/` of a built site."""
    light, dark = HtmlFormatter(style="friendly"), HtmlFormatter(style="github-dark")
    colours = f"{_STYLE}{light.get_style_defs('pre')}\n@media (prefers-color-scheme: dark) {{ {_DARK}"
    style = f"{colours}\n{dark.get_style_defs('pre')} }}"
    formatter = HtmlFormatter(nowrap=False, lineanchors="L", linespans="L", wrapcode=False)
    (site / FOLDER).mkdir(parents=True, exist_ok=True)
    (site / FOLDER / "style.css").write_text(style, "utf-8")
    for file in sorted(PACKAGE.rglob("*.py")):
        text = file.read_text("utf-8")
        page = site / FOLDER / _page_of(file)
        page.parent.mkdir(parents=True, exist_ok=True)
        up = "../" * (len(page.relative_to(site).parts) - 1)
        page.write_text(_page(file, highlight(text, PythonLexer(), formatter), up), "utf-8")


def _page_of(file: pathlib.Path) -> str:
    return str(file.relative_to(PACKAGE.parent).with_suffix(".html"))


def _page(file: pathlib.Path, code: str, up: str) -> str:
    title = html.escape(str(file.relative_to(PACKAGE.parent)))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width">'
        f'<link rel="stylesheet" href="{up}{FOLDER}/style.css"></head><body>'
        f'<header><a href="{up}reference/index.html">API reference</a> / <code>{title}</code></header>{code}'
        "</body></html>"
    )
