"""The application: middleware, routes and errors."""

import pathlib
from collections.abc import Sequence

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from sqlalchemy.exc import DatabaseError
from starlette.exceptions import HTTPException

from cvzoo.errors.exceptions import CvzooError
from cvzoo.studio.access.guard import Guard
from cvzoo.studio.access.idempotency import Idempotency
from cvzoo.studio.access.rates import Rates
from cvzoo.studio.api import (
    about,
    actions,
    additions,
    compare,
    copies,
    datasets,
    evaluations,
    fixes,
    health,
    images,
    items,
    jobs,
    layouts,
    models,
    predict,
    predictions,
    queue,
    server_settings,
    session,
    snapshots,
    storage,
    suggestions,
    uploads,
    users,
    verify_model,
    versions,
    zoo,
)
from cvzoo.studio.pages import admin, new_training, playground, runs, tour
from cvzoo.studio.pages import data as data_pages
from cvzoo.studio.pages import evaluations as evaluation_pages
from cvzoo.studio.pages import images as image_pages
from cvzoo.studio.pages import models as model_pages
from cvzoo.studio.pages import predictions as prediction_pages
from cvzoo.studio.pages import versions as version_pages
from cvzoo.studio.problems import (
    JSONText,
    on_cvzoo_error,
    on_database_error,
    on_error,
    on_http_error,
    on_os_error,
    on_validation_error,
)
from cvzoo.studio.state import Studio
from cvzoo.studio.uploads.limits import MAX_CHUNK

STATIC = pathlib.Path(__file__).with_name("pages") / "static"
API: Sequence[APIRouter] = (
    images.router,  # first, as a request is matched with one route after the other, and a page has a hundred images
    health.router,
    jobs.router,
    snapshots.router,
    compare.router,
    copies.router,
    actions.router,
    about.router,
    queue.router,
    uploads.router,
    datasets.router,
    additions.router,
    fixes.router,
    items.router,
    suggestions.router,
    versions.router,
    layouts.router,
    models.router,
    verify_model.router,
    zoo.router,
    predict.router,
    predictions.router,
    evaluations.router,
    users.router,
    storage.router,
    server_settings.router,
)
# bytes of a body
LARGE = (
    ("/api/v1/uploads/", MAX_CHUNK),
    ("/api/v1/datasets/", 16 << 20),
    ("/api/v1/predict", predict.MAX_IMAGE),
)
PAGES: Sequence[APIRouter] = (
    session.router,
    new_training.router,
    actions.pages,
    copies.pages,
    about.pages,
    snapshots.pages,
    queue.pages,
    runs.router,
    model_pages.router,
    evaluation_pages.router,
    prediction_pages.router,
    playground.router,
    data_pages.router,
    image_pages.router,
    version_pages.router,
    admin.router,
    tour.router,
)


def create_app(studio: Studio) -> FastAPI:
    """The application of a studio."""
    app = FastAPI(
        title="cvzoo studio",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # its scripts come from another host
        redoc_url=None,
        default_response_class=JSONText,
    )
    app.state.studio = studio
    for router in (*API, *PAGES):
        app.router.routes.extend(router.routes)  # `include_router` would make, and examine, each of them again
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_middleware(Idempotency, studio=studio)
    app.add_middleware(Rates, clock=studio.clock, cookie=studio.cookie)
    app.add_middleware(Guard, settings=studio.settings, large=LARGE, answers=studio.answers)
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(RequestValidationError, on_validation_error)
    app.add_exception_handler(CvzooError, on_cvzoo_error)
    app.add_exception_handler(DatabaseError, on_database_error)
    app.add_exception_handler(OSError, on_os_error)
    app.add_exception_handler(Exception, on_error)
    return app
