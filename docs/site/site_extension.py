"""What Sphinx is told besides its configuration: the dialect of docstrings, and code that is a public name."""

import functools
import typing
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from site_docstrings import to_rst
from site_names import doors, entries, inherited_of
from site_reference import meaning_of
from site_signatures import source_signature
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python import PyObject, PythonDomain
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.inspect import signature as sphinx_signature
from sphinx.util.inspect import stringify_signature


class PublicNamesInCode(SphinxPostTransform):
    """`L.ResNet50` in the text of a page becomes a link to the entry of the API reference."""

    default_priority = 5  # before references are resolved

    def run(self, **_: Any) -> None:
        """Wrap each such piece of code into a reference."""
        for node in list(self.document.findall(nodes.literal)):
            if isinstance(node.parent, nodes.reference | addnodes.pending_xref | nodes.title):
                continue
            target = meaning_of(node.astext(), "")
            if target is None or _is_foreign(self.env.docname, node):
                continue
            reference = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=target, refexplicit=True, refwarn=True
            )
            node.parent.replace(node, reference)
            reference += node


def _is_foreign(page: str, node: nodes.Node) -> bool:
    """Whether it is another library's name: in the first column of a page that says what it is called here."""
    entry = next((each for each in _ancestors(node) if isinstance(each, nodes.entry)), None)
    return entry is not None and page.startswith("from_") and entry.parent.index(entry) == 0


def _ancestors(node: nodes.Node) -> Iterator[nodes.Node]:
    while node.parent is not None:
        node = node.parent
        yield node


def process_docstring(_app: Sphinx, what: str, name: str, obj: Any, _options: Any, lines: list[str]) -> None:
    """The dialect as reStructuredText, in place."""
    text = "\n".join(lines)
    if text.startswith("Alias for field number"):  # a named tuple's own words
        text = ""
    door = door_of(name)
    lines[:] = to_rst(text, lambda written: meaning_of(written, door)) if text.strip() else []
    if what == "class" and (inherited := inherited_of(obj)):
        names = ", ".join(f":py:obj:`{each} <{path}>`" for each, path in inherited)
        lines += ["", "**Inherited**", f"    {names}", ""]


def process_signature(
    _app: Sphinx, what: str, _name: str, obj: Any, _options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None] | None:
    """Arguments as the source has them; of a class those of its constructor, since `Link.__new__` takes anything."""
    if signature is None or what not in ("class", "function", "method"):
        return None
    written = source_signature(obj)
    if written is not None:
        return written[0], written[1] or returned
    if what != "class" or not signature.startswith("(*args"):
        return None
    try:
        constructor = sphinx_signature(obj.__init__, bound_method=True)
    except (TypeError, ValueError):
        return None
    return stringify_signature(constructor, show_return_annotation=False, unqualified_typehints=True), returned


def skip_member(_app: Sphinx, _what: str, _name: str, obj: Any, skip: bool, _options: Any) -> bool | None:
    """Fields of a named tuple, of which the class's docstring tells, have no entry of their own."""
    doc = getattr(obj, "__doc__", None) or ""
    return True if doc.startswith("Alias for field number") else None


def door_of(path: str) -> str:
    """The public module that a full name belongs to."""
    return max((door for door in doors() if path.startswith(f"{door}.")), key=len, default="")


def public_place(app: Sphinx, env: Any, node: addnodes.pending_xref, content: nodes.TextElement) -> Any:
    """A class or function named by the file that defines it is documented under its public name."""
    target = node.get("reftarget", "")
    path = _by_file().get(target) or _types().get(target)
    if path is None:
        return None
    return env.get_domain("py").resolve_xref(env, node["refdoc"], app.builder, "obj", path, node, content)


@functools.cache
def _types() -> dict[str, str]:
    """Name -> the path of its entry, of classes and types that are alone in it, also against `typing.Iterator`."""
    found: dict[str, list[str]] = {}
    for path, each in entries().items():
        if (each.kind == "class" or each.door == "cvzoo.typing") and not hasattr(typing, each.name):
            found.setdefault(each.name, []).append(path)
    return {name: paths[0] for name, paths in found.items() if len(paths) == 1}


@functools.cache
def _by_file() -> dict[str, str]:
    """Module and name where something is defined -> the path of its entry."""
    return {
        f"{each.value.__module__}.{each.value.__qualname__}": path
        for path, each in entries().items()
        if each.kind != "data" and hasattr(each.value, "__module__") and hasattr(each.value, "__qualname__")
    }


def without_contents_entry(directive: type[PyObject]) -> type[PyObject]:
    """The directive of a method or property, which tables of contents leave out: they list the names of a module."""
    return type(directive.__name__, (directive,), {"_toc_entry_name": lambda self, sig_node: ""})


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_post_transform(PublicNamesInCode)
    for name in ("method", "classmethod", "staticmethod", "property", "attribute"):
        directive = PythonDomain.directives[name]
        app.add_directive_to_domain("py", name, without_contents_entry(directive), override=True)
    app.connect("autodoc-process-docstring", process_docstring)
    app.connect("autodoc-process-signature", process_signature)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("missing-reference", public_place)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
