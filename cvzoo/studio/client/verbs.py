"""What `cvzoo studio list`, `show`, `log`, `submit`, `pull` and the actions do with a running studio."""

import os
import pathlib
import shutil
import time
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any

from cvzoo.errors.exceptions import ConfigError
from cvzoo.reporting.as_time import as_time
from cvzoo.studio.client.pull_data import check_name
from cvzoo.studio.client.server import Server
from cvzoo.studio.client.spec_file import read_spec, request_of

_FOLLOW_S = 1.0
_LIVING = ("queued", "starting", "running", "pausing", "stopping", "killing")
_MAX_PAGE = 1000


def list_jobs(server: Server, *, state: str = "", text: str = "") -> list[str]:
    """A line per run: identifier, state, progress, best score, name."""
    rows = _all(server, state=state, text=text)
    return [
        "  ".join((row["id"], f"{row['state']:<9}", _progress(row), _best(row), _plain(row["name"]))) for row in rows
    ]


def show_job(server: Server, job: str) -> list[str]:
    """What is known of a run, a line per fact."""
    row = server.get(f"/jobs/{found_job(server, job)}")
    facts: dict[str, Any] = {key: row.get(key) for key in ("name", "id", "state", "detail", "recipe", "data")}
    facts |= {"progress": _progress(row).strip(), "best": _best(row).strip(), "command": row.get("command")}
    facts["left"] = None if row.get("seconds_left") is None else as_time(row["seconds_left"])
    outcome = row.get("outcome") or {}
    facts |= {"ended": outcome.get("word"), "try": outcome.get("try"), "notes": row.get("notes")}
    facts["tags"] = ", ".join(row.get("tags") or ())
    return [f"{key + ':':<10} {_plain(str(value))}" for key, value in facts.items() if value not in (None, "")]


def follow_log(server: Server, job: str, write: Callable[[str], object], *, follow: bool) -> None:
    """Writes the output of the last attempt; with `follow` also what comes, until the job has ended."""
    found, offset, attempt = found_job(server, job), 0, None
    while True:
        state = server.get(f"/jobs/{found}")["state"]  # before the log, so that its end is not missed
        part = server.get(f"/jobs/{found}/log", {"offset": offset, "attempt": attempt})
        if part["text"]:
            write(part["text"])
        offset = part["next"]
        if part["has_more"]:
            continue
        newest = part["newest"]
        if attempt is not None and newest > part["attempt"]:
            attempt, offset = newest, 0
            continue
        attempt = part["attempt"] or None
        if not follow or state not in _LIVING:
            return
        time.sleep(_FOLLOW_S)


def ask(server: Server, job: str, action: str) -> str:
    """Asks a job for something, such as "pause"; a line with its state after that."""
    row = server.post(f"/jobs/{found_job(server, job)}:{action}")
    return f"{_plain(row['name'])}: {row['state']}"


def submit(
    server: Server, recipe: str, data: str, settings: Mapping[str, str], *, name: str = "", start: bool = True
) -> str:
    """Queues a training; returns its identifier."""
    body = {"recipe": recipe, "data": data, "name": name, "settings": dict(settings), "start": start}
    return str(server.post("/jobs", body)["id"])


def submit_file(server: Server, path: pathlib.Path, *, name: str = "", start: bool = True) -> str:
    """Queues the job of a file's specification; returns its identifier. Raises ConfigError, OSError."""
    spec, known = read_spec(path)
    where, body = request_of(spec, name or known, start=start)
    return str(server.post(where, body)["id"])


def pull(server: Server, job: str, folder: pathlib.Path) -> list[str]:
    """Downloads the files of a run into a new or empty folder; a line per file. Raises ConfigError, OSError."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"{folder} is no empty folder", hint="another DIR")
    found = found_job(server, job)
    lines = []
    for each in server.get(f"/jobs/{found}")["files"]:
        name = str(each["name"])
        path = folder / name
        check_name(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.part")
        try:
            with (
                server.opened("GET", f"/jobs/{found}/files/{urllib.parse.quote(name)}") as answer,
                open(part, "xb") as out,
            ):
                shutil.copyfileobj(answer, out, 1 << 20)
                out.flush()
                os.fsync(out.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        lines.append(f"{path} {path.stat().st_size}")
    return lines


def import_data(server: Server, spec: str, name: str) -> str:
    """Imports data of the server's machine, and waits for it; returns the identifier. Raises ConfigError."""
    tree = server.post("/datasets", {"name": name, "source": {"spec": spec}})
    while tree["state"] == "importing":
        time.sleep(_FOLLOW_S)
        tree = server.get(f"/datasets/{tree['id']}")
    if tree["state"] != "ready":
        raise ConfigError(f"the import failed: {_plain(str(tree['detail']))}")
    return str(tree["id"])


def make_version(server: Server, dataset: str, name: str) -> str:
    """Makes a version of a data set, and waits for it; returns what `--data` names. Raises ConfigError."""
    found = dataset
    if not dataset.startswith("ds_"):
        known = [each["id"] for each in server.get("/datasets")["items"] if each["name"] == dataset]
        if not known:
            raise ConfigError(f"no data set is named {dataset}", hint="names are those of the page Data")
        found = known[0]
    tree = server.post(f"/datasets/{found}/versions", {"name": name})
    while tree["state"] == "making":
        time.sleep(_FOLLOW_S)
        tree = server.get(f"/versions/{tree['id']}")
    if tree["state"] != "ready":
        raise ConfigError(f"the version could not be made: {_plain(str(tree['detail']))}")
    return str(tree["data"])


def found_job(server: Server, job: str) -> str:
    """The identifier of a job that is named by it, or by its name. Raises ConfigError if there is none, or several."""
    if job.startswith(("jb_", "wr_")):
        return job
    rows = [row for row in _all(server, text=job) if row["name"] == job]
    if not rows:
        raise ConfigError(f"no run is named {job}", hint="cvzoo studio list prints names and identifiers")
    if len(rows) > 1:
        raise ConfigError(f"several runs are named {job}", expected="one of " + ", ".join(row["id"] for row in rows))
    return str(rows[0]["id"])


def _all(server: Server, *, state: str = "", text: str = "") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        page = server.get("/jobs", {"state": state, "text": text, "after": after, "limit": _MAX_PAGE})
        rows += page["items"]
        after = page["next"]
    return rows


def _progress(row: Mapping[str, Any]) -> str:
    return "    " if row.get("progress") is None else f"{row['progress']:>4.0%}"


def _best(row: Mapping[str, Any]) -> str:
    return " " * 7 if row.get("best") is None else f"{row['best']:>7.4g}"


def _plain(text: str) -> str:
    """The text without what would move the terminal's cursor or color it."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
