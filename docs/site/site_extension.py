"""What Sphinx is told besides its configuration: the dialect of docstrings, and code that is a public name."""

import functools
from typing import Any

from docutils import nodes
from site_docstrings import to_rst
from site_names import doors, entries
from site_reference import meaning_of
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform


class PublicNamesInCode(SphinxPostTransform):
    """`L.ResNet50` in the text of a page becomes a link to the entry of the API reference."""

    default_priority = 5  # before references are resolved

    def run(self, **_: Any) -> None:
        """Wrap each such piece of code into a reference."""
        for node in list(self.document.findall(nodes.literal)):
            if isinstance(node.parent, nodes.reference | addnodes.pending_xref | nodes.title):
                continue
            target = meaning_of(node.astext(), "")
            if target is None:
                continue
            reference = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=target, refexplicit=True, refwarn=True
            )
            node.parent.replace(node, reference)
            reference += node


def process_docstring(_app: Sphinx, _what: str, name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    """The dialect as reStructuredText, in place."""
    text = "\n".join(lines)
    if text.startswith("Alias for field number"):  # a named tuple's own words
        text = ""
    door = door_of(name)
    lines[:] = to_rst(text, lambda written: meaning_of(written, door)) if text.strip() else []


def skip_member(_app: Sphinx, _what: str, _name: str, obj: Any, skip: bool, _options: Any) -> bool | None:
    """Fields of a named tuple, of which the class's docstring tells, have no entry of their own."""
    doc = getattr(obj, "__doc__", None) or ""
    return True if doc.startswith("Alias for field number") else None


def door_of(path: str) -> str:
    """The public module that a full name belongs to."""
    return max((door for door in doors() if path.startswith(f"{door}.")), key=len, default="")


def public_place(app: Sphinx, env: Any, node: addnodes.pending_xref, content: nodes.TextElement) -> Any:
    """A class or function named by the file that defines it is documented under its public name."""
    path = _by_file().get(node.get("reftarget", ""))
    if path is None:
        return None
    return env.get_domain("py").resolve_xref(env, node["refdoc"], app.builder, "obj", path, node, content)


@functools.cache
def _by_file() -> dict[str, str]:
    """Module and name where something is defined -> the path of its entry."""
    return {
        f"{each.value.__module__}.{each.value.__qualname__}": path
        for path, each in entries().items()
        if each.kind != "data" and hasattr(each.value, "__module__") and hasattr(each.value, "__qualname__")
    }


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_post_transform(PublicNamesInCode)
    app.connect("autodoc-process-docstring", process_docstring)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("missing-reference", public_place)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
