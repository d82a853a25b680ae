"""How a command line names a data set: `voc:ROOT`, `coco:FILE.json,photos=DIR`, `yolo:ROOT`, `sroie:ROOT`."""

import dataclasses
import os
import pathlib
from collections.abc import Iterable

from cvzoo.datasets.photo_place import real_folder
from cvzoo.errors.exceptions import ConfigError

PLACES = ("photos", "lists")  # options whose values are folders
_OPTIONS = (*PLACES, "split", "base", "outside")
KINDS = ("coco", "sroie", "voc", "yolo")
TARGETS = ("coco", "voc", "yolo")  # layouts that are written, too
SPEC_HELP = (
    "voc:ROOT, coco:FILE.json (or coco:ROOT), yolo:ROOT or sroie:ROOT; optionally followed by ,photos=DIR ,split=NAME "
    ",lists=DIR ,base=0 ,outside=1"
)


@dataclasses.dataclass(frozen=True)
class DataSpec:
    """A data set's place.

    kind: one of KINDS; path: its folder, or COCO's file
    photos: the folder of the photos where it is not the usual one
    split: only the photos of this list
    base: what VOC's files call the first pixel: 1, as VOC itself, or 0
    lists: the folder of the lists where it is not the usual one; not for COCO
    outside: photos that lie outside of the data set's folder, by their names or by links, are taken
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
        """What `parse_data_spec` reads as this spec."""
        options = {"photos": self.photos, "split": self.split, "lists": self.lists}
        words = [f",{name}={value}" for name, value in options.items() if value is not None]
        words += [",base=0"] * (self.base == 0) + [",outside=1"] * self.outside
        return "".join((str(self), *words))

    def real_folders(self, photo_dirs: Iterable[pathlib.Path]) -> tuple[str, ...]:
        """What its photos must lie below. photo_dirs: the folders of the photos, as the layout has them."""
        root = self.path if self.path.is_dir() else self.path.parent
        if root.name == "annotations" and not self.path.is_dir():
            root = root.parent
        inner = (real_folder(each, named=each == self.photos) for each in photo_dirs)
        return real_folder(root, named=True), *inner


def parse_data_spec(text: str | os.PathLike) -> DataSpec:
    """What the text names; a folder or a .json without a kind in front is recognised by what is in it.

    A comma in a path is part of it unless one of the options' names and "=" follow.
    Raises ConfigError for another kind, an unknown option or a path that is not there.
    """
    text = os.fspath(text)
    kind, colon, rest = text.partition(":")
    if not colon or kind not in KINDS:
        if not pathlib.Path(text.split(",photos=")[0]).exists():
            raise ConfigError(f"{text}: of which kind is this data set?", expected=SPEC_HELP)
        kind, rest = "", text
    words = rest.split(",")
    options: dict[str, str] = {}
    while len(words) > 1 and is_option(words[-1]):
        name, _, value = words.pop().partition("=")
        options[name] = value
    path = pathlib.Path(",".join(words))
    if not rest or not path.exists():
        raise ConfigError(f"{text}: there is no {path}" if rest else f"{text}: where?", expected=SPEC_HELP)
    if options.get("base", "1") not in ("0", "1"):
        raise ConfigError(f"{text}: base is what the first pixel is called", expected="0 or 1", got=options["base"])
    if options.get("outside", "0") not in ("0", "1"):
        raise ConfigError(f"{text}: outside=1 takes photos from elsewhere", expected="0 or 1", got=options["outside"])
    photos = pathlib.Path(options["photos"]) if "photos" in options else None
    if photos is not None and not photos.is_dir():
        raise ConfigError(f"{text}: there is no folder {photos}")
    base, outside = int(options.get("base", "1")), options.get("outside") == "1"
    lists = pathlib.Path(options["lists"]) if "lists" in options else None
    if lists is not None and not lists.is_dir():
        raise ConfigError(f"{text}: there is no folder {lists}")
    kind = kind or _kind_of(path)
    if lists is not None and kind == "coco":
        raise ConfigError(f"{text}: lists= is not for COCO, whose files are the lists")
    return DataSpec(kind, path, photos, options.get("split"), base, outside, lists)


def is_option(word: str) -> bool:
    """Whether the word of a data set's name, between commas, is one of its options and no part of a path."""
    name, equals, _ = word.partition("=")
    return bool(equals) and name in _OPTIONS


def _kind_of(path):
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
    raise ConfigError(f"{path}: of which kind is this data set?", expected=SPEC_HELP)
