"""Makes a zip file of a version of a data set, in the layout of its folder or another one."""

import os
import pathlib
import shutil
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

from cvzoo.datasets.convert.convert_dataset import convert_dataset
from cvzoo.datasets.convert.losses import losses
from cvzoo.datasets.layouts.data_spec import parse_data_spec
from cvzoo.datasets.layouts.read import read_annotated_set
from cvzoo.errors.exceptions import DatasetError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.studio.data.version_files import files_below

_TEXTS = (".json", ".xml", ".txt", ".yaml", ".csv")  # which become smaller; images do not
_OLDEST = (1980, 1, 1, 0, 0, 0)  # the time of all files, so that the same version gives the same bytes
_N_SHOWN = 3


def make_archive(
    asked: Mapping[str, Any], folder: pathlib.Path, progress: Callable[[str, int, int], None]
) -> dict[str, Any]:
    """{"n_byte": size of the archive}.

    asked: "data", the version's specification, and "folder"; "layout"; "lossy", whether annotations that it cannot hold
        are left out; "name", of the folder in the archive; "out", the archive
    folder: where another layout is written first
    Raises DatasetError if annotations would be lost.
    """
    source, out = pathlib.Path(asked["folder"]), pathlib.Path(asked["out"])
    for part in out.parent.glob(f".{out.name}.*.part"):  # of an attempt that was killed
        part.unlink()
    if asked["data"].partition(":")[0] != asked["layout"]:
        source = _converted(asked, folder / "converted", progress)
    files = files_below(source)
    with atomic_write(out) as file, zipfile.ZipFile(file, "w") as archive:
        for i, path in enumerate(files):
            progress("packing", i, len(files))
            info = zipfile.ZipInfo(f"{asked['name']}/{path.relative_to(source).as_posix()}", _OLDEST)
            info.compress_type = zipfile.ZIP_DEFLATED if path.suffix in _TEXTS else zipfile.ZIP_STORED
            info.external_attr = 0o644 << 16
            info.file_size = os.path.getsize(path)  # from 2 GB on, the header is another one
            with open(path, "rb") as one, archive.open(info, "w") as entry:
                shutil.copyfileobj(one, entry, 1 << 20)
    return {"n_byte": out.stat().st_size}


def _converted(
    asked: Mapping[str, Any], target: pathlib.Path, progress: Callable[[str, int, int], None]
) -> pathlib.Path:
    """The folder of the version in the layout."""
    shutil.rmtree(target, ignore_errors=True)  # of an attempt that was killed
    for part in target.parent.glob(f".{target.name}.*.part"):
        shutil.rmtree(part)
    layout, spec = asked["layout"], parse_data_spec(asked["data"])
    progress("reading annotations", 0, 0)
    lost = [each for each in losses(read_annotated_set(spec), layout) if each.is_of_annotations]
    if lost and not asked["lossy"]:
        more = f", and {len(lost) - _N_SHOWN} more" if len(lost) > _N_SHOWN else ""
        raise DatasetError(
            f"{layout.upper()}'s layout cannot hold {', '.join(map(str, lost[:_N_SHOWN]))}{more}",
            hint="COCO's layout, or to leave them out",
        )
    n = done = 0

    def start(n_image: int) -> None:
        nonlocal n
        n = n_image

    def step() -> None:
        nonlocal done
        progress("copying images", done, n)
        done += 1

    convert_dataset(spec, target, kind=layout, start=start, step=step)
    return target
