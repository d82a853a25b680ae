"""Imports a data set: unpacks it, stores its images, and writes a row per image."""

import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import queue
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cvzoo.datasets.doctor.examine_dataset import examine_annotated_set
from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.extract import extract
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedSet
from cvzoo.errors.exceptions import DatasetError
from cvzoo.studio.data.labels import new_object_id, object_to_json
from cvzoo.studio.data.rows import MAX_NAME, MAX_TEXT, item_line, text_of
from cvzoo.studio.jobs.json_file import parse_json
from cvzoo.studio.photos.imaging import Imaging
from cvzoo.studio.photos.store import ImageStore
from cvzoo.studio.uploads.limits import MAX_FILES, MAX_UNPACKED
from cvzoo.studio.worker.check_data import check_lines, finding_to_json, known_facts, plain, write_findings
from cvzoo.studio.worker.find_data import FoundData, find_data
from cvzoo.studio.worker.sample import draw_sample

ROWS, FINDINGS = "rows.jsonl", "findings.jsonl"
_N_IMAGING, _N_COPYING = 2, 8  # processes; threads, which wait for the disk
_N_SHOWN = 200  # letters of a name
_AHEAD = 16  # images that are looked at before the first of them is written
_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
# what the import corrects itself, without losing anything
_CORRECTED = (
    Fault.SIZE_WRONG,
    Fault.SIZE_SWAPPED,
    Fault.SIZE_MISSING,
    Fault.TEXT_ENCODING,
    Fault.FILE_NAME_DIFFERS,
) + (
    (
        Fault.LISTED_TWICE,
        Fault.CLASS_GAP,
        Fault.ANNOTATION_ID_DUPLICATE,
        Fault.ANNOTATION_ID_ZERO,
        Fault.CROWD_MALFORMED,
    )
)
_in_unicode = json.JSONEncoder(ensure_ascii=False).encode  # made once: `json.dumps` makes one per row
Progress = Callable[[str, int, int], None]


class StoredImage(NamedTuple):
    """An image that is in the store. is_replaced: whether "?" stands in its annotations for what is not UTF-8"""

    ordinal: int
    name: str
    sha256: str
    is_replaced: bool


def import_data(order: Mapping[str, Any], folder: pathlib.Path, progress: Progress) -> dict[str, Any]:
    """{"task", "layout", "classes", "extra", "n", "findings"}; the rows are in FOLDER/rows.jsonl.

    order: "source", {"uploads": [{"path", "name"}]}, {"spec": ...} or {"sample": n}; "images", the store's folder
    Raises UnsafeFileError, FileFormatError, DatasetError, ConfigError or OSError, which say what was wrong.
    """
    progress("unpacking", 0, 0)
    found = found_in(order["source"], folder, progress)
    annotated = found.annotated
    store = ImageStore(pathlib.Path(order["images"]))
    images = images_of(found)
    classes = checked_classes(annotated.used_names())
    rows = write_rows(images, found.task, store, folder, progress)
    progress("checking", 0, 0)
    result = {"task": found.task, "layout": annotated.kind, "classes": classes, "n": len(rows)}
    extra = categories_of(annotated)
    own, texts = list(of_files(found, rows, store)), list(of_texts(found, images, rows))
    del found, annotated, images, rows  # all objects: the check reads those of the rows
    checked = list(check_lines({**order, **result, "extra": extra}, folder / ROWS, progress))
    write_findings(folder / FINDINGS, [*checked, *not_among(checked, own), *texts])
    shutil.rmtree(folder / "unpacked", ignore_errors=True)
    return result | {"extra": extra}


def images_of(found: FoundData) -> list[AnnotatedImage]:
    """The images that have files. Raises DatasetError for too many."""
    images = [image for image in found.annotated.images if image.path is not None]
    if len(images) > MAX_FILES:
        raise DatasetError(f"the data set has {len(images)} images", expected=f"at most {MAX_FILES}")
    return images


def checked_classes(names: Iterable[str]) -> list[str]:
    """The names as databases can have them. Raises DatasetError for one that is too long."""
    classes: list[str] = _plain_tree(list(names))
    longest = max(classes, key=len, default="")
    if len(longest) > MAX_NAME:
        raise DatasetError(
            f"the name of a class has {len(longest)} letters", expected=f"at most {MAX_NAME}", got=f"{longest[:40]} ..."
        )
    return classes


def categories_of(annotated: AnnotatedSet) -> dict[str, Any]:
    """What only the layout has of the classes."""
    extra: dict[str, Any] = _plain_tree({"categories": annotated.extra.get("categories", [])})
    return extra


def write_rows(
    images: Sequence[AnnotatedImage],
    task: str,
    store: ImageStore,
    folder: pathlib.Path,
    progress: Progress,
    *,
    first: int = 0,
) -> list[StoredImage]:
    """The images, after they were stored, and FOLDER/rows.jsonl was written. first: number of the first one"""
    rows = []
    with open(folder / ROWS, "w", encoding="utf-8") as file:
        for ordinal, (image, (sha256, size)) in enumerate(zip(images, _stored(images, store, progress)), first):
            raw = _row(image, ordinal, sha256, size, task)
            row = _plain_tree(raw)
            line = item_line(**row | {"labels": text_of(row["labels"]), "extra": json.dumps(row["extra"])})
            if len(line) > MAX_TEXT:
                _check_texts(row)
            file.write(line)
            is_replaced = "?" in line and _has_replaced(raw)
            rows.append(StoredImage(ordinal, row["name"], sha256, is_replaced))
        store.sync()
        file.flush()
        os.fsync(file.fileno())
    return rows


def found_in(
    source: Mapping[str, Any], folder: pathlib.Path, progress: Progress, classes: Collection[str] = ()
) -> FoundData:
    """What is in uploads, which are unpacked in FOLDER, or named by a specification. classes: as of `find_data`"""
    if "spec" in source:
        return find_data(source["spec"], classes)
    unpacked = folder / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    unpacked.mkdir()
    if "sample" in source:
        draw_sample(unpacked, source["sample"], progress)
        return find_data(str(unpacked))
    for upload in source["uploads"]:
        path = pathlib.Path(upload["path"])
        if upload["name"].lower().endswith(_ARCHIVES):
            # the archive's own name is in errors, not that of the upload, to which this process may add no link
            named = folder / pathlib.PurePath(upload["name"]).name
            named.unlink(missing_ok=True)
            os.symlink(path, named)
            extract(named, unpacked, max_files=MAX_FILES, max_bytes=MAX_UNPACKED)
            named.unlink()
        else:
            shutil.copyfile(path, unpacked / pathlib.PurePath(upload["name"]).name)
    return find_data(str(_only_folder(unpacked, folder / "data", classes)), classes, is_unpacked=True)


def _only_folder(path: pathlib.Path, target: pathlib.Path, classes: Collection[str]) -> pathlib.Path:
    """The innermost folder that has all there is, under a name of ours, as its own could be an option of a spec.

    classes: names of folders that say something
    """
    while True:
        names = [name for name in os.listdir(path) if not name.startswith((".", "__MACOSX"))]
        if len(names) != 1 or not (path / names[0]).is_dir() or names[0] in classes:
            return path
        shutil.rmtree(target, ignore_errors=True)
        os.rename(path / names[0], target)
        shutil.rmtree(path, ignore_errors=True)
        os.rename(target, path)


def _stored(
    images: Sequence[AnnotatedImage], store: ImageStore, progress: Progress
) -> Iterator[tuple[str, tuple[int, int]]]:
    """(SHA-256, (H, W)) of each image, in order."""
    free: queue.SimpleQueue[Imaging] = queue.SimpleQueue()
    workers = [Imaging(store) for _ in range(_N_IMAGING)]
    for worker in workers:
        free.put(worker)

    def look(image: AnnotatedImage) -> tuple[str, tuple[int, int]]:
        assert image.path is not None
        sha256 = store.add(image.path)
        worker = free.get()
        try:
            return sha256, worker.size(sha256, pathlib.PurePath(image.name).name)
        finally:
            free.put(worker)

    ahead: collections.deque[concurrent.futures.Future[tuple[str, tuple[int, int]]]] = collections.deque()
    with concurrent.futures.ThreadPoolExecutor(_N_COPYING) as pool:
        try:
            for i, image in enumerate(images):
                ahead.append(pool.submit(look, image))
                progress("reading images", i, len(images))
                if len(ahead) > _AHEAD:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            for worker in workers:
                worker.__exit__(None, None, None)


def _row(image: AnnotatedImage, ordinal: int, sha256: str, size: tuple[int, int], task: str) -> dict[str, Any]:
    if task == "classes":
        labels = [{"id": new_object_id(), "class": each.name} for each in image.objects]
    else:
        labels = [tree for each in image.objects if (tree := object_to_json(each)) is not None]
    return {
        "ordinal": ordinal,
        "name": plain(image.name),
        "sha256": sha256,
        "height": size[0],
        "width": size[1],
        "split": _split_of(image),
        "labels": labels,
        "extra": {key: value for key, value in image.extra.items() if key != "id"},
    }


def _check_texts(row: dict[str, Any]) -> None:
    """Raises DatasetError for what no edit could save."""
    for each in [row, *row["labels"]]:
        n = len(json.dumps(each.get("extra", {})))
        if n > MAX_TEXT:
            name = str(row["name"])[:80]
            raise DatasetError(f"an annotation of {name} has a text of {n} letters", expected=f"at most {MAX_TEXT}")


def _plain_tree(tree: Any) -> Any:
    """The tree as JSON and databases can have it: numbers that are not finite are None, text is UTF-8.

    Raises DatasetError if it is nested too deeply.
    """
    try:
        return parse_json(_in_unicode(tree).encode("utf-8", "replace"))
    except RecursionError:
        raise DatasetError("values of an annotation are nested too deeply") from None


def _has_replaced(row: Mapping[str, Any]) -> bool:
    """Whether a text of the annotations is not UTF-8; not the name of a class, which is told once."""
    labels = [{key: value for key, value in each.items() if key != "class"} for each in row["labels"]]
    text = json.dumps([labels, row["extra"]], ensure_ascii=False)
    return plain(text) != text


def _split_of(image: AnnotatedImage) -> str:
    """The split of an image: of train2017 it is train; of an image in several the one that training uses first."""
    names = [
        next((s for s in ("train", "val", "test") if name == s or name == f"{s}2017"), name) for name in image.splits
    ]
    return next((split for split in ("val", "test", "train") if split in names), names[0] if names else "")


def of_files(found: FoundData, rows: Sequence[StoredImage], store: ImageStore) -> Iterator[dict[str, Any]]:
    """The findings of the files; the rows do not have all of these any more, see `not_among`."""
    annotated = found.annotated
    if found.task == "classes" or annotated.kind == "images":
        return
    by_name = {each.name: each for each in rows}
    # without what only comparing images takes, 2 KB each
    facts = [
        None
        if image.path is None
        else dataclasses.replace(known_facts(store, by_name[plain(image.name)].sha256), fingerprint=None, look=None)
        for image in annotated.images
    ]
    for each in examine_annotated_set(annotated, facts, duplicates=False):  # the check has them
        if each.kind is Fault.NAME_ENCODING and each.image is not None and plain(each.image) != each.image:
            continue  # `of_texts` tells the new name
        tree = finding_to_json(each, by_name, "import")
        if tree["severity"] != "note":
            # a file is read in another encoding; of a class of COCO's, which is of no file, half of a character is lost
            is_lost = each.kind is Fault.TEXT_ENCODING and each.image is None
            yield tree | {"corrected": each.kind in _CORRECTED and not is_lost}


def not_among(checked: Iterable[Mapping[str, Any]], own: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The findings of the files that are of no kind that the check found in the same image."""
    known = {(each["kind"], each["ordinal"]) for each in checked}
    return (each for each in own if (each["kind"], each["ordinal"]) not in known)


def of_texts(
    found: FoundData, images: Sequence[AnnotatedImage], rows: Sequence[StoredImage]
) -> Iterator[dict[str, Any]]:
    """The findings of names and texts that were not UTF-8, as half of a character is not. images: those of the rows"""
    by_name = {each.name: each for each in rows}
    for name in found.annotated.used_names():
        if plain(name) != name:
            words = f"the class {ascii(name)[:_N_SHOWN]} is {plain(name)[:_N_SHOWN]} in the data set"
            yield finding_to_json(Finding(Fault.TEXT_ENCODING, words), by_name, "import")
    for image, row in zip(images, rows):
        if plain(image.name) != image.name:
            words = f"the name {ascii(image.name)[:_N_SHOWN]} is {row.name[:_N_SHOWN]} in the data set"
            yield finding_to_json(Finding(Fault.NAME_ENCODING, words, image.name), by_name, "import")
        if row.is_replaced:
            words = "? stands in its annotations for what was not UTF-8"
            yield finding_to_json(Finding(Fault.TEXT_ENCODING, words, image.name), by_name, "import")
