"""Specifications of data sets on a command line: `voc:ROOT`, `coco:FILE.json,photos=DIR`, `yolo:ROOT`, `sroie:ROOT`."""

import dataclasses
import os
import pathlib
from collections.abc import Iterable

from cvzoo.datasets.image_location import real_folder
from cvzoo.errors.exceptions import ConfigError
from cvzoo.typing.aliases import FilePath

PLACES = ("photos", "lists")  # options whose values are folders
_OPTIONS = (*PLACES, "split", "base", "outside")
KINDS = ("coco", "labelme", "sroie", "voc", "yolo")
TARGETS = ("coco", "voc", "yolo", "labelme")  # layouts that `cvzoo data convert` writes
_WITHOUT_OBJECTS = {
    **dict.fromkeys(("folder", "cifar10", "cifar100", "mnist"), "classes of images"),
    **dict.fromkeys(("camvid", "cityscapes", "ade20k", "labels"), "label maps"),
}
SPEC_HELP = (
    "voc:ROOT, coco:FILE.json (or coco:ROOT), yolo:ROOT, labelme:ROOT or sroie:ROOT; optionally followed by "
    ",photos=DIR ,split=NAME ,lists=DIR ,base=0 ,outside=1"
)


@dataclasses.dataclass(frozen=True)
class DataSpec:
    """A parsed specification of a data set.

    kind: one of KINDS; path: its folder, or COCO's file
    photos: the folder of the images, if it is not the usual one
    split: only the images of this split
    base: coordinates of VOC's files are 1-based, as VOC's own, or 0-based
    lists: the folder of the lists of splits, if it is not the usual one; not for COCO
    outside: images outside of the data set's folder, by their names or by links, are allowed
    """

    kind: str
    path: pathlib.Path
    photos: pathlib.Path | None = None
    split: str | None = None
    base: int = 1
    outside: bool = False
    lists: pathlib.Path | None = None

    def __str__(self) -> str:
        return f"{self.kind}:{self.path}"

    @property
    def text(self) -> str:
        """The text that `parse_data_spec` parses to this specification."""
        options = {"photos": self.photos, "split": self.split, "lists": self.lists}
        words = [f",{name}={value}" for name, value in options.items() if value is not None]
        words += [",base=0"] * (self.base == 0) + [",outside=1"] * self.outside
        return "".join((str(self), *words))

    def real_folders(self, photo_dirs: Iterable[pathlib.Path]) -> tuple[str, ...]:
        """The folders that must contain its images. photo_dirs: the image folders of the layout."""
        root = self.path if self.path.is_dir() else self.path.parent
        if root.name == "annotations" and not self.path.is_dir():
            root = root.parent
        inner = (real_folder(each, named=each == self.photos) for each in photo_dirs)
        return real_folder(root, named=True), *inner


def parse_data_spec(text: FilePath) -> DataSpec:
    """Parses a specification; for a folder or a .json without a prefix such as "voc:", the layout is detected.

    A comma belongs to the path unless an option's name and "=" follow it.
    Raises ConfigError for another layout, an unknown option or a path that does not exist.
    """
    text = os.fspath(text)
    kind, colon, rest = text.partition(":")
    if colon and kind in _WITHOUT_OBJECTS:
        raise ConfigError(
            f"{text} has {_WITHOUT_OBJECTS[kind]}, not boxes",
            expected=SPEC_HELP,
            hint="cvzoo train and cvzoo evaluate read it as it is, with a recipe or a model of its task",
        )
    if not colon or kind not in KINDS:
        if not pathlib.Path(text.split(",photos=")[0]).exists():
            raise ConfigError(f"{text} is not a specification of annotated objects, nor a path", expected=SPEC_HELP)
        kind, rest = "", text
    words = rest.split(",")
    options: dict[str, str] = {}
    while len(words) > 1 and is_option(words[-1]):
        name, _, value = words.pop().partition("=")
        options[name] = value
    path = pathlib.Path(",".join(words))
    if not rest or not path.exists():
        raise ConfigError(
            f"{text}: {path} does not exist" if rest else f"{text or repr(text)}: the path of the data set is missing",
            expected=SPEC_HELP,
        )
    if options.get("base", "1") not in ("0", "1"):
        raise ConfigError(f"{text}: invalid base= of the coordinates", expected="0 or 1", got=options["base"])
    if options.get("outside", "0") not in ("0", "1"):
        raise ConfigError(f"{text}: invalid value of outside=", expected="0 or 1", got=options["outside"])
    images = pathlib.Path(options["photos"]) if "photos" in options else None
    if images is not None and not images.is_dir():
        raise ConfigError(f"{text}: {images} is not a folder")
    base, outside = int(options.get("base", "1")), options.get("outside") == "1"
    lists = pathlib.Path(options["lists"]) if "lists" in options else None
    if lists is not None and not lists.is_dir():
        raise ConfigError(f"{text}: {lists} is not a folder")
    path = _year_of_voc(path) if kind in ("", "voc") else path
    kind = kind or _kind_of(path)
    if lists is not None and kind == "coco":
        raise ConfigError(f"{text}: lists= does not apply to COCO, whose JSON files are the splits")
    return DataSpec(kind, path, images, options.get("split"), base, outside, lists)


def is_option(word: str) -> bool:
    """Whether a word between commas of a specification is an option, not a part of a path."""
    name, equals, _ = word.partition("=")
    return bool(equals) and name in _OPTIONS


def _year_of_voc(path: pathlib.Path) -> pathlib.Path:
    """VOCdevkit/VOC2012 of the folder VOCdevkit, or of the one that contains it; any other path as it is.

    Raises ConfigError if it contains several years.
    """
    years = sorted(each.parent for inner in ("", "VOCdevkit/") for each in path.glob(f"{inner}VOC2*/Annotations"))
    if len(years) > 1 and not (path / "Annotations").is_dir():
        raise ConfigError(f"{path} contains several data sets of VOC", expected=" or ".join(f"voc:{y}" for y in years))
    return years[0] if len(years) == 1 and not (path / "Annotations").is_dir() else path


def _kind_of(path: pathlib.Path) -> str:
    if path.is_file() and path.suffix == ".json":
        return "coco"
    if (path / "Annotations").is_dir():
        return "voc"
    if any((path / "annotations").glob("*.json")):
        return "coco"
    if any((path / "annotations").glob("*.xml")):
        return "voc"
    if (path / "labels").is_dir() or (path / "data.yaml").is_file():
        return "yolo"
    if (path / "box").is_dir() and (path / "img").is_dir():
        return "sroie"
    raise ConfigError(f"{path}: the layout of the data set is not recognized", expected=SPEC_HELP)
