"""Reads SROIE's layout (lines of text on receipts) leniently."""

import pathlib

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, AnnotatedSet
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.layouts.lenient_text import as_number, by_key, read_leniently, read_list, splits_of_lists
from cvzoo.errors.exceptions import DatasetError, ImageError
from cvzoo.images.list_image_files import list_image_files
from cvzoo.images.read_image_size import read_image_size

_LISTS = ("train", "val", "test")


def read_sroie(spec: DataSpec) -> AnnotatedSet:
    """The data set of img (images), box (lines x1,y1, ... x4,y4,text) and lists train.txt, val.txt.

    Raises DatasetError if the folder has no such files.
    """
    root = spec.path
    image_dir = spec.photos or (root / "img" if (root / "img").is_dir() else root)
    text_dir = root / "box" if (root / "box").is_dir() else image_dir
    if not image_dir.is_dir() or not text_dir.is_dir():
        raise DatasetError(f"{root} is not in SROIE's layout", expected="the folders img and box")
    findings: list[Finding] = []
    list_dir = spec.lists or root
    lists = {name: list_dir / f"{name}.txt" for name in _LISTS if (list_dir / f"{name}.txt").is_file()}
    files = by_key(list_image_files(image_dir), lambda path: path.stem, findings)
    texts = {
        path.stem: path
        for path in sorted(text_dir.iterdir())
        if path.suffix.lower() in (".csv", ".txt") and path not in lists.values()
    }
    stems = sorted(files.keys() | texts.keys())
    known = {stem: files[stem].name if stem in files else f"{stem}.jpg" for stem in stems}
    words = {name: [line.removesuffix(".jpg") for line in read_list(path, findings)] for name, path in lists.items()}
    splits = splits_of_lists(words, known, findings)
    images = [
        _read_image(known[stem], files.get(stem), texts.get(stem), splits.get(known[stem], ()), findings)
        for stem in stems
    ]
    return AnnotatedSet(
        kind="sroie",
        root=root,
        images=tuple(images),
        names=("text",),
        splits=tuple(lists),
        findings=tuple(findings),
        image_dirs=(image_dir,),
    )


def _read_image(
    name: str,
    path: pathlib.Path | None,
    text_path: pathlib.Path | None,
    splits: tuple[str, ...],
    findings: list[Finding],
) -> AnnotatedImage:
    size = None
    if path is not None:
        try:
            size = read_image_size(path)
        except (OSError, ImageError):
            pass  # reported by the check of the image itself
    if text_path is None:
        findings.append(Finding(Fault.ANNOTATION_MISSING, "there is no .csv or .txt file with its name", name))
        return AnnotatedImage(name, path, None, size, splits)
    text = read_leniently(text_path, name, findings)
    if text is None:
        return AnnotatedImage(name, path, None, size, splits)
    objects = []
    for index, line in enumerate(text.splitlines()):
        if not line.strip():
            continue
        parts = line.split(",", 8)
        corners = tuple(value for value in map(as_number, parts[:8]) if value is not None)
        if len(corners) < 8:
            findings.append(Finding(Fault.FIELD_MALFORMED, f"not eight numbers and a text: {line!r:.80}", name, index))
            continue
        xs, ys = corners[0::2], corners[1::2]
        bbox = (min(ys), min(xs), max(ys), max(xs))
        extra = {"text": parts[8] if len(parts) > 8 else ""}
        objects.append(AnnotatedObject(index, "text", bbox, corners, polygons=(corners,), extra=extra))
    return AnnotatedImage(name, path, text_path, size, splits, tuple(objects))
