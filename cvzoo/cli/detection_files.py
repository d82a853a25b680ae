"""Reads and writes files of detections in the formats of other programs."""

import pathlib
from collections.abc import Callable, Mapping, Sequence

from cvzoo.cli.check_target import check_folder, check_target
from cvzoo.errors.exceptions import ConfigError, DatasetError
from cvzoo.evaluations.results.box_records import BoxRecords, spellings
from cvzoo.evaluations.results.csv_results import read_csv_results, write_csv_results
from cvzoo.evaluations.results.voc_results import is_voc_result, read_voc_results, voc_results_files, write_voc_results
from cvzoo.evaluations.results.yolo_results import read_yolo_results, write_yolo_results
from cvzoo.images.read_image_size import read_image_size
from cvzoo.typing.aliases import Size


def read_box_results(
    name: str, label_names: Sequence[str], sizes: Callable[[], Mapping[str, Size]]
) -> BoxRecords | None:
    """The detections of a CSV file, of VOC's files or of YOLO's; None for another file, which may be COCO's JSON.

    label_names: the classes in the order of YOLO's numbers; sizes: returns (H, W) by file names of images, for YOLO's
    """
    path = pathlib.Path(name)
    if path.is_dir() and not any(map(is_voc_result, path.glob("*.txt"))):
        known = sizes()
        places = spellings(list(known), range(len(known)))
        values = list(known.values())
        # YOLO's names keep the folders of images, without the extension
        whole = {file.rsplit(".", 1)[0]: size for file, size in known.items()}
        return read_yolo_results(path, label_names, {name: values[i] for name, i in places.items()} | whole)
    if path.is_dir() or path.suffix.lower() == ".txt":
        return read_voc_results(voc_results_files(path))
    if path.suffix.lower() in (".csv", ".tsv"):
        return read_csv_results(path)
    return None


def result_format(target: str, given: str | None) -> str:
    """The format of --save-results: that of --save-format, otherwise CSV for .csv, VOC's for DIR/, COCO's for a file.

    Raises ConfigError if the target cannot be written.
    """
    path = pathlib.Path(target)
    is_folder = target.endswith(("/", "\\")) or path.is_dir()
    kind = given or ("csv" if path.suffix.lower() == ".csv" else "voc" if is_folder else "coco")
    if kind in ("coco", "csv"):
        check_target(target)
    elif path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise ConfigError(f"--save-results {target} exists", expected="a folder that does not exist or is empty")
    elif not path.absolute().parent.is_dir():
        raise ConfigError(f"--save-results {target}: the folder {path.parent} does not exist")
    else:
        check_folder(path if path.is_dir() else path.absolute().parent, target)
    return kind


def write_box_results(
    target: str,
    kind: str,
    records: BoxRecords,
    label_names: Sequence[str],
    sizes: Callable[[], Mapping[str, Size]],
    *,
    split: str | None,
) -> None:
    """Writes detections whose images and classes have the names of the ground truth.

    kind: "csv", "voc" or "yolo"; split: part of the names of VOC's files, "test" by default
    """
    path = pathlib.Path(target)
    if kind == "csv":
        write_csv_results(path, records)
        return
    path.mkdir(exist_ok=True)
    if kind == "voc":
        write_voc_results(path, records, label_names, split=split or "test")
    else:
        write_yolo_results(path, records, label_names, sizes())


def sizes_of_files(names: Sequence[str], paths: Sequence[pathlib.Path | None]) -> dict[str, Size]:
    """(H, W) of each image by its name, from its file. Raises DatasetError if one is unknown, ImageError."""
    sizes = {}
    for name, path in zip(names, paths):
        if path is None:
            raise DatasetError(
                f"the size of {name} is unknown, which YOLO's results need", hint="--data SPEC, not --gt"
            )
        sizes[name] = read_image_size(path)
    return sizes
