"""Materializes a version of a data set: a folder in a layout that `cvzoo train --data` reads, of hard links.

The rows of the images are read twice, and none stays in memory: first for what must be known of all before the first
one is written, then for the files.
"""

import dataclasses
import os
import pathlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedSet
from cvzoo.datasets.layouts.new_folder import new_folder, plain_names
from cvzoo.datasets.layouts.write import PHOTO_FOLDERS
from cvzoo.datasets.layouts.write_coco import write_coco
from cvzoo.datasets.layouts.write_sroie import write_sroie
from cvzoo.datasets.layouts.write_voc import write_voc
from cvzoo.files.atomic_write import remove_path
from cvzoo.studio.data.labels import image_from_json
from cvzoo.studio.data.rows import content_hash
from cvzoo.studio.data.version_files import write_files
from cvzoo.studio.jobs.json_file import load_json
from cvzoo.studio.photos.store import ImageStore, require_sha256
from cvzoo.studio.worker.check_data import annotated_set, check_lines, write_findings

_Progress = Callable[[str, int, int], None]


def make_version(
    order: Mapping[str, Any], lines: pathlib.Path, findings: pathlib.Path, progress: _Progress
) -> dict[str, Any]:
    """{"n_error": those that are neither fixed nor waived}, and without any "data", the specification, and "content".

    order: of the data set, "out": the folder to make, "waived": digests of findings, "findings": those of the import
    lines, findings: files of the rows, and of what is found
    Images that cannot be decoded are left out.
    """
    progress("checking", 0, 0)
    errors = write_findings(findings, check_lines(order, lines, progress))
    errors += [each["digest"] for each in order["findings"] if each["severity"] == "error"]
    waived = set(order["waived"])
    n_error = sum(digest not in waived for digest in errors)
    if n_error:
        return {"n_error": n_error}
    out = pathlib.Path(order["out"])
    for part in out.parent.glob(f".{out.name}.*.part"):  # a folder or a list of files, of an attempt that was killed
        remove_path(part)
    if out.is_dir():  # of an attempt that was killed after the rename
        shutil.rmtree(out)
    known = _Known()
    content = content_hash(order["task"], order["classes"], known.seen(_rows(lines)))
    links = _Links(ImageStore(pathlib.Path(order["images"])))
    with new_folder(out) as folder:
        kind = _WRITERS[order["task"]](order, lines, known, folder, links, progress)
    write_files(out, links.images())
    return {"n_error": 0, "content": content, "data": f"{kind}:{out}"}


@dataclasses.dataclass
class _Known:
    """What is known of all images that can be decoded.

    names: of the images; splits: those that have images
    largest: the largest integer ids of images and objects, 0 without any
    fits_sroie, fits_voc: whether these layouts can hold the objects
    """

    names: list[str] = dataclasses.field(default_factory=list)
    splits: dict[str, None] = dataclasses.field(default_factory=dict)
    largest: tuple[int, int] = (0, 0)
    fits_sroie: bool = True
    fits_voc: bool = True

    def seen(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The rows."""
        of_image, of_object = None, None
        for row in rows:
            if row["height"]:
                self.names.append(row["name"])
                if row["split"]:
                    self.splits[row["split"]] = None
                of_image = _larger(of_image, row["ordinal"] + 1)
                for each in row["labels"]:
                    of_object = self._seen_object(each, of_object)
            yield row
        self.largest = of_image or 0, of_object or 0

    def _seen_object(self, each: Mapping[str, Any], largest: int | None) -> int | None:
        extra, polygons = each.get("extra", {}), each.get("polygons", ())
        if polygons:
            self.fits_voc &= "text" not in extra  # its masks have no text
            self.fits_sroie &= len(polygons) == 1 and len(polygons[0]) == 8  # a line of text has four corners
        self.fits_sroie &= each.get("rle") is None
        return largest if each.get("box") is None else _larger(largest, extra.get("id"))


def _larger(known: int | None, given: object) -> int | None:
    if not isinstance(given, int):
        return known
    return given if known is None or given > known else known


def _write_boxes(
    order: Mapping[str, Any],
    lines: pathlib.Path,
    known: _Known,
    folder: pathlib.Path,
    links: "_Links",
    progress: _Progress,
) -> str:
    """The layout that the images and annotations are written in."""
    kind = _layout(order, known)
    annotated = _without_images(order, known, kind)
    names = plain_names(known.names, flat=kind != "coco")
    target = folder / PHOTO_FOLDERS[kind]
    target.mkdir()

    def linked() -> Iterator[AnnotatedImage]:
        for row in _decoded(lines, known, progress):
            links.add(row["sha256"], f"{target}/{names[row['name']]}")
            yield image_from_json(row, None)

    if kind == "coco":
        write_coco(annotated, folder, names, linked(), known.largest)
    else:
        (write_voc if kind == "voc" else write_sroie)(annotated, folder, names, linked())
    return kind


def _layout(order: Mapping[str, Any], known: _Known) -> str:
    """The layout to write: that of the original if it can hold the objects, since metrics depend on it, else COCO's."""
    if order["layout"] == "sroie":
        return "sroie" if known.fits_sroie and list(order["classes"]) == ["text"] else "coco"
    if order["layout"] == "voc":  # COCO's layout has no objects that are difficult
        return "voc" if known.fits_voc else "coco"
    return "coco"


def _write_classes(
    order: Mapping[str, Any],
    lines: pathlib.Path,
    known: _Known,
    folder: pathlib.Path,
    links: "_Links",
    progress: _Progress,
) -> str:
    """The layout that the images are written in."""
    folders = dict(zip(order["classes"], plain_names(order["classes"], flat=True).values()))
    for split in _without_images(order, known, "folder").splits:
        for name in folders.values():
            (folder / split / name).mkdir(parents=True)
    for row in _decoded(lines, known, progress):
        if row["split"] and row["labels"]:
            name = plain_names([row["name"]], flat=True)[row["name"]]
            target = _free(folder / row["split"] / folders[row["labels"][0]["class"]] / name)
            links.add(row["sha256"], str(target))
    return "folder"


def _without_images(order: Mapping[str, Any], known: _Known, kind: str) -> AnnotatedSet:
    images = [AnnotatedImage("", None, splits=(split,)) for split in known.splits]
    return dataclasses.replace(annotated_set(order, images, kind), images=())


def _rows(lines: pathlib.Path) -> Iterator[dict[str, Any]]:
    with open(lines, encoding="utf-8") as file:
        yield from map(load_json, file)


def _decoded(lines: pathlib.Path, known: _Known, progress: _Progress) -> Iterator[dict[str, Any]]:
    """The rows of the images that can be decoded."""
    for i, row in enumerate(row for row in _rows(lines) if row["height"]):
        progress("writing", i, len(known.names))
        yield row


class _Links:
    """Hard links to images, or copies where these are not possible. store: the images"""

    def __init__(self, store: ImageStore):
        self._root = str(store.root)
        self._linked: set[str] = set()
        self._folders: set[str] = set()

    def add(self, sha256: str, target: str) -> None:
        """Links an image. Raises OSError."""
        parent = target.rpartition("/")[0]
        if parent not in self._folders:
            os.makedirs(parent, exist_ok=True)
            self._folders.add(parent)
        if sha256 not in self._linked:
            require_sha256(sha256)
            self._linked.add(sha256)
        source = self._path(sha256)
        try:
            os.link(source, target)
        except FileExistsError:
            raise  # it may be another image, which a copy would overwrite
        except OSError:  # another file system, or one without hard links
            shutil.copyfile(source, target)

    def images(self) -> Iterator[str]:
        """The paths of the images."""
        return map(self._path, self._linked)

    def _path(self, sha256: str) -> str:
        return f"{self._root}/{sha256[:2]}/{sha256}"


def _free(path: pathlib.Path) -> pathlib.Path:
    number = 1
    while path.exists():
        number += 1
        path = path.with_stem(f"{path.stem}_{number}")
    return path


_WRITERS: Mapping[str, Callable[..., str]] = {"boxes": _write_boxes, "classes": _write_classes}
