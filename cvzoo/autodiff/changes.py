"""Whether anything was assigned to any link since one last looked: a glance, before one looks closely."""


class _Changes:
    """count: of all assignments; tree: another object after each that adds, removes or replaces a link or parameter."""

    __slots__ = ("count", "tree")

    def __init__(self) -> None:
        self.count = 0
        self.tree = object()


changes = _Changes()
