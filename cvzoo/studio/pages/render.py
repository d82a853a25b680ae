"""Pages from templates, in which all values are escaped."""

import calendar
import functools
import pathlib
import time
from collections.abc import Mapping
from typing import Any

import jinja2
from fastapi import Request
from fastapi.responses import HTMLResponse

from cvzoo.reporting.as_time import as_time
from cvzoo.reporting.counted import counted
from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.roles import Role, includes
from cvzoo.studio.data.data_name import data_name
from cvzoo.studio.jobs.scores import score_name

_FOLDER = pathlib.Path(__file__).with_name("templates")
_NONE = "–"


def score(value: float | None) -> str:
    """A score or a loss, with four significant digits."""
    return _NONE if value is None else f"{value:.4g}"


def evaluated(value: float | None) -> str:
    """A score of an evaluation, of which none is negative: COCO's rules write -1 if there is nothing to average."""
    return score(value if value is not None and value >= 0 else None)


def duration(seconds: float | None) -> str:
    """As "1:56" or "2:03:00"."""
    return _NONE if seconds is None else as_time(seconds)


def size(n_byte: int) -> str:
    """As "5.8 MB"."""
    value = float(n_byte)
    for unit in ("bytes", "kB", "MB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} GB"


def middle_cut(text: str, n: int = 28) -> str:
    """The text with at most n letters, of a longer one its beginning and its end, as paths are told apart by both."""
    end = n * 2 // 3
    return text if len(text) <= n else f"{text[: n - end - 1]}…{text[-end:]}"


def utc(ms: int) -> str:
    """As "2026-11-23 08:15 UTC"; ms: milliseconds since 1970"""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(ms / 1000))


def moment(text: str) -> int | None:
    """Milliseconds since 1970 of a time such as "2026-11-22 08:10:03 UTC", as run folders have it; None of others"""
    try:
        return calendar.timegm(time.strptime(text, "%Y-%m-%d %H:%M:%S UTC")) * 1000
    except ValueError:
        return None


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "score": score,
        "evaluated": evaluated,
        "counted": counted,
        "score_name": score_name,
        "duration": duration,
        "size": size,
        "middle_cut": middle_cut,
    }
    environment.filters |= {"utc": utc, "moment": moment}
    return environment


_TEMPLATES = _environment()


def render(
    request: Request, template: str, *, status_code: int = 200, values: Mapping[str, Any] | None = None
) -> HTMLResponse:
    """The page of a template, with `who` is signed in and what the user `may` do. values: what the template names"""
    known: dict[str, Any] = {"path": request.url.path, "who": _who(request), "may": functools.partial(may, request)}
    known["data_name"] = functools.cache(lambda spec: data_name(request.app.state.studio.engine, spec))
    text = _TEMPLATES.get_template(template).render(**known, **(values or {}))
    # names of files that are not UTF-8 have surrogates
    return HTMLResponse(text.encode("utf-8", "replace"), status_code=status_code)


def may(request: Request, role: Role) -> bool:
    """Whether who is signed in may do what needs the role; what is not possible is not shown."""
    who = _who(request)
    return who is not None and who.may_write and includes(who.role, role)


def _who(request: Request) -> Identity | None:
    who: Identity | None = getattr(request.state, "who", None)
    return who
