"""What is below a link: walked once, and again only after a link or a parameter was added, removed or replaced."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.changes import changes
from cvzoo.autodiff.parameter import Parameter


class Walk:
    """A link's notes about itself and what is below. They hold no reference to the link itself, so that it dies with
    its last user. Copies and pickles begin with none.

    n_set: how often an attribute of the link itself was assigned or deleted
    """

    __slots__ = ("_found", "n_set")

    def __init__(self) -> None:
        self.n_set = 0
        self._found: Any = None

    def __reduce__(self) -> tuple:
        return Walk, ()

    def note(self, *, tree: bool) -> None:
        """Say that an attribute of the link was changed; tree: that a link or a parameter came, went or was replaced.

        To be called after the change: another thread that walks in between walks again.
        """
        self.n_set += 1
        changes.latest = object()
        if tree:
            self._found = None
            changes.tree = object()

    def below(self, link: Any) -> Sequence[tuple[str, Any]]:
        """(path, link) of all links below `link`, whose notes these are."""
        return self._walked(link)[1]

    def parameters(self, link: Any) -> Sequence[tuple[str, Parameter]]:
        """(path, parameter) of all parameters of `link` and below."""
        return self._walked(link)[2]

    def counts(self, link: Any) -> list[int]:
        """How often each link was assigned to, `link` and all below; other numbers after any change."""
        return [self.n_set, *[each.__dict__["_walk"].n_set for _, each in self._walked(link)[1]]]

    def _walked(self, link: Any) -> tuple[object, list[tuple[str, Any]], list[tuple[str, Parameter]]]:
        found = self._found
        if found is not None and found[0] is changes.tree:
            return found
        now = changes.tree
        below: list[tuple[str, Any]] = []
        is_noted = _collect("", link, below)
        parameters = [("/" + name, link.__dict__[name]) for name in link._params]
        for path, each in below:
            parameters += [(f"{path}/{name}", each.__dict__[name]) for name in each._params]
        found = now, below, parameters
        if is_noted:
            self._found = found
        return found


def _collect(prefix: str, link: Any, below: list[tuple[str, Any]]) -> bool:
    """Append what is below `link`; whether each change of it would be noted."""
    is_noted = link.notes_children
    for name, child in link.named_children():
        path = f"{prefix}/{name}"
        below.append((path, child))
        is_noted = _collect(path, child, below) and is_noted
    return is_noted
