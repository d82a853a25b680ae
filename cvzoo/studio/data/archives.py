"""Archives of versions in a layout, which can be made again."""

import dataclasses
import re

from cvzoo.studio.data.datasets import Dataset
from cvzoo.studio.data.tasks import Tasks
from cvzoo.studio.data.version_files import files_below
from cvzoo.studio.data.versions import Version
from cvzoo.studio.place import Place
from cvzoo.studio.problems import Problem
from cvzoo.studio.uploads.limits import room

LAYOUTS = {"boxes": ("coco", "voc", "yolo"), "classes": ("folder",)}
KEPT_MS = 7 * 24 * 3600 * 1000


@dataclasses.dataclass(frozen=True)
class Archive:
    """An archive that is there.

    lossy: annotations that the layout cannot hold are left out
    n_byte: its size; made_at: milliseconds since 1970
    """

    layout: str
    lossy: bool
    n_byte: int
    made_at: int


def archives_of(place: Place, dataset: Dataset, version: Version) -> list[Archive]:
    """The archives of a version."""
    found = []
    for layout, lossy in [(each, lossy) for each in LAYOUTS.get(dataset.task, ()) for lossy in (False, True)]:
        path = place.archive(version.id, layout, lossy=lossy)
        if path.is_file():
            status = path.stat()
            found.append(Archive(layout, lossy, status.st_size, status.st_mtime_ns // 1_000_000))
    return found


def ask_for_archive(tasks: Tasks, place: Place, dataset: Dataset, version: Version, layout: str, *, lossy: bool) -> str:
    """The identifier of the task that makes an archive.

    lossy: annotations that the layout cannot hold are left out
    Raises Problem 409 for a layout of another task, or while one is made, 507 if the disk has no room for it.
    """
    possible = LAYOUTS.get(dataset.task, ())
    if layout not in possible:
        words = "a class per image" if dataset.task == "classes" else "boxes"
        expected = ", ".join(possible)
        raise Problem(409, f"the layout {layout} cannot hold the annotations, which are {words}", expected=expected)
    _expect_room(place, version, layout)
    asked = {
        "data": version.data,
        "folder": str(place.version(version.id)),
        "layout": layout,
        "lossy": lossy,
        "name": archive_name(dataset, version, layout, lossy=lossy),
        "out": str(place.archive(version.id, layout, lossy=lossy)),
    }
    return tasks.ask("layout", dataset.id, version.rev, asked, version.id)


def _expect_room(place: Place, version: Version, layout: str) -> None:
    """Raises Problem 507 if the disk has no room for the archive, and for the files of another layout before it."""
    n_byte = sum(path.stat().st_size for path in files_below(place.version(version.id)))
    needed = n_byte if version.data.partition(":")[0] == layout else 2 * n_byte
    free = room(place.archives)
    if needed > free:
        words = "the disk has not enough room for the archive"
        raise Problem(507, words, expected=f"{needed}", got=f"{free}", hint="again when there is room")


def archive_name(dataset: Dataset, version: Version, layout: str, *, lossy: bool) -> str:
    """The name of the archive's file without its ending, and of the folder in it."""
    words = re.sub(r"[^A-Za-z0-9.-]+", "_", f"{dataset.name}-{version.name}")[:80].strip("._-")
    return f"{words or version.id}-{layout}{'-lossy' if lossy else ''}"
