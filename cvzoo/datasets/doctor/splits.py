"""The roles of splits, by their names: training sets, and evaluation sets."""

from collections.abc import Iterable


def leak(splits: Iterable[str], others: Iterable[str] | None = None) -> tuple[str, str] | None:
    """(training split, evaluation split) between which one image, or two duplicates, leak; None without a leak.

    splits: those of an image; others: those of its duplicate; None: of the image itself
    trainval, the union of train and val, may share images with both.
    """
    splits = tuple(splits)
    if others is None and len(splits) < 2:
        return None
    others = splits if others is None else tuple(others)
    for trained, evaluated in ((splits, others), (others, splits)):
        for a in trained:
            for b in evaluated:
                if (
                    _role(a) == "train"
                    and _role(b) in ("val", "test")
                    and not (a.startswith("trainval") and _role(b) == "val")
                ):
                    return a, b
    return None


def is_training_split(split: str) -> bool:
    return _role(split) == "train"


def _role(split: str) -> str | None:
    name = split.casefold()
    return next((role for role in ("train", "val", "test") if name.startswith(role)), None)
