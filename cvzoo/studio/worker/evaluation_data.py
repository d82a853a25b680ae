"""Whether `cvzoo evaluate` recognizes data, in a process of its own, as the server does not import what reads them.

`python -m cvzoo.studio.worker.evaluation_data` reads {"data": SPEC, "split": NAME} from standard input and writes
{"fields": {name: what is wrong}} to standard output.
"""

import json
import os
import sys

from cvzoo.datasets.directory_parsing_label_dataset import directory_parsing_label_names
from cvzoo.datasets.label_map_folder_dataset import LabelMapFolderDataset, is_label_map_folder
from cvzoo.datasets.layouts.coco_files import coco_file
from cvzoo.datasets.layouts.data_spec import DataSpec, parse_data_spec
from cvzoo.datasets.voc.bbox_dataset import VOCFolderBboxDataset
from cvzoo.errors.exceptions import ConfigError, CvzooError, DatasetError
from cvzoo.studio.worker.parent import end_with_parent

# which only their own readers recognize, when the evaluation reads them
_OTHERS = ("ade20k", "camvid", "cifar10", "cifar100", "cityscapes", "labels", "lvis", "mnist", "panoptic", "sbd")
_TEXTS = {"yolo": ("labels", (".txt",)), "sroie": ("box", (".txt", ".csv")), "labelme": ("", (".json",))}


def wrong_data(data: str, split: str) -> dict[str, str]:
    """What is wrong, by field; empty if the layout is recognized and has the split. Annotations are not read.

    data, split: as of `cvzoo evaluate`; split "": none is named
    """
    try:
        _recognize(data, split or None)
    except (CvzooError, OSError, ValueError) as error:  # ValueError: no path, as of a NUL
        return {"data": "; ".join(" ".join(line.split()) for line in str(error).splitlines())}
    return {}


def _recognize(data: str, split: str | None) -> None:
    kind, _, root = data.partition(":")
    if kind == "folder":
        _recognize_folder(root, split)
    elif kind not in _OTHERS:
        spec = parse_data_spec(data)
        _recognize_objects(spec, split or spec.split)


def _recognize_folder(root: str, split: str | None) -> None:
    if is_label_map_folder(root):
        LabelMapFolderDataset(root, split or "val")
        return
    has_splits = all(os.path.isdir(os.path.join(root, each)) for each in ("train", "val"))
    part = split or ("val" if has_splits else "")
    directory_parsing_label_names(os.path.join(root, part))


def _recognize_objects(spec: DataSpec, split: str | None) -> None:
    if spec.kind == "voc":
        VOCFolderBboxDataset(spec.path, split, list_dir=spec.lists, label_names=(), allow_outside=spec.outside)
    elif spec.kind == "coco":
        if spec.path.is_dir():
            coco_file(spec.path, split)
        elif split is not None:
            raise ConfigError("a file of COCO is one split", expected="no split, or coco:FOLDER", got=split)
    else:
        _recognize_texts(spec)


def _recognize_texts(spec: DataSpec) -> None:
    """Raises DatasetError if there are no files of annotations, such as in a folder of images alone."""
    name, endings = _TEXTS[spec.kind]
    folder = spec.path / name if (spec.path / name).is_dir() else spec.photos or spec.path
    files = (file for _, _, files in os.walk(folder) for file in files)
    if not any(file.lower().endswith(endings) for file in files):
        raise DatasetError(
            f"{spec} has no annotations", expected=f"{' or '.join(endings)} files in {folder}", got="none"
        )


def main() -> None:
    """Answers the question on standard input."""
    end_with_parent()
    asked = json.load(sys.stdin)
    json.dump({"fields": wrong_data(asked["data"], asked["split"])}, sys.stdout)


if __name__ == "__main__":
    main()
