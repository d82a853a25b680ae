"""Splits a data set by writing lists or JSON files, without copying images."""

import dataclasses
import json
import os
import pathlib
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedSet
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.layouts.read import read_annotated_set
from cvzoo.datasets.layouts.write_coco import NO_SPLIT
from cvzoo.datasets.sliceable.stratified_parts import stratified_parts
from cvzoo.datasets.split.image_groups import image_groups
from cvzoo.datasets.text_files import read_bytes
from cvzoo.datasets.voc.folders import voc_folders
from cvzoo.errors.exceptions import ConfigError, DatasetError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Array, FilePath


@dataclasses.dataclass(frozen=True)
class Split:
    """The result of `write_split`.

    parts: the image names of each part; objects: for each class, the number of objects in each part
    files: the written file of each part; n_group: the number of groups of images
    left_out: names of images that are in no part, since they are missing, outside of the data set or not annotated
    data: the specification for `cvzoo train --data`
    """

    parts: Mapping[str, tuple[str, ...]]
    objects: Mapping[str, tuple[int, ...]]
    files: Mapping[str, pathlib.Path]
    n_group: int
    left_out: tuple[str, ...]
    data: str


def write_split(
    spec: DataSpec,
    out: FilePath | None = None,
    *,
    shares: Mapping[str, float],
    seed: int = 0,
    group_pattern: str | None = None,
    group_column: str | None = None,
    group_look_alikes: bool = False,
    replace: bool = False,
    start: Callable[[int], None] | None = None,
    step: Callable[[], None] | None = None,
) -> Split:
    """Writes the lists (for COCO: JSON files) of all parts and returns a report. The same seed gives the same split.

    The split is stratified by class, see `stratified_parts`; images without objects are distributed, too.
    out: the folder of the files; None: the layout's folder of lists, for COCO that of the annotations
    shares: name and fraction of each part, such as {"train": 0.8, "val": 0.2}; they sum to 1
    group_pattern, group_column, group_look_alikes: which images to keep in one part, see `photo_groups`
    replace: overwrite existing files
    start: called with the number of images; step: called after each image that was decoded, with group_look_alikes
    Raises ConfigError for invalid arguments, before reading the data where possible; DatasetError if there are fewer
    images than parts; OSError.
    """
    files = _files(spec, out, _checked(shares), replace)
    annotated = read_annotated_set(spec)
    images = [image for image in annotated.images if _is_usable(image, spec.kind)]
    if start is not None:
        start(len(images))
    groups = image_groups(images, pattern=group_pattern, column=group_column, look_alikes=group_look_alikes, step=step)
    names, counts = _class_counts(annotated, images)
    part = stratified_parts(counts, part_sizes(list(shares.values()), len(images)), groups=np.array(groups), seed=seed)
    parts = {name: [image for image, each in zip(images, part) if each == p] for p, name in enumerate(shares)}
    for name, chosen in parts.items():
        if not chosen:
            raise DatasetError(
                f"{spec}: no image is left for {name}",
                got=f"{counted(len(images), 'image')} in {counted(len(set(groups)), 'group')}",
            )
    _write(spec, files, parts)
    kept = {image.name for image in images}
    return Split(
        parts={name: tuple(image.name for image in chosen) for name, chosen in parts.items()},
        objects={
            name: tuple(int(counts[part == p, k].sum()) for p in range(len(parts))) for k, name in enumerate(names)
        },
        files=files,
        n_group=len(set(groups)),
        left_out=tuple(image.name for image in annotated.images if image.name not in kept),
        data=_train_spec(spec, annotated, files),
    )


def _checked(shares: Mapping[str, float]) -> tuple[str, ...]:
    if len(shares) < 2 or any(not 0 < share < 1 for share in shares.values()) or abs(sum(shares.values()) - 1) > 1e-9:
        raise ConfigError(
            "the fractions of a split do not sum to 1", expected="between 0 and 1, 1 in total", got=dict(shares)
        )
    return tuple(shares)


def _files(spec: DataSpec, out: FilePath | None, names: Sequence[str], replace: bool) -> dict[str, pathlib.Path]:
    """The file to write for each part, validated before the data are read."""
    if spec.kind == "coco" and spec.path.is_dir():
        raise ConfigError(f"{spec} is a folder, but COCO's splits are files", expected="coco:FILE.json")
    if spec.kind == "yolo" and out is None and spec.lists is None:
        folder = spec.photos or spec.path / "images"
        taken = [str(folder / name) for name in names if (folder / name).is_dir()]
        if taken:
            raise ConfigError(
                f"{spec} is already split into folders", got=", ".join(taken), hint="--out DIR for lists elsewhere"
            )
    usual = {"voc": voc_folders(spec.path).lists, "coco": spec.path.parent}.get(spec.kind, spec.path)
    folder = pathlib.Path(out) if out is not None else spec.lists or usual
    above = next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise ConfigError(f"{folder} cannot be created, since {above} is not writable", hint="--out DIR")
    if spec.kind == "coco":
        stem, _, last = spec.path.stem.rpartition("_")
        stem = stem if stem and last in NO_SPLIT else spec.path.stem
        files = {name: folder / f"{stem}_{name}.json" for name in names}
    else:
        files = {name: folder / f"{name}.txt" for name in names}
    taken = [str(path) for path in files.values() if path.exists()]
    if taken and not replace:
        raise ConfigError(f"{', '.join(taken)} already exist", hint="--replace, or --out DIR for files elsewhere")
    return files


def _is_usable(image: AnnotatedImage, kind: str) -> bool:
    return image.path is not None and (kind in ("coco", "yolo") or image.annotation_path is not None)


def _class_counts(annotated: AnnotatedSet, images: Sequence[AnnotatedImage]) -> tuple[tuple[str, ...], Array]:
    """(classes, (N, K) int64: the number of objects per image and class, without crowds)."""
    names = annotated.used_names()
    labels = {name: k for k, name in enumerate(names)}
    counts = np.zeros((len(images), len(names)), np.int64)
    for i, image in enumerate(images):
        for each in image.objects:
            if each.name is not None and not each.extra.get("iscrowd"):
                counts[i, labels[each.name]] += 1
    return names, counts


def part_sizes(shares: Sequence[float], n: int) -> list[int]:
    """Numbers of images that sum to n, by the largest remainder method, none 0 if possible."""
    exact = np.array(shares) * n
    # 0.29 of 100 images is 28.999... in binary
    sizes = np.floor(exact + 1e-9).astype(np.int64)
    for p in np.argsort(-(exact - sizes), kind="stable")[: n - sizes.sum()]:
        sizes[p] += 1
    for p in np.flatnonzero(sizes == 0):
        if sizes.max() > 1:
            sizes[np.argmax(sizes)] -= 1
            sizes[p] += 1
    return sizes.tolist()


def _write(spec: DataSpec, files: Mapping[str, pathlib.Path], parts: Mapping[str, Sequence[AnnotatedImage]]) -> None:
    texts = {}
    if spec.kind == "coco":
        texts = _coco_texts(spec, parts)
    else:
        for name, images in parts.items():
            paths = [image.path for image in images if image.path is not None]
            lines = [_yolo_line(path, spec.path) if spec.kind == "yolo" else path.stem for path in paths]
            texts[name] = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
    for name, path in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(texts[name])


def _yolo_line(path: pathlib.Path, root: pathlib.Path) -> str:
    if path.is_relative_to(root):
        return f"./{path.relative_to(root).as_posix()}"
    return str(path.absolute())


def _coco_texts(spec: DataSpec, parts: Mapping[str, Sequence[AnnotatedImage]]) -> dict[str, bytes]:
    """The JSON of each part, with the records of the original file."""
    file = json.loads(read_bytes(spec.path, limit=None))
    part_of = {image.name: name for name, images in parts.items() for image in images}
    records = [each for each in file["images"] if isinstance(each, dict) and each.get("file_name") in part_of]
    part_of_id = {each["id"]: part_of[each["file_name"]] for each in reversed(records) if "id" in each}
    texts = {}
    for name in parts:
        chosen = {
            "images": [each for each in records if part_of[each["file_name"]] == name],
            "annotations": [
                each
                for each in file.get("annotations", ())
                if isinstance(each, dict) and _part_of(each.get("image_id"), part_of_id) == name
            ],
        }
        texts[name] = json.dumps(file | chosen).encode("ascii")
    return texts


def _part_of(image_id: object, part_of_id: Mapping[Any, str]) -> str | None:
    return part_of_id.get(image_id) if isinstance(image_id, (int, str)) else None


def _train_spec(spec: DataSpec, annotated: AnnotatedSet, files: Mapping[str, pathlib.Path]) -> str:
    if spec.kind == "coco":
        images = annotated.image_dirs[0]
        pair = [str(path) for name, path in files.items() if name in ("train", "val")] or list(map(str, files.values()))
        more = ",outside=1" if spec.outside else ""
        return shlex.quote(f"coco:{','.join(pair[:2])},photos={images}{more}")
    usual = voc_folders(spec.path).lists if spec.kind == "voc" else spec.path
    folder = next(iter(files.values())).parent
    lists = None if folder == usual else folder
    return shlex.quote(dataclasses.replace(spec, lists=lists, split=None).text)
