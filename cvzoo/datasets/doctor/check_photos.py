"""Finds faults of image files, and of the image sizes in annotations."""

from collections.abc import Iterator

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.doctor.photo_facts import PhotoFacts
from cvzoo.datasets.layouts.annotated_set import AnnotatedPhoto
from cvzoo.typing.aliases import Size

_WITH_SIZE = ("voc", "coco")  # the layouts whose annotations contain the size of the image


def check_photo(photo: AnnotatedPhoto, facts: PhotoFacts | None, kind: str) -> Iterator[Finding]:
    """The faults of one image. facts: None if it does not exist; kind: the layout."""
    if facts is None:
        yield Finding(Fault.PHOTO_MISSING, "the image does not exist", photo.name)
        return
    if facts.trouble is not None:
        yield Finding(*facts.trouble, photo.name)
        return
    if not facts.ending_fits:
        yield Finding(Fault.PHOTO_WRONG_ENDING, f"the file is a {facts.format}", photo.name)
    if facts.is_blank:
        yield Finding(Fault.PHOTO_BLANK, "all pixels have one color", photo.name)
    yield from _check_size(photo, facts, kind)
    if _has_annotations(photo, kind) and not photo.objects:
        yield Finding(Fault.NO_OBJECTS, "the annotations contain no objects", photo.name)


def boxes_are_as_stored(photo: AnnotatedPhoto, facts: PhotoFacts) -> bool:
    """Whether the annotations refer to the image as stored, while its EXIF orientation swaps height and width."""
    if facts.orientation < 5 or facts.size is None or facts.size == facts.stored_size:
        return False
    if photo.size is not None and (photo.annotation_path is None or photo.annotation_path.suffix == ".xml"):
        return photo.size == facts.stored_size
    return _contains_boxes(facts.stored_size, photo) and not _contains_boxes(facts.size, photo)


def _contains_boxes(size: Size | None, photo: AnnotatedPhoto) -> bool:
    """Whether there are boxes and an image of this size contains all of them."""
    if size is None:
        return False
    return bool(photo.objects) and all(
        each.bbox is not None and each.bbox[2] <= size[0] + 1 and each.bbox[3] <= size[1] + 1 for each in photo.objects
    )


def _has_annotations(photo: AnnotatedPhoto, kind: str) -> bool:
    return kind == "coco" or photo.annotation_path is not None


def _check_size(photo: AnnotatedPhoto, facts: PhotoFacts, kind: str) -> Iterator[Finding]:
    words = (
        f"EXIF orientation {facts.orientation}: stored as {_text(facts.stored_size)}, displayed as {_text(facts.size)}"
    )
    if boxes_are_as_stored(photo, facts):
        words += f"; the annotations are for {_text(facts.stored_size)}"
        yield Finding(Fault.EXIF_ROTATION, words, photo.name)
        return
    if facts.orientation != 1:
        yield Finding(Fault.EXIF_TURNED, words, photo.name)
    if kind not in _WITH_SIZE or not _has_annotations(photo, kind):
        return
    if facts.size is None:
        return
    height, width = facts.size
    if photo.size is None:
        yield Finding(Fault.SIZE_MISSING, f"the image is {_text(facts.size)}", photo.name)
    elif photo.size == (width, height) and width != height:
        yield Finding(Fault.SIZE_SWAPPED, f"stated {_text(photo.size)}, the image is {_text(facts.size)}", photo.name)
    elif photo.size != (height, width):
        yield Finding(Fault.SIZE_WRONG, f"stated {_text(photo.size)}, the image is {_text(facts.size)}", photo.name)


def _text(size: Size | None) -> str:
    return "unknown" if size is None else f"{size[0]} x {size[1]} (H x W)"
