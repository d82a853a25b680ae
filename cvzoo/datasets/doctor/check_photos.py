"""Faults of photos by themselves, and of the sizes that annotations state."""

from collections.abc import Iterator

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.doctor.photo_facts import PhotoFacts
from cvzoo.datasets.layouts.annotated_set import AnnotatedPhoto

_STATING = ("voc", "coco")  # the layouts whose annotations state the size of the photo


def check_photo(photo: AnnotatedPhoto, facts: PhotoFacts | None, kind: str) -> Iterator[Finding]:
    """The faults of one photo. facts: None if it is not there; kind: the layout's."""
    if facts is None:
        yield Finding(Fault.PHOTO_MISSING, "the photo is not there", photo.name)
        return
    if facts.trouble is not None:
        yield Finding(*facts.trouble, photo.name)
        return
    if not facts.ending_fits:
        yield Finding(Fault.PHOTO_WRONG_ENDING, f"the file is {facts.format}", photo.name)
    if facts.is_blank:
        yield Finding(Fault.PHOTO_BLANK, "all pixels have one colour", photo.name)
    yield from _check_size(photo, facts, kind)
    if _has_annotations(photo, kind) and not photo.objects:
        yield Finding(Fault.NO_OBJECTS, "nothing is marked in this photo", photo.name)


def boxes_are_as_stored(photo: AnnotatedPhoto, facts: PhotoFacts) -> bool:
    """Whether the annotations are for the photo as its file has it, which its EXIF block turns by a quarter."""
    if facts.orientation < 5 or facts.size is None or facts.size == facts.stored_size:
        return False
    if photo.annotation_path is not None and photo.annotation_path.suffix != ".xml":
        return _reach(photo, facts.stored_size) and not _reach(photo, facts.size)
    if photo.size is not None:
        return photo.size == facts.stored_size
    return _reach(photo, facts.stored_size) and not _reach(photo, facts.size)


def _reach(photo, size):
    """Whether all boxes lie in a photo of this size."""
    return bool(photo.objects) and all(
        each.bbox is not None and each.bbox[2] <= size[0] + 1 and each.bbox[3] <= size[1] + 1 for each in photo.objects
    )


def _has_annotations(photo, kind):
    return kind == "coco" or photo.annotation_path is not None


def _check_size(photo, facts, kind):
    words = f"EXIF orientation {facts.orientation}: stored as {_text(facts.stored_size)}, upright {_text(facts.size)}"
    if boxes_are_as_stored(photo, facts):
        yield Finding(Fault.EXIF_ROTATION, f"{words}; the annotations are for {_text(facts.stored_size)}", photo.name)
        return
    if facts.orientation != 1:
        yield Finding(Fault.EXIF_TURNED, words, photo.name)
    if kind not in _STATING or not _has_annotations(photo, kind):
        return
    height, width = facts.size
    if photo.size is None:
        yield Finding(Fault.SIZE_MISSING, f"the photo is {_text(facts.size)}", photo.name)
    elif photo.size == (width, height) and width != height:
        yield Finding(Fault.SIZE_SWAPPED, f"stated {_text(photo.size)}, the photo is {_text(facts.size)}", photo.name)
    elif photo.size != (height, width):
        yield Finding(Fault.SIZE_WRONG, f"stated {_text(photo.size)}, the photo is {_text(facts.size)}", photo.name)


def _text(size):
    return f"{size[0]} x {size[1]} (H x W)"
