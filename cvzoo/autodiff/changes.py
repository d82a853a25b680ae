"""Whether anything was assigned to any link since one last looked: a glance, before one looks closely."""


class _Changes:
    """latest: another object after each assignment; tree: after each that adds, removes or replaces a part of a link.

    Objects and no counts: of two threads that count at once, one may set back what the other has been seen to count.
    """

    __slots__ = ("latest", "tree")

    def __init__(self) -> None:
        self.latest = object()
        self.tree = object()


changes = _Changes()


class _Effects:
    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


effects = _Effects()
