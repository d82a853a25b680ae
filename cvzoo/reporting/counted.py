"""Numbers of things in words."""


def counted(n: float, one: str, many: str | None = None, *, spec: str = "") -> str:
    """A number and what is counted, as in "1 image" and "2 images".

    many: the plural, with a verb where the sentence has one ("class is", "classes are"); None: one with an s
    spec: format of the number, such as ",", or "g" for those that need not be integers
    """
    return f"{n:{spec}} {one if n == 1 else many or one + 's'}"
