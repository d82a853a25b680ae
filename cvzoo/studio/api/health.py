"""Whether the server works, its version, and for administrators its numbers."""

import importlib

from fastapi import Request
from fastapi.responses import Response

from cvzoo.studio.access.who import Overseer
from cvzoo.studio.metrics import CONTENT_TYPE, metrics_of
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import studio_of

router = api_router("health")


@router.get("/health")
def health() -> dict[str, str]:
    """{"status": "ok"} while the server answers; needs no session."""
    return {"status": "ok"}


@router.get("/version")
def version() -> dict[str, str]:
    """The version of cvzoo; needs no session."""
    return {"cvzoo": importlib.import_module("cvzoo").__version__}


@router.get("/metrics")
def get_metrics(request: Request, _: Overseer) -> Response:
    """Jobs by state, the queue, free disk, answers by status and the server's memory, as Prometheus reads them."""
    return Response(metrics_of(studio_of(request)), headers={"content-type": CONTENT_TYPE})
