"""Finds faults of the list of classes."""

import collections
import re
from collections.abc import Iterable, Iterator, Sequence

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.layouts.annotated_set import AnnotatedSet
from cvzoo.reporting.counted import counted

# COCO's own ids are 80 of 1 .. 90
_COCO_GAPS = {12, 26, 29, 30, 45, 66, 68, 69, 71, 83}


def check_classes(annotated: AnnotatedSet, used: collections.Counter[str] | None = None) -> Iterator[Finding]:
    """The faults of the classes of the whole data set. used: the number of objects of each class; None: counted"""
    used = _used(annotated) if used is None else used
    numbers = {
        each.class_number for image in annotated.images for each in image.objects if each.class_number is not None
    }
    if annotated.names is not None:
        yield from _check_listed(annotated, used)
    elif annotated.kind == "yolo" and used:
        yield Finding(Fault.CLASS_NAME_MISSING, "no classes.txt, .names or data.yaml lists the classes")
        _, gaps = _gaps(numbers)
        if gaps:
            yield Finding(Fault.CLASS_GAP, f"no object has the class number {_listed(gaps)}")
    if annotated.kind == "coco":
        first, gaps = _gaps(annotated.numbers)
        if set(gaps) - _COCO_GAPS or first not in (None, 0, 1):
            yield Finding(Fault.CLASS_GAP, f"ids begin at {first}; {_listed(gaps) or 'none'} are missing")
    for alike in _alike([*(annotated.names or ()), *used]):
        counts = ", ".join(f"{name!r} ({counted(used[name], 'object')})" for name in alike)
        yield Finding(Fault.CLASS_NAMES_ALIKE, counts)


def common_spelling(annotated: AnnotatedSet) -> dict[str, str]:
    """The most frequent spelling, by each other spelling of a class that differs in case or whitespace only."""
    used = _used(annotated)
    renamed: dict[str, str] = {}
    for alike in _alike([*(annotated.names or ()), *used]):
        best = max(alike, key=lambda name: used[name])
        renamed |= {name: best for name in alike if name != best}
    return renamed


def _used(annotated: AnnotatedSet) -> collections.Counter[str]:
    return collections.Counter(
        each.name for image in annotated.images for each in image.objects if each.name is not None
    )


def _check_listed(annotated: AnnotatedSet, used: collections.Counter[str]) -> Iterator[Finding]:
    for label, name in enumerate(annotated.names or ()):
        if not name:
            yield Finding(Fault.CLASS_NAME_MISSING, f"class {label} has no name")
    for name, n in collections.Counter(filter(None, annotated.names or ())).items():
        if n > 1:
            yield Finding(Fault.CLASS_DUPLICATE, f"{name} occurs {n} times in the list of classes")
    unused = [name for name in annotated.names or () if name and name not in used]
    if unused and used:
        yield Finding(Fault.CLASS_UNUSED, f"no object is a {_listed(unused)}")
    if annotated.kind == "voc":
        for image in annotated.images:
            for each in image.objects:
                if each.name is not None and each.name not in (annotated.names or ()):
                    yield Finding(
                        Fault.CLASS_UNKNOWN, f"{each.name} is not in the list of classes", image.name, each.index
                    )


def _gaps(numbers: Iterable[int]) -> tuple[int | None, list[int]]:
    """(the lowest number, the missing ones between it and the highest)."""
    known = sorted(number for number in numbers if number >= 0)
    if not known:
        return None, []
    # such numbers are not indices but ids or a mistake: one gap says so, a list of millions would not help
    if known[-1] - known[0] > 10_000:
        return known[0], [known[0] + 1]
    return known[0], sorted(set(range(known[0], known[-1])) - set(known))


def _alike(names: Iterable[str]) -> list[list[str]]:
    groups: dict[str, dict[str, None]] = collections.defaultdict(dict)
    for name in names:
        if name:
            groups[re.sub(r"[\s_-]+", "", name).casefold()][name] = None
    return [list(group) for group in groups.values() if len(group) > 1]


def _listed(values: Sequence[object]) -> str:
    text = ", ".join(map(str, values[:12]))
    return f"{text} and {len(values) - 12} more" if len(values) > 12 else text
