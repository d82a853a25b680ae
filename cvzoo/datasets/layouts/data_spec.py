"""How a command line names a data set: `voc:ROOT`, `coco:FILE.json,photos=DIR`, `yolo:ROOT`, `sroie:ROOT`."""

import dataclasses
import os
import pathlib

from cvzoo.errors.exceptions import ConfigError

KINDS = ("coco", "sroie", "voc", "yolo")
SPEC_HELP = (
    "voc:ROOT, coco:FILE.json (or coco:ROOT), yolo:ROOT or sroie:ROOT; perhaps with ,photos=DIR ,split=NAME ,base=0"
)


@dataclasses.dataclass(frozen=True)
class DataSpec:
    """A data set's place.

    kind: one of KINDS; path: its folder, or COCO's file
    photos: the folder of the photos where it is not the usual one
    split: only the photos of this list
    base: what VOC's files call the first pixel: 1, as VOC itself, or 0
    """

    kind: str
    path: pathlib.Path
    photos: pathlib.Path | None = None
    split: str | None = None
    base: int = 1

    def __str__(self) -> str:
        return f"{self.kind}:{self.path}"


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
    while len(words) > 1 and words[-1].partition("=")[0] in ("photos", "split", "base") and "=" in words[-1]:
        name, _, value = words.pop().partition("=")
        options[name] = value
    path = pathlib.Path(",".join(words))
    if not rest or not path.exists():
        raise ConfigError(f"{text}: there is no {path}" if rest else f"{text}: where?", expected=SPEC_HELP)
    if options.get("base", "1") not in ("0", "1"):
        raise ConfigError(f"{text}: base is what the first pixel is called", expected="0 or 1", got=options["base"])
    photos = pathlib.Path(options["photos"]) if "photos" in options else None
    if photos is not None and not photos.is_dir():
        raise ConfigError(f"{text}: there is no folder {photos}")
    return DataSpec(kind or _kind_of(path), path, photos, options.get("split"), int(options.get("base", "1")))


def _kind_of(path):
    if path.is_file() and path.suffix == ".json":
        return "coco"
    if (path / "Annotations").is_dir():
        return "voc"
    if any((path / "annotations").glob("*.json")):
        return "coco"
    if (path / "labels").is_dir() or (path / "data.yaml").is_file():
        return "yolo"
    if (path / "box").is_dir() and (path / "img").is_dir():
        return "sroie"
    raise ConfigError(f"{path}: of which kind is this data set?", expected=SPEC_HELP)
