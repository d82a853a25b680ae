"""Files of a run that browsers may have: known names only, and none through a link that leads out of the folder."""

import contextlib
import pathlib
import re

from cvzoo.studio.place import inside

# JSON and text are shown as text: nothing of a run is served as a page but the report, which has a frame of its own
_TYPES = {
    ".json": "text/plain; charset=utf-8",
    ".jsonl": "text/plain; charset=utf-8",
    ".toml": "text/plain; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".safetensors": "application/octet-stream",
    ".npz": "application/octet-stream",
    ".jpg": "image/jpeg",
    ".onnx": "application/octet-stream",
    ".html": "text/html; charset=utf-8",
}
_IMAGE = re.compile(r"images/[\w-]{1,60}\.jpg|samples/epoch_(\d{1,9})\.jpg", re.ASCII)
KEPT = "kept"  # the folder of snapshots that people keep
_SNAPSHOT = re.compile(rf"({KEPT}/)?snapshot_iter_\d{{1,12}}\.npz", re.ASCII)
_NAMED = (
    *("best.safetensors", "report.html", "config.json", "recipe.toml", "status.json", "data.json"),
    *("int8.safetensors", "model.onnx", "deploy.safetensors", "scores.json", "verdicts.jsonl"),
    *("predictions.jsonl", "predicted/results.csv", "predicted/coco/annotations/instances_all.json"),
    *("environment.json", "anchors.json", "metrics.jsonl", "metrics.csv", "iterations.jsonl", "live.jsonl"),
)


def media_type(name: str) -> str:
    """The media type of a file that `run_file` found."""
    return _TYPES[pathlib.PurePath(name).suffix]


def run_file(folder: pathlib.Path, name: str) -> pathlib.Path | None:
    """The file of the run, None if it is missing or not one of those that may be had. name: such as "images/a.jpg" """
    if name not in _NAMED and not _SNAPSHOT.fullmatch(name) and not _IMAGE.fullmatch(name):
        return None
    path = inside(folder, *name.split("/"))
    return path if path is not None and path.is_file() else None


def run_files(folder: pathlib.Path) -> list[tuple[str, int]]:
    """(name, bytes) of the files that may be had: the best model and the report first, snapshots by iteration."""
    found = []
    for name in (*_NAMED, *run_snapshots(folder)):
        path = run_file(folder, name)
        if path is not None:
            with contextlib.suppress(OSError):  # a training replaces its snapshots
                found.append((name, path.stat().st_size))
    return found


def run_snapshots(folder: pathlib.Path) -> list[str]:
    """Names of the snapshots by iteration, such as "snapshot_iter_8.npz", or "kept/snapshot_iter_4.npz" of one that the
    training has removed.
    """
    found = {path.name: f"{KEPT}/{path.name}" for path in folder.glob(f"{KEPT}/snapshot_iter_*.npz")}
    found |= {path.name: path.name for path in folder.glob("snapshot_iter_*.npz")}
    names = [found[name] for name in sorted(found, key=lambda each: (len(each), each))]
    return [name for name in names if run_file(folder, name) is not None]


def run_images(folder: pathlib.Path) -> list[str]:
    """Names of the images, "images/predictions.jpg", "samples/epoch_4.jpg" by epoch."""
    names = [
        path.relative_to(folder).as_posix() for part in ("images", "samples") for path in folder.glob(f"{part}/*.jpg")
    ]
    return sorted((name for name in names if run_file(folder, name) is not None), key=lambda name: (len(name), name))


def run_samples(folder: pathlib.Path) -> list[tuple[int | None, str]]:
    """(epoch, name) of the images with predictions by epoch; None of those that each epoch replaces, at the end."""
    found = [(_IMAGE.fullmatch(name), name) for name in run_images(folder)]
    samples = [
        (int(match[1]) if match[1] else None, name)
        for match, name in found
        if match is not None and (match[1] or name.startswith("images/predictions"))
    ]
    return sorted(samples, key=lambda each: (each[0] is None, each))
