"""Jobs of a file: the specification of one that the studio shows, asked for again."""

import json
import pathlib
import urllib.parse
from typing import Any

from cvzoo.errors.exceptions import ConfigError

_KINDS = ("train", "evaluate", "export", "predict")


def read_spec(path: pathlib.Path) -> tuple[dict[str, Any], str]:
    """(the specification, its name or "") of a file: of `GET /api/v1/jobs/ID`, its `spec`, or a run's job.json.

    Raises ConfigError for anything else, OSError.
    """
    try:
        tree = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is no JSON: {error}") from None
    spec = tree.get("spec", tree) if isinstance(tree, dict) else None
    if not isinstance(spec, dict) or spec.get("kind", "train") not in _KINDS:
        raise ConfigError(
            f"{path} is no specification of a job",
            expected=f'an object with "kind": {", ".join(_KINDS)}',
            got=str(spec.get("kind"))[:40] if isinstance(spec, dict) else type(tree).__name__,
            hint="as GET /api/v1/jobs/ID shows it under spec",
        )
    if spec.get("continues"):
        raise ConfigError(f"{path}: the job continues another one", hint="POST /api/v1/jobs/ID:extend makes such jobs")
    return spec, str(tree.get("name") or "")


def request_of(spec: dict[str, Any], name: str, *, start: bool) -> tuple[str, dict[str, Any]]:
    """(path, body) of the request that queues the job; models are those of their keys. Raises ConfigError."""
    kind = spec.get("kind", "train")
    try:
        if kind == "train":
            settings = {str(key): str(value) for key, value in (spec.get("settings") or {}).items()}
            body = {"recipe": spec["recipe"], "data": spec["data"], "settings": settings}
            return "/jobs", body | {"name": name, "start": start}
        if not start:
            raise ConfigError("only trainings are saved as drafts", got=kind)
        model = urllib.parse.quote(str(spec["source"]), safe=":@")
        if kind == "evaluate":
            more = {"split": spec.get("split", ""), "find_thresholds": spec.get("find_thresholds", False)}
            return "/evaluations", {"model": spec["source"], "data": spec["data"], **more}
        if kind == "export":
            return f"/models/{model}/exports", {"form": spec["form"], "images": spec.get("images", [])}
        return f"/models/{model}/predictions", {"images": spec["images"], "form": spec.get("form", "jsonl")}
    except (KeyError, AttributeError) as error:
        raise ConfigError(f"the specification has no {error}", hint="as GET /api/v1/jobs/ID shows it") from None
