"""The doctor's findings of the images and annotations of a data set, without decoding an image again."""

import base64
import functools
import hashlib
import json
import pathlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from cvzoo.datasets.doctor.check_boxes import check_boxes
from cvzoo.datasets.doctor.check_classes import check_classes
from cvzoo.datasets.doctor.check_duplicates import check_copies, near_duplicate
from cvzoo.datasets.doctor.check_files import check_files
from cvzoo.datasets.doctor.check_images import check_image
from cvzoo.datasets.doctor.check_masks import check_masks
from cvzoo.datasets.doctor.coordinate_faults import (
    EXPLAINING,
    edge_counts,
    image_fault,
    one_based_fault,
    plausible_faults,
)
from cvzoo.datasets.doctor.examine_dataset import annotation_size
from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.doctor.image_facts import HASH_SIDE, LOOK_SIDE, ImageFacts
from cvzoo.datasets.doctor.near_duplicates import are_near, near_fingerprints
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedSet
from cvzoo.studio.data.labels import image_from_json, in_coco
from cvzoo.studio.jobs.json_file import load_json
from cvzoo.studio.photos.imaging import read_facts
from cvzoo.studio.photos.store import ImageStore
from cvzoo.studio.worker.kept_looks import Kept, Look, key_of, read_kept, stamp_of, write_kept
from cvzoo.typing.aliases import Array

_FAULTS = {each.slug: each for each in Fault}


def annotated_set(order: Mapping[str, Any], images: Iterable[AnnotatedImage], kind: str) -> AnnotatedSet:
    """The data set of the images. order: "images", the store's folder, "classes" and "extra"; kind: its layout"""
    images = tuple(images)
    names = tuple(order["classes"])
    known = {each["name"]: each for each in order["extra"].get("categories", ()) if isinstance(each, dict)}
    categories = [known.get(name, {}) | {"id": i + 1, "name": name} for i, name in enumerate(names)]
    splits = dict.fromkeys(split for image in images for split in image.splits)
    return AnnotatedSet(
        kind=kind,
        root=pathlib.Path(order["images"]),
        images=images,
        names=names,
        numbers=tuple(range(1, len(names) + 1)) if kind == "coco" else (),
        splits=tuple(sorted(splits, key=_split_order)),
        base=1 if kind == "voc" else 0,
        extra={"categories": categories},
    )


def check_lines(
    order: Mapping[str, Any], lines: pathlib.Path, progress: Callable[[str, int, int], None]
) -> Iterator[dict[str, Any]]:
    """The findings of the images, as `finding_to_json` has them. Only images are looked at that were not before.

    order: "task" too, and "kept", the file of what is known of the images
    lines: the file of the rows, as `item_line` writes them
    """
    path = pathlib.Path(order["kept"])
    kept = read_kept(path, order["task"])
    check = _Check(order, lines, kept)
    check.look_at_all(progress)
    whole = check.whole_faults()
    misread = plausible_faults(check.faults())
    check.look_again({each.kind for each in whole}, {each.image for each in misread if each.kind in EXPLAINING})
    pairs = check.near_pairs(progress)
    if check.has_news:
        write_kept(path, order["task"], check.to_keep(pairs))
    yield from check.findings([*whole, *misread], pairs)


class _Check:
    """A check of all images of a data set. order, lines, kept: as of `check_lines`"""

    def __init__(self, order: Mapping[str, Any], lines: pathlib.Path, kept: Kept):
        self._order, self._lines, self._kept = order, lines, kept
        self._store = ImageStore(pathlib.Path(order["images"]))
        self._kind = "folder" if order["task"] == "classes" else "coco"
        self._whole = {_FAULTS[slug] for slug in kept.whole}
        self._fingerprints: dict[str, bytes] = {}  # of images that were looked at
        self._offsets: list[int] = []
        self._keys: list[str] = []
        self._looks: list[Look] = []
        self.has_news = False

    def look_at_all(self, progress: Callable[[str, int, int], None]) -> None:
        """Takes what is known, and looks at the other images."""
        root, known = str(self._store.root), self._kept.looks
        offset = 0
        with open(self._lines, "rb") as file:
            for i, line in enumerate(file):
                key = key_of(line)
                look = known.get(key)
                if look is None or not look.stamp or look.stamp != stamp_of(root, look.sha256):
                    look = self._looked_at(line, False)
                    progress("checking", i, 0)
                self._offsets.append(offset)
                self._keys.append(key)
                self._looks.append(look)
                offset += len(line)
        self.has_news = self.has_news or len(self._looks) != len(known)

    def _looked_at(self, line: bytes, is_explained: bool) -> Look:
        row = load_json(line)
        self.has_news = True
        stamp = stamp_of(str(self._store.root), row["sha256"])  # before the file is read, as it may change
        facts = known_facts(self._store, row["sha256"])
        image = image_from_json(row, self._store.image(row["sha256"]))
        ids = [each["id"] for each in row["labels"]]
        found, fault, edges = list(check_image(image, facts, self._kind)), None, (0, 0, 0)
        if self._kind == "folder":
            if not image.objects:
                found.append(Finding(Fault.CLASS_MISSING, "the image has no class", image.name))
        else:
            size = annotation_size(image, facts)
            fault, edges = image_fault(in_coco(image), size, self._kind), edge_counts(image, size)
            found += check_boxes(image, size, last_pixel=0, skip_outside=is_explained, ignore=self._whole)
            found += check_masks(image, size)
        if facts.fingerprint is not None and facts.look is not None:
            self._fingerprints[row["sha256"]] = facts.fingerprint.tobytes()
        return Look(
            *(row["ordinal"], row["name"], row["sha256"], row["split"], stamp),
            row["sha256"] in self._fingerprints,
            dict(Counter(each["class"] for each in row["labels"])),
            edges,
            None if fault is None else (*_short(fault[0], ids), fault[1]),
            is_explained,
            [_short(each, ids) for each in dict.fromkeys(found)],
        )

    def whole_faults(self) -> list[Finding]:
        """Those that explain findings of boxes."""
        if self._kind == "folder":
            return []
        return list(one_based_fault((look.name, look.edges) for look in self._looks))

    def faults(self) -> list[tuple[Finding, bool] | None]:
        """As `image_fault` of each image; objects are named by their identifiers afterwards."""
        return [
            None if each.fault is None else (Finding(_FAULTS[each.fault[0]], each.fault[1], each.name), each.fault[3])
            for each in self._looks
        ]

    def look_again(self, whole: set[Fault], explained: set[str | None]) -> None:
        """Repeats the look at images of which something else explains their boxes than the time before."""
        is_other, self._whole = whole != self._whole, whole
        with open(self._lines, "rb") as file:
            for i, look in enumerate(self._looks):
                is_explained = look.name in explained
                if is_other or is_explained is not look.is_explained:
                    file.seek(self._offsets[i])
                    self._looks[i] = self._looked_at(file.readline(), is_explained)

    def near_pairs(self, progress: Callable[[str, int, int], None]) -> list[tuple[str, str, bool, bool]]:
        """As `Kept.pairs`, of these images."""
        stamps = {each.sha256: each.stamp for each in self._looks if each.is_comparable}
        known = {each.sha256: each.stamp for each in self._kept.looks.values() if each.is_comparable and each.stamp}
        new = [sha256 for sha256, stamp in stamps.items() if known.get(sha256) != stamp]
        old = stamps.keys() - set(new)
        pairs = [each for each in self._kept.pairs if each[0] in old and each[1] in old]
        if not new:
            return pairs
        progress("comparing images", 0, 0)
        self.has_news = True
        names = [*new, *sorted(old)]
        words = np.stack([np.frombuffer(self._fingerprint(name), np.uint8) for name in names])

        @functools.cache  # 1 KB each; images that look alike are compared with many
        def look(name: str) -> Array:
            found = known_facts(self._store, name).look
            assert found is not None
            return found

        for i, j in near_fingerprints(words, len(new)):
            both = [sorted((names[k], names[m])) for k, m in zip(i.tolist(), j.tolist())]
            looks, others = (np.stack([look(pair[k]) for pair in both]) for k in (0, 1))
            first, second = are_near(looks, others), are_near(others, looks)
            for k in np.flatnonzero(first | second):
                pairs.append((both[k][0], both[k][1], bool(first[k]), bool(second[k])))
        return pairs

    def _fingerprint(self, sha256: str) -> bytes:
        known = self._fingerprints.get(sha256)
        if known is None:
            found = known_facts(self._store, sha256).fingerprint
            assert found is not None
            known = found.tobytes()
        return known

    def to_keep(self, pairs: list[tuple[str, str, bool, bool]]) -> Kept:
        """What the next check may use."""
        return Kept(dict(zip(self._keys, self._looks)), sorted(each.slug for each in self._whole), pairs)

    def findings(self, misread: list[Finding], pairs: list[tuple[str, str, bool, bool]]) -> Iterator[dict[str, Any]]:
        """All findings. misread: those about coordinates; pairs: of `near_pairs`"""
        by_name = {each.name: each for each in self._looks}
        for each in self._of_all(pairs):
            yield finding_to_json(each, by_name, "check")
        for each in misread:
            look = None if each.image is None else by_name[each.image]
            object_id = None if look is None or look.fault is None else look.fault[2]
            yield _as_json("check", each.kind, each.message, look, object_id)
        for look in self._looks:
            for slug, message, object_id in look.findings:
                yield _as_json("check", _FAULTS[slug], message, look, object_id)

    def _of_all(self, pairs: list[tuple[str, str, bool, bool]]) -> Iterator[Finding]:
        """The findings that concern several images, or the classes."""
        images = [AnnotatedImage(each.name, None, splits=(each.split,) if each.split else ()) for each in self._looks]
        annotated = annotated_set(self._order, images, self._kind)
        yield from check_files(annotated)
        used: Counter[str] = Counter()
        for each in self._looks:
            for name, n in each.used.items():
                used[name] += n
        yield from check_classes(annotated, used)
        yield from check_copies(images, [bytes.fromhex(each.sha256) for each in self._looks])
        where = defaultdict(list)
        for i, each in enumerate(self._looks):
            where[each.sha256].append(i)
        for a, b in sorted(_ordered(pairs, where)):
            yield near_duplicate(images[a], images[b])


def _ordered(pairs: Iterable[tuple[str, str, bool, bool]], where: Mapping[str, list[int]]) -> Iterator[tuple[int, int]]:
    """The indices of near-duplicates, the first one first. where: the indices of the images with these bytes"""
    for a, b, is_after_a, is_after_b in pairs:
        for i in where[a]:
            for j in where[b]:
                if is_after_a if i < j else is_after_b:
                    yield min(i, j), max(i, j)


def _short(each: Finding, ids: Sequence[str]) -> tuple[str, str, str | None]:
    return each.kind.slug, each.message, None if each.annotation is None else ids[each.annotation]


class _Named(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def ordinal(self) -> int: ...


def finding_to_json(each: Finding, by_name: Mapping[str, _Named], origin: str) -> dict[str, Any]:
    """The finding, which is of no single object, for the database. by_name: images; origin: "import" or "check" """
    image = None if each.image is None else plain(each.image)
    found = None if image is None else by_name.get(image)
    message = each.message if found is not None or image is None else f"{each.image}: {each.message}"
    others = [by_name[name].ordinal for name in map(plain, each.others) if name in by_name]
    return _as_json(origin, each.kind, message, found, None, others, image or "")


def _as_json(
    origin: str,
    kind: Fault,
    message: str,
    image: _Named | None,
    object_id: str | None,
    others: Sequence[int] = (),
    name: str = "",
) -> dict[str, Any]:
    message = plain(message)
    identity = json.dumps([origin, kind.slug, name if image is None else image.name, object_id, message])
    return {
        "digest": hashlib.sha256(identity.encode()).hexdigest(),
        "origin": origin,
        "kind": kind.slug,
        "severity": kind.severity.value,
        "meaning": kind.meaning,
        "message": message,
        "ordinal": None if image is None else image.ordinal,
        "object": object_id,
        "others": list(others),
    }


def write_findings(path: pathlib.Path, found: Iterable[Mapping[str, Any]]) -> list[str]:
    """The digests of the errors, after all findings were written to a file, one a line: the digest and JSON."""
    errors = []
    with open(path, "w", encoding="utf-8") as file:
        for each in found:
            file.write(f"{each['digest']} {json.dumps(each)}\n")
            if each["severity"] == "error":
                errors.append(each["digest"])
    return list(dict.fromkeys(errors))


def known_facts(store: ImageStore, sha256: str) -> ImageFacts:
    """The properties of an image that was looked at before."""
    tree = read_facts(store, sha256)
    if tree is None:
        return ImageFacts((Fault.PHOTO_UNREADABLE, "its properties are missing"), digest=bytes.fromhex(sha256))
    trouble = tree["trouble"]
    return ImageFacts(
        trouble=None if trouble is None else (_FAULTS[trouble[0]], trouble[1]),
        size=_pair(tree["size"]),
        stored_size=_pair(tree["stored_size"]),
        orientation=tree["orientation"],
        format=tree["format"],
        ending_fits=tree["ending_fits"],
        is_blank=tree["is_blank"],
        digest=bytes.fromhex(sha256),
        fingerprint=_array(tree["fingerprint"], (HASH_SIDE * HASH_SIDE // 8,)),
        look=_array(tree["look"], (LOOK_SIDE, LOOK_SIDE)),
    )


def _array(text: str | None, shape: tuple[int, ...]) -> Array | None:
    return None if text is None else np.frombuffer(base64.b64decode(text), np.uint8).reshape(shape)


def _pair(values: list[int] | None) -> tuple[int, int] | None:
    return None if values is None else (values[0], values[1])


def plain(text: str) -> str:
    """The text without what is not UTF-8."""
    return text.encode("utf-8", "replace").decode()


def _split_order(name: str) -> tuple[int, str]:
    known = ("train", "val", "test")
    return (known.index(name), "") if name in known else (len(known), name)
