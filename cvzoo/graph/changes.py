"""Whether anything was assigned to any link since one last looked: a glance, before one looks closely."""


class _Changes:
    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


changes = _Changes()
