"""Splitting a data set: lists or JSON files that say which photos to learn from; no photo is copied."""

import dataclasses
import json
import os
import pathlib
import shlex
from collections.abc import Callable, Mapping

import numpy as np

from cvzoo.datasets.layouts.annotated_set import AnnotatedPhoto, AnnotatedSet
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.layouts.read import read_annotated_set
from cvzoo.datasets.layouts.read_coco import NO_SPLIT
from cvzoo.datasets.sliceable.stratified_parts import stratified_parts
from cvzoo.datasets.split.photo_groups import photo_groups
from cvzoo.datasets.text_files import read_bytes
from cvzoo.datasets.voc.folders import voc_folders
from cvzoo.errors.exceptions import ConfigError, DatasetError
from cvzoo.files.atomic_write import atomic_write


@dataclasses.dataclass(frozen=True)
class Split:
    """What came of it.

    parts: of each part the names of its photos; objects: of each class, and part by part, how many objects it has
    files: of each part the file that was written; n_group: how many groups of photos there were
    left_out: names of photos that are not there, lie outside of the data set or have no annotations; in no part
    data: what `cvzoo train --data` takes
    """

    parts: Mapping[str, tuple[str, ...]]
    objects: Mapping[str, tuple[int, ...]]
    files: Mapping[str, pathlib.Path]
    n_group: int
    left_out: tuple[str, ...]
    data: str


def write_split(
    spec: DataSpec,
    out: str | os.PathLike | None = None,
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
    """What was done, once the lists (of COCO: JSON files) of all parts are written. The same seed gives the same split.

    Each part has the same mix of classes, as `stratified_parts` deals them; photos without objects are dealt, too.
    out: the folder of the files; None: where the layout has its lists, beside the annotations of COCO
    shares: of each part its name and its share of the photos, such as {"train": 0.8, "val": 0.2}; they sum to 1
    group_pattern, group_column, group_look_alikes: what keeps photos together, see `photo_groups`
    replace: files of these names may be there already
    start: called with the number of photos; step: called after each photo that was decoded, with group_look_alikes
    Raises ConfigError for what cannot be done, as far as it can be told before the data are read; DatasetError if there
    are fewer photos than parts; OSError.
    """
    files = _files(spec, out, _checked(shares), replace)
    found = read_annotated_set(spec)
    photos = [photo for photo in found.photos if _is_usable(photo, spec.kind)]
    if start is not None:
        start(len(photos))
    groups = photo_groups(photos, pattern=group_pattern, column=group_column, look_alikes=group_look_alikes, step=step)
    names, counts = _class_counts(found, photos)
    part = stratified_parts(counts, _sizes(list(shares.values()), len(photos)), groups=groups, seed=seed)
    parts = {name: [photo for photo, each in zip(photos, part) if each == p] for p, name in enumerate(shares)}
    for name, chosen in parts.items():
        if not chosen:
            raise DatasetError(
                f"{spec}: no photo is left for {name}", got=f"{len(photos)} photos in {len(set(groups))} groups"
            )
    _write(spec, files, parts)
    kept = {photo.name for photo in photos}
    return Split(
        parts={name: tuple(photo.name for photo in chosen) for name, chosen in parts.items()},
        objects={
            name: tuple(int(counts[part == p, k].sum()) for p in range(len(parts))) for k, name in enumerate(names)
        },
        files=files,
        n_group=len(set(groups)),
        left_out=tuple(photo.name for photo in found.photos if photo.name not in kept),
        data=_train_spec(spec, found, files),
    )


def _checked(shares):
    if len(shares) < 2 or any(not 0 < share < 1 for share in shares.values()) or abs(sum(shares.values()) - 1) > 1e-9:
        raise ConfigError("the shares of a split", expected="between 0 and 1, 1 in all", got=dict(shares))
    return tuple(shares)


def _files(spec, out, names, replace):
    """Of each part the file to write, checked before any long work."""
    if spec.kind == "coco" and spec.path.is_dir():
        raise ConfigError(f"{spec}: COCO's annotations are a file a split", expected="coco:FILE.json")
    if spec.kind == "yolo" and out is None and spec.lists is None:
        folder = spec.photos or spec.path / "images"
        taken = [str(folder / name) for name in names if (folder / name).is_dir()]
        if taken:
            raise ConfigError(
                f"{spec}: its folders are a split already", got=", ".join(taken), hint="--out DIR for lists elsewhere"
            )
    usual = {"voc": voc_folders(spec.path).lists, "coco": spec.path.parent}.get(spec.kind, spec.path)
    folder = pathlib.Path(out) if out is not None else spec.lists or usual
    above = next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise ConfigError(f"{folder}: nothing can be written to {above}", hint="--out DIR")
    if spec.kind == "coco":
        stem, _, last = spec.path.stem.rpartition("_")
        stem = stem if stem and last in NO_SPLIT else spec.path.stem
        files = {name: folder / f"{stem}_{name}.json" for name in names}
    else:
        files = {name: folder / f"{name}.txt" for name in names}
    taken = [str(path) for path in files.values() if path.exists()]
    if taken and not replace:
        raise ConfigError(f"{', '.join(taken)}: there already", hint="--replace, or --out DIR for files elsewhere")
    return files


def _is_usable(photo: AnnotatedPhoto, kind: str) -> bool:
    return photo.path is not None and (kind in ("coco", "yolo") or photo.annotation_path is not None)


def _class_counts(found: AnnotatedSet, photos):
    """(the classes, (N, K) int64: how many objects of each a photo has); crowds do not count."""
    names = found.used_names()
    places = {name: k for k, name in enumerate(names)}
    counts = np.zeros((len(photos), len(names)), np.int64)
    for i, photo in enumerate(photos):
        for each in photo.objects:
            if each.name is not None and not each.extra.get("iscrowd"):
                counts[i, places[each.name]] += 1
    return names, counts


def _sizes(shares, n):
    """Whole numbers of photos that sum to n, by the largest remainders, none 0 where that can be."""
    wanted = np.array(shares) * n
    sizes = np.floor(wanted + 1e-9).astype(np.int64)
    for p in np.argsort(-(wanted - sizes), kind="stable")[: n - sizes.sum()]:
        sizes[p] += 1
    for p in np.flatnonzero(sizes == 0):
        if sizes.max() > 1:
            sizes[np.argmax(sizes)] -= 1
            sizes[p] += 1
    return sizes.tolist()


def _write(spec, files, parts):
    texts = {}
    if spec.kind == "coco":
        texts = _coco_texts(spec, parts)
    else:
        for name, photos in parts.items():
            lines = [_yolo_line(photo, spec.path) if spec.kind == "yolo" else photo.path.stem for photo in photos]
            texts[name] = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
    for name, path in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(texts[name])


def _yolo_line(photo, root):
    if photo.path.is_relative_to(root):
        return f"./{photo.path.relative_to(root).as_posix()}"
    return str(photo.path.absolute())


def _coco_texts(spec, parts):
    """The file's own records, those of each part by themselves."""
    file = json.loads(read_bytes(spec.path, limit=None))
    part_of = {photo.name: name for name, photos in parts.items() for photo in photos}
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


def _part_of(image_id, part_of_id):
    return part_of_id.get(image_id) if isinstance(image_id, (int, str)) else None


def _train_spec(spec, found, files):
    if spec.kind == "coco":
        photos = found.photo_dirs[0]
        pair = [str(path) for name, path in files.items() if name in ("train", "val")] or list(map(str, files.values()))
        more = ",outside=1" if spec.outside else ""
        return shlex.quote(f"coco:{','.join(pair[:2])},photos={photos}{more}")
    usual = voc_folders(spec.path).lists if spec.kind == "voc" else spec.path
    folder = next(iter(files.values())).parent
    lists = None if folder == usual else folder
    return shlex.quote(dataclasses.replace(spec, lists=lists, split=None).text)
