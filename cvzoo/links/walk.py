"""A cache of a link's descendants and parameters, until one of them is added, removed or replaced."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cvzoo.autodiff.changes import changes
from cvzoo.autodiff.parameter import Parameter

if TYPE_CHECKING:
    from cvzoo.links.link import Link


class Walk:
    """A link's cache of its descendants. It holds no reference to the link itself, to avoid a reference cycle. Copies
    and pickles begin with an empty one.

    n_set: how often an attribute of the link itself was assigned or deleted
    """

    __slots__ = ("_cached", "n_set")

    def __init__(self) -> None:
        self.n_set = 0
        self._cached: Any = None

    def __reduce__(self) -> tuple:
        return Walk, ()

    def note(self, *, tree: bool) -> None:
        """Record a changed attribute of the link; tree: a link or a parameter was added, removed or replaced.

        To be called after the change, so that a concurrent walk by another thread is repeated.
        """
        self.n_set += 1
        changes.latest = object()
        if tree:
            self._cached = None
            changes.tree = object()

    def below(self, link: "Link") -> Sequence[tuple[str, "Link"]]:
        """(path, link) of all descendants of `link`, whose cache this is."""
        return self._walked(link)[1]

    def parameters(self, link: "Link") -> Sequence[tuple[str, Parameter]]:
        """(path, parameter) of all parameters of `link` and its descendants."""
        return self._walked(link)[2]

    def counts(self, link: "Link") -> list[int]:
        """The numbers of assignments to `link` and each descendant; they differ after any change."""
        return [self.n_set, *[each.__dict__["_walk"].n_set for _, each in self._walked(link)[1]]]

    def _walked(self, link: "Link") -> tuple[object, list[tuple[str, "Link"]], list[tuple[str, Parameter]]]:
        walked = self._cached
        if walked is not None and walked[0] is changes.tree:
            return walked
        now = changes.tree
        below: list[tuple[str, Link]] = []
        is_noted = _collect("", link, below)
        parameters = [("/" + name, link.__dict__[name]) for name in link._params]
        for path, each in below:
            parameters += [(f"{path}/{name}", each.__dict__[name]) for name in each._params]
        walked = now, below, parameters
        if is_noted:
            self._cached = walked
        return walked


def _collect(prefix: str, link: "Link", below: list[tuple[str, "Link"]]) -> bool:
    """Append the descendants of `link`; returns whether all changes of them are recorded."""
    is_noted = link.notes_children
    for name, child in link.named_children():
        path = f"{prefix}/{name}"
        below.append((path, child))
        is_noted = _collect(path, child, below) and is_noted
    return is_noted
