"""Which lists of photos are to learn from, and which to be scored on."""

from collections.abc import Iterable


def leak(splits: Iterable[str], others: Iterable[str] | None = None) -> tuple[str, str] | None:
    """(a list to learn from, a list to be scored on) that two photos, or one, stand in; None if that is in order.

    splits: the lists of a photo; others: those of its duplicate; None: the photo itself is in all of them
    train, val and trainval, which is both, may share photos among themselves as far as trainval is concerned.
    """
    splits = tuple(splits)
    pairs = ((splits, others), (others, splits)) if others is not None else ((splits, splits),)
    for learn, score in pairs:
        for a in learn:
            for b in score:
                if (
                    _role(a) == "train"
                    and _role(b) in ("val", "test")
                    and not (a.startswith("trainval") and _role(b) == "val")
                ):
                    return a, b
    return None


def is_for_learning(split: str) -> bool:
    return _role(split) == "train"


def _role(split):
    name = split.casefold()
    return next((role for role in ("train", "val", "test") if name.startswith(role)), None)
