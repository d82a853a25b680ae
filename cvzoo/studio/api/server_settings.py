"""What the server runs with, and the setting that administrators change while it runs."""

import importlib
import platform
from typing import Any

from fastapi import Request
from pydantic import BaseModel

from cvzoo.files.home import cvzoo_home
from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.quotas import Quota, default_quota, set_default_quota
from cvzoo.studio.access.who import Administrator, Overseer, require_session
from cvzoo.studio.api.datasets import audit
from cvzoo.studio.api.users import NewQuota
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import Studio, studio_of

router = api_router("administration")


class ChangedSettings(BaseModel):
    """What changes. default_quota: of users that are added from now on; replaces all of its limits"""

    default_quota: NewQuota | None = None


@router.get("/settings")
def get_settings(request: Request, _: Overseer) -> dict[str, Any]:
    """The options of the command line that the server was started with, and what administrators set."""
    return server_settings(studio_of(request))


@router.patch("/settings")
def change_settings(request: Request, body: ChangedSettings, who: Administrator) -> dict[str, Any]:
    """Another default quota, 403 for a token; all other settings are options of `cvzoo studio`, read when it starts."""
    if body.default_quota is not None:
        given = body.default_quota
        change_default_quota(request, who, Quota(given.running, given.queued, given.bytes))
    return server_settings(studio_of(request))


def change_default_quota(request: Request, who: Identity, quota: Quota) -> None:
    """Sets the quota of users that are added from now on, and records it in the audit. Raises Problem 403."""
    require_session(who)
    engine = studio_of(request).engine
    before = default_quota(engine)
    set_default_quota(engine, quota)
    audit(request, who, "settings.change", "default_quota", {"before": before.to_json(), "after": quota.to_json()})


def server_settings(studio: Studio) -> dict[str, Any]:
    """What the server runs with; no secrets. hosts: names by which browsers may address it"""
    settings = studio.settings
    return {
        "version": str(importlib.import_module("cvzoo").__version__),
        "python": platform.python_version(),
        "home": str(studio.place.home),
        "weights": str(cvzoo_home() / "weights"),
        "host": settings.host,
        "port": settings.port,
        "hosts": sorted(settings.allowed_hosts),
        "has_tls": settings.has_tls,
        "behind_proxy": settings.behind_proxy,
        "watch": list(map(str, settings.watch)),
        "default_quota": default_quota(studio.engine).to_json(),
    }
