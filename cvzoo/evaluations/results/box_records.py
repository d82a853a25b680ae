"""Detections with images and classes by name, as in results files."""

import dataclasses
import difflib
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, eq=False)
class BoxRecords:
    """Detections in the order of their files, one row each.

    photo, label: (N,) lists of str: names or numbers, as the file spells them
    score: (N,) float64; bbox: (N, 4) float64, y_min x_min y_max x_max, pixels, 0-based, half-open
    origin: (N,) list of str: file and line of each one, for errors ("results.csv, line 7")
    """

    image: list[str]
    label: list[str]
    score: Array
    bbox: Array
    origin: list[str]

    def __post_init__(self) -> None:
        wrong = np.flatnonzero(~(np.isfinite(self.score) & np.isfinite(self.bbox).all(axis=1)))
        if wrong.size:
            i = wrong[0]
            got = [float(self.score[i]), *self.bbox[i].tolist()]
            raise ValueRangeError(f"{self.origin[i]}: score and box must be finite numbers", got=got)
        wrong = np.flatnonzero((self.bbox[:, 2:] < self.bbox[:, :2]).any(axis=1))
        if wrong.size:
            raise ValueRangeError(
                f"{self.origin[wrong[0]]}: the box ends before it begins (and {wrong.size - 1} more)",
                expected="y_min x_min y_max x_max with y_min <= y_max and x_min <= x_max",
                got=self.bbox[wrong[0]].tolist(),
            )

    def __len__(self) -> int:
        return len(self.image)

    def places(self, images: Mapping[str, int], labels: Mapping[str, int]) -> tuple[Array, Array]:
        """The indices or ids of images and of classes, (N,) int64 each.

        photos: index or id by every accepted name of an image (file name, name without suffix, number)
        labels: likewise for classes
        Raises ValueRangeError that names the first record whose image or class is not among them.
        """
        image = np.array(
            [place_of(images, name, "photo", where) for name, where in zip(self.image, self.origin)], np.int64
        )
        label = np.array(
            [place_of(labels, name, "class", where) for name, where in zip(self.label, self.origin)], np.int64
        )
        return image, label

    def of_classes(self, labels: Collection[str]) -> "BoxRecords":
        """The records of the given classes."""
        rows = [i for i, name in enumerate(self.label) if name in labels]
        return BoxRecords(
            image=[self.image[i] for i in rows],
            label=[self.label[i] for i in rows],
            score=self.score[rows],
            bbox=self.bbox[rows],
            origin=[self.origin[i] for i in rows],
        )

    def to_coco(self, images: Mapping[str, int], labels: Mapping[str, int]) -> COCODetections:
        """The same detections with COCO's ids. images, labels, Raises: as for `places`."""
        image_id, category_id = self.places(images, labels)
        y_min, x_min, y_max, x_max = self.bbox.T
        return COCODetections(
            image_id=image_id,
            category_id=category_id,
            score=self.score,
            bbox=np.stack((x_min, y_min, x_max - x_min, y_max - y_min), axis=1),
        )


def spellings(file_names: Sequence[str], numbers: Sequence[int]) -> dict[str, int]:
    """The accepted names of images in results files: file name, name without folder or suffix, number.

    Ambiguous names are left out.
    """
    values: dict[str, int] = {}
    twice: set[str] = set()
    for file_name, number in zip(file_names, numbers):
        name = file_name.replace("\\", "/").rsplit("/", 1)[-1]
        for spelling in {file_name, name, name.rsplit(".", 1)[0]} - {""}:
            if values.setdefault(spelling, number) != number:
                twice.add(spelling)
    for number in numbers:  # a number is the image of this number, unless it is a file name
        values.setdefault(str(number), number)
    return {spelling: number for spelling, number in values.items() if spelling not in twice}


def place_of(known: Mapping[str, int], name: str, what: str, where: str) -> int:
    """The index or id of a name in a record. Raises ValueRangeError, with similar names, if it is unknown."""
    place = known.get(name)
    if place is None and what == "photo":
        place = known.get(name.replace("\\", "/").rsplit("/", 1)[-1])
    if place is None:
        near = difflib.get_close_matches(name, list(known)[:5000], n=3)
        raise ValueRangeError(
            f"{where}: the ground truth has no {what} of this name",
            expected=f"one of its {len(known)} names and numbers",
            got=name,
            hint=f"did you mean {' or '.join(near)}?" if near else None,
        )
    return place
