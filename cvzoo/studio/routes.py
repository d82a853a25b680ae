"""Routers of the API and of pages, and their routes, whose parameters are examined at the first request."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.routing import compile_path

from cvzoo.studio.problems import JSONText

API_PREFIX = "/api/v1"


class _RouteOnDemand(APIRoute):
    """A route that FastAPI examines when it is first asked: until then it has what a request is matched with.

    To examine the parameters and bodies of 200 routes takes 0.6 s, of which the first page would wait for all.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **settings: Any) -> None:
        self._settings = settings
        self.path, self.endpoint, self.name = path, endpoint, settings["name"] or endpoint.__name__
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)
        self.methods = set(settings["methods"] or ["GET"])
        self.include_in_schema = settings["include_in_schema"]

    def __getattr__(self, name: str) -> Any:
        """An attribute that only an examined route has, such as the `app` that answers."""
        settings = None if name.startswith("__") else self.__dict__.pop("_settings", None)
        if settings is None:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}", name=name, obj=self)
        super().__init__(self.path, self.endpoint, **settings)
        return getattr(self, name)


def api_router(tag: str) -> APIRouter:
    """A router below `API_PREFIX`, which the description of the API has under the tag."""
    return APIRouter(prefix=API_PREFIX, tags=[tag], route_class=_RouteOnDemand, default_response_class=JSONText)


def page_router() -> APIRouter:
    """A router of pages, which the description of the API does not have."""
    return APIRouter(include_in_schema=False, route_class=_RouteOnDemand, default_response_class=JSONText)
