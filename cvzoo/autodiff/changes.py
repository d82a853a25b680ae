"""Process-wide markers of changes, by which guards of compiled graphs skip detailed comparisons."""


class _Changes:
    """Markers of assignments to links: compare them by identity with an earlier value.

    latest: replaced at each assignment to an attribute of a link
    tree: replaced when a part of a link is added, removed or replaced
    """

    # new objects instead of counters: `count += 1` in two threads could set a counter back to a value already read

    __slots__ = ("latest", "tree")

    def __init__(self) -> None:
        self.latest = object()
        self.tree = object()


changes = _Changes()


class _Effects:
    """count: number of calls of functions that change arrays in place (`FunctionNode.effect`)."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


effects = _Effects()
