"""What a model's process answers: predictions, facts, layers with weights and activations, validation images."""

import base64
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.concurrency import run_in_threadpool

from cvzoo.studio.access.who import Reader
from cvzoo.studio.api.models import found_model, loaded_of, require_loadable
from cvzoo.studio.problems import Problem
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import Studio, studio_of

router = api_router("predict")
MAX_IMAGE = 32 << 20


@router.post("/predict")
async def predict(
    request: Request,
    _: Reader,
    model: Annotated[str, Query(max_length=200)],
    nms: Annotated[float | None, Query(ge=0, le=1)] = None,
) -> dict[str, Any]:
    """What the model says of the image that is the body: `objects` from a score of 0.05 on, `classes`, or the runs of a
    label map. model: a key, or "@" and an alias
    nms: the overlap from which on of two boxes of a class the one with the lower score is dropped
    """
    payload = await request.body()
    if not payload:
        raise Problem(415, "the body has no image", hint="the bytes of an image file as the body")
    return await run_in_threadpool(_predict, request, model, {"op": "predict", "nms": nms}, payload)


@router.post("/predict/activations")
async def get_activations(
    request: Request,
    _: Reader,
    model: Annotated[str, Query(max_length=200)],
    layer: Annotated[str, Query(max_length=400)],
) -> dict[str, Any]:
    """The first output of a layer for the image that is the body: its `shape`, statistics, a histogram of 40 bins, and
    `png`, in base64: its first 64 channels side by side, each from its least value, black, to its greatest, white.
    """
    payload = await request.body()
    if not payload:
        raise Problem(415, "the body has no image", hint="the bytes of an image file as the body")
    asked = {"op": "activations", "layer": layer}
    tree, image = await run_in_threadpool(_ask, request, model, asked, payload)
    return {**tree, "png": base64.b64encode(image).decode("ascii")}


@router.get("/models/{model}/layers")
def get_layers(request: Request, model: str, _: Reader) -> dict[str, Any]:
    """The layers in the order of computation: name, kind, shape of the output for an image of `size` (H, W), numbers of
    calls, parameters and multiply-adds, and the names of the layers that it reads, "" for the image.
    """
    return _predict(request, model, {"op": "layers"}, b"")


@router.get("/models/{model}/weights")
def get_weights(
    request: Request, model: str, _: Reader, layer: Annotated[str, Query(max_length=400)]
) -> dict[str, Any]:
    """Of each parameter of a layer: shape, statistics, and a histogram of 40 equal bins."""
    return _predict(request, model, {"op": "weights", "layer": layer}, b"")


@router.get("/models/{model}/facts")
def get_facts(request: Request, model: str, _: Reader) -> dict[str, Any]:
    """task, label_names and thresholds of the model, which is loaded for it."""
    return _predict(request, model, {"op": "facts"}, b"")


@router.get("/models/{model}/validation-images/{index}")
def get_validation_image(request: Request, model: str, index: int, _: Reader) -> dict[str, Any]:
    """An image of the validation data of the model's run, as `png` in base64, with its annotation."""
    studio, found = studio_of(request), found_model(request, model)
    if found.run is None or not found.run.data:
        raise Problem(404, "the model's data are not known", hint="models of runs have data")
    require_loadable(found)
    tree, image = studio.inference.ask(loaded_of(found), {"op": "sample", "index": index})
    return {**tree, "png": base64.b64encode(image).decode("ascii")}


def _predict(request: Request, model: str, asked: dict[str, Any], payload: bytes) -> dict[str, Any]:
    return _ask(request, model, asked, payload)[0]


def _ask(request: Request, model: str, asked: dict[str, Any], payload: bytes) -> tuple[dict[str, Any], bytes]:
    studio: Studio = studio_of(request)
    found = found_model(request, model)
    require_loadable(found)
    return studio.inference.ask(loaded_of(found), asked, payload)
