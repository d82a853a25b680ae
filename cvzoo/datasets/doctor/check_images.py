"""Finds faults of image files, and of the image sizes in annotations."""

from collections.abc import Iterator

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.doctor.image_facts import ImageFacts
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage
from cvzoo.typing.aliases import Size

_WITH_SIZE = ("voc", "coco")  # the layouts whose annotations contain the size of the image


def check_image(image: AnnotatedImage, facts: ImageFacts | None, kind: str) -> Iterator[Finding]:
    """The faults of one image. facts: None if it does not exist; kind: the layout."""
    if facts is None:
        yield Finding(Fault.PHOTO_MISSING, "the image does not exist", image.name)
        return
    if facts.trouble is not None:
        yield Finding(*facts.trouble, image.name)
        return
    if not facts.ending_fits:
        yield Finding(Fault.PHOTO_WRONG_ENDING, f"the file is a {facts.format}", image.name)
    if facts.is_blank:
        yield Finding(Fault.PHOTO_BLANK, "all pixels have one color", image.name)
    yield from _check_size(image, facts, kind)
    if _has_annotations(image, kind) and not image.objects:
        yield Finding(Fault.NO_OBJECTS, "the annotations contain no objects", image.name)


def boxes_are_as_stored(image: AnnotatedImage, facts: ImageFacts) -> bool:
    """Whether the annotations refer to the image as stored, while its EXIF orientation swaps height and width."""
    if facts.orientation < 5 or facts.size is None or facts.size == facts.stored_size:
        return False
    if image.size is not None and (image.annotation_path is None or image.annotation_path.suffix == ".xml"):
        return image.size == facts.stored_size
    return _contains_boxes(facts.stored_size, image) and not _contains_boxes(facts.size, image)


def _contains_boxes(size: Size | None, image: AnnotatedImage) -> bool:
    """Whether there are boxes and an image of this size contains all of them."""
    if size is None:
        return False
    return bool(image.objects) and all(
        each.bbox is not None and each.bbox[2] <= size[0] + 1 and each.bbox[3] <= size[1] + 1 for each in image.objects
    )


def _has_annotations(image: AnnotatedImage, kind: str) -> bool:
    return kind == "coco" or image.annotation_path is not None


def _check_size(image: AnnotatedImage, facts: ImageFacts, kind: str) -> Iterator[Finding]:
    words = (
        f"EXIF orientation {facts.orientation}: stored as {_text(facts.stored_size)}, displayed as {_text(facts.size)}"
    )
    if boxes_are_as_stored(image, facts):
        words += f"; the annotations are for {_text(facts.stored_size)}"
        yield Finding(Fault.EXIF_ROTATION, words, image.name)
        return
    if facts.orientation != 1:
        yield Finding(Fault.EXIF_TURNED, words, image.name)
    if kind not in _WITH_SIZE or not _has_annotations(image, kind):
        return
    if facts.size is None:
        return
    height, width = facts.size
    if image.size is None:
        yield Finding(Fault.SIZE_MISSING, f"the image is {_text(facts.size)}", image.name)
    elif image.size == (width, height) and width != height:
        yield Finding(Fault.SIZE_SWAPPED, f"stated {_text(image.size)}, the image is {_text(facts.size)}", image.name)
    elif image.size != (height, width):
        yield Finding(Fault.SIZE_WRONG, f"stated {_text(image.size)}, the image is {_text(facts.size)}", image.name)


def _text(size: Size | None) -> str:
    return "unknown" if size is None else f"{size[0]} x {size[1]} (H x W)"
