"""Reads YOLO's layout leniently."""

import pathlib
from collections.abc import Mapping, Sequence

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, AnnotatedSet, Box
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.layouts.decimals import finite, from_center, times
from cvzoo.datasets.layouts.lenient_text import as_number, by_key, display_name, read_leniently, read_list, read_names
from cvzoo.datasets.layouts.names_in_yaml import names_in_yaml
from cvzoo.datasets.layouts.outline import split_polygon
from cvzoo.datasets.text_files import read_bytes
from cvzoo.errors.exceptions import DatasetError, ImageError
from cvzoo.images.list_image_files import IMAGE_ENDINGS, list_image_files
from cvzoo.images.read_image_size import read_image_size
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Size

_NAME_FILES = ("classes.txt", "obj.names", "names.txt")
_SPLITS = ("train", "val", "valid", "test")


def read_yolo(spec: DataSpec) -> AnnotatedSet:
    """The data set of a folder with subfolders images and labels, or with images and text files next to each other.

    Classes are read from classes.txt, a .names file or data.yaml. Splits are the subfolders of images (train, val ...),
    or lists of images such as train.txt in the root. Raises DatasetError if the root is not a folder.
    """
    root = spec.path
    if not root.is_dir():
        raise DatasetError(f"{root} is not a folder", expected="the folder that contains images and labels")
    findings: list[Finding] = []
    image_dir = spec.photos or (root / "images" if (root / "images").is_dir() else root)
    label_dir = root / "labels" if (root / "labels").is_dir() else image_dir
    files = by_key(list_image_files(image_dir, recursive=True), lambda path: _key(path, image_dir), findings)
    lists = {path.stem: path for path in sorted((spec.lists or root).glob("*.txt")) if _is_list(path)}
    apart = {root / name for name in _NAME_FILES} | set(lists.values())
    texts = {_key(path, label_dir): path for path in sorted(label_dir.rglob("*.txt")) if path not in apart}
    # some tools write their list of classes to the folder of labels
    texts = {key: path for key, path in texts.items() if path.name not in _NAME_FILES}
    names = _read_class_names(root, label_dir, findings)
    keys = sorted(files.keys() | texts.keys())
    splits, splits_of = _splits(keys, files, lists, root, image_dir, findings)
    images = []
    for key in keys:
        path = files.get(key)
        name = display_name(path, image_dir) if path is not None else f"{key}.jpg"
        images.append(_read_image(name, path, texts.get(key), names, splits_of.get(key, ()), findings))
    return AnnotatedSet(
        kind="yolo",
        root=root,
        images=tuple(images),
        names=names,
        numbers=tuple(range(len(names or ()))),
        splits=splits,
        findings=tuple(findings),
        image_dirs=(image_dir,),
    )


def _is_list(path: pathlib.Path) -> bool:
    """Whether the file is a list of images, not labels or class names."""
    try:
        lines = read_bytes(path)[:4096].decode("latin-1").split("\n")
    except DatasetError:
        return False  # reported when it is read as labels
    first = next((line.strip() for line in lines if line.strip()), "")
    return pathlib.PurePath(first).suffix.lower() in IMAGE_ENDINGS


def _key(path: pathlib.Path, folder: pathlib.Path) -> str:
    return path.relative_to(folder).with_suffix("").as_posix()


def yolo_class_names(root: pathlib.Path) -> tuple[str, ...] | None:
    """The classes in a YOLO folder's classes.txt, .names file or data.yaml, or None."""
    names = _read_class_names(root, root / "labels", [])
    return None if names is None else tuple(names)


def _read_class_names(root: pathlib.Path, label_dir: pathlib.Path, findings: list[Finding]) -> tuple[str, ...] | None:
    for folder in (root, label_dir):
        for name in _NAME_FILES:
            if (folder / name).is_file():
                return read_names(folder / name, findings)
    for path in sorted(root.glob("*.names")):
        return read_names(path, findings)
    for path in sorted([*root.glob("*.yaml"), *root.glob("*.yml")]):
        names = names_in_yaml(read_leniently(path, path.name, findings) or "")
        if names is not None:
            return names
    return None


def _splits(
    keys: Sequence[str],
    files: Mapping[str, pathlib.Path],
    lists: Mapping[str, pathlib.Path],
    root: pathlib.Path,
    image_dir: pathlib.Path,
    findings: list[Finding],
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    splits_of: dict[str, tuple[str, ...]] = {}
    if lists:
        # lists often have the paths of the machine that they were written on: the file name has to do
        stems = {pathlib.PurePath(key).name: key for key in files}
        for split, path in lists.items():
            for line in read_list(path, findings):
                at = (root / line).resolve()
                inside = at.is_relative_to(image_dir.resolve())
                # resolved on both sides, since folders of data sets are often links
                key = _key(at, image_dir.resolve()) if inside else None
                if key not in files:
                    key = stems.get(pathlib.PurePath(line).stem)
                if key is None:
                    findings.append(
                        Finding(Fault.LISTED_MISSING, f"{path.name} lists {line}, which does not exist", line)
                    )
                elif split in splits_of.get(key, ()):
                    findings.append(Finding(Fault.LISTED_TWICE, f"{path.name} lists {line} more than once", line))
                else:
                    splits_of[key] = (*splits_of.get(key, ()), split)
        return tuple(lists), splits_of
    for key in keys:
        top = key.split("/")[0]
        if "/" in key and top in _SPLITS:
            splits_of[key] = (top,)
    return tuple(name for name in _SPLITS if (name,) in set(splits_of.values())), splits_of


def _read_image(
    name: str,
    path: pathlib.Path | None,
    text_path: pathlib.Path | None,
    names: Sequence[str] | None,
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
        findings.append(Finding(Fault.ANNOTATION_MISSING, "there is no .txt file with its name", name))
        return AnnotatedImage(name, path, None, size, splits)
    text = read_leniently(text_path, name, findings)
    if text is None:
        return AnnotatedImage(name, path, None, size, splits)
    objects = []
    for index, line in enumerate(text.splitlines()):
        if line.strip():
            annotated = _read_line(line, index, size, name, names, findings)
            if annotated is not None:
                objects.append(annotated)
    return AnnotatedImage(name, path, text_path, size, splits, tuple(objects))


def _read_line(
    line: str, index: int, size: Size | None, name: str, names: Sequence[str] | None, findings: list[Finding]
) -> AnnotatedObject | None:
    words = line.split()
    numbers = [value for value in map(as_number, words) if value is not None]
    if len(numbers) < len(words):
        findings.append(Finding(Fault.FIELD_MALFORMED, f"a line is not numbers: {line.strip()!r:.80}", name, index))
        return None
    number, *values = numbers
    is_polygon = len(values) >= 6 and len(values) % 2 == 0
    if len(values) != 4 and not is_polygon:
        findings.append(
            Finding(
                Fault.FIELD_MALFORMED,
                f"a line has {counted(len(values), 'number')} after the class, not 4",
                name,
                index,
            )
        )
        return None
    class_name, class_number = None, None
    if number != number or not float(number).is_integer():
        findings.append(Finding(Fault.CLASS_UNKNOWN, f"{number:g} is not a class number", name, index))
    else:
        class_number = int(number)
        if names is None and class_number >= 0:
            class_name = str(class_number)
        elif class_number < 0 or class_number >= len(names or ()):
            findings.append(Finding(Fault.CLASS_UNKNOWN, f"class {class_number} of {len(names or ())}", name, index))
        else:
            class_name = (names or ())[class_number] or f"class_{class_number}"
    written: tuple[float, ...] = tuple(values)
    outline: tuple[float, ...] = ()
    if is_polygon:
        if size is not None and finite(values):
            outline = tuple(times(value, size[1 - i % 2]) for i, value in enumerate(values))
        xs, ys = values[0::2], values[1::2]
        written = ((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2, max(xs) - min(xs), max(ys) - min(ys))
    bbox = None if size is None else box_of(written, size)
    if outline:  # from the points themselves, since center and size would be rounded
        bbox = (min(outline[1::2]), min(outline[::2]), max(outline[1::2]), max(outline[::2]))
    polygons = split_polygon(outline) if outline else ()
    return AnnotatedObject(index, class_name, bbox, written, class_number, polygons)


def box_of(written: Sequence[float], size: Size) -> Box:
    """y_min, x_min, y_max, x_max in pixels from YOLO's center, width and height in fractions of (H, W)."""
    x_center, y_center, width, height = written
    y_min, y_max = from_center(y_center, height, size[0])
    x_min, x_max = from_center(x_center, width, size[1])
    return y_min, x_min, y_max, x_max
