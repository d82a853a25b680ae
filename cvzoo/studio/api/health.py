"""Whether the server works, and its version."""

import importlib

from fastapi import APIRouter

router = APIRouter(tags=["health"])


@router.get("/health")
def health() -> dict[str, str]:
    """{"status": "ok"} while the server answers; needs no session."""
    return {"status": "ok"}


@router.get("/version")
def version() -> dict[str, str]:
    """The version of cvzoo; needs no session."""
    return {"cvzoo": importlib.import_module("cvzoo").__version__}
