"""How often arrays that are no parameters were changed in place: who keeps what was computed from them looks here,
since comparing arrays of a GPU would wait for it."""


class _Effects:
    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


effects = _Effects()
