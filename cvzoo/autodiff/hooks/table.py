"""Text tables for reports."""

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int) -> str:
    """Lines in columns under a head; the first `left` columns are flush left, numbers flush right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return "\n".join(
        "  ".join(f"{x:<{w}}" if i < left else f"{x:>{w}}" for i, (x, w) in enumerate(zip(row, widths))).rstrip()
        for row in (head, *rows)
    )
