"""Models: the list, a model's card and file, and exports of it."""

import os
import re
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Depends, Request
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, Field

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.who import Reader, Trainer
from cvzoo.studio.api.actions import new_job
from cvzoo.studio.api.named_data import require_folder
from cvzoo.studio.jobs.job import Job
from cvzoo.studio.jobs.spec import ExportSpec, Form, PredictionForm, PredictSpec
from cvzoo.studio.models.card import card_of
from cvzoo.studio.models.fits import why_no_export, why_no_predictions
from cvzoo.studio.models.found import Model, sha256_of
from cvzoo.studio.problems import Problem
from cvzoo.studio.state import studio_of

router = APIRouter(tags=["models"])
_Path: TypeAlias = Annotated[str, Field(max_length=2000)]
MAX_CALIBRATION = 64


class NewExport(BaseModel):
    """form: "onnx" or "int8"; images: files, or a folder of images, on which int8 is calibrated"""

    form: Form
    images: Annotated[list[_Path], Field(max_length=MAX_CALIBRATION)] = []


class NewPredictions(BaseModel):
    """images: a folder, or a file, of this machine; form: "jsonl", "csv" or "coco" """

    images: _Path
    form: PredictionForm = "jsonl"


def found_model(request: Request, model: str) -> Model:
    """The model of a key. Raises Problem 404."""
    found = studio_of(request).models.find(model)
    if found is None:
        raise Problem(404, "there is no such model", hint="its run may have been moved or deleted")
    return found


def _of_path(request: Request, model: str, _: Reader) -> Model:
    return found_model(request, model)


FoundModel: TypeAlias = Annotated[Model, Depends(_of_path)]


@router.get("/models")
def list_models(request: Request, _: Reader) -> dict[str, Any]:
    """The best models of runs, what was made of models, and the zoo's."""
    models = studio_of(request).models
    own = [*models.of_runs(), *models.made()]
    zoo = [{"key": f"zoo:{each['name']}", **each} for each in models.zoo.members()]
    return {"items": [_row(each) for each in own], "zoo": zoo}


@router.get("/models/{model}")
def get_model(found: FoundModel, _: Reader) -> dict[str, Any]:
    """A model's card: provenance, thresholds, scores."""
    return {**_row(found), "card": card_of(found)}


@router.get("/models/{model}/file")
def get_model_file(found: FoundModel, _: Reader) -> Response:
    """The model's file."""
    if found.path is None:
        raise Problem(
            404, "a model of the zoo is in the cache of weights", hint="cvzoo models info NAME names its file"
        )
    stem = re.sub(r"[^\w.-]+", "-", os.fsencode(found.name).decode("utf-8", "replace"), flags=re.ASCII).strip("-.")
    name = f"{stem[:80] or 'model'}-{found.path.name}"
    return FileResponse(found.path, media_type="application/octet-stream", filename=name)


@router.post("/models/{model}/exports", status_code=201)
def create_export(request: Request, found: FoundModel, body: NewExport, who: Trainer) -> dict[str, Any]:
    """A job that exports the model to ONNX, or quantizes it to int8."""
    return {"id": export(request, found, body, who).id}


@router.post("/models/{model}/predictions", status_code=201)
def create_predictions(request: Request, found: FoundModel, body: NewPredictions, who: Trainer) -> dict[str, Any]:
    """A job of `cvzoo predict` on a folder of images."""
    return {"id": predict_many(request, found, body, who).id}


def predict_many(request: Request, found: Model, body: NewPredictions, who: Identity) -> Job:
    """Queues the predictions. Raises Problem 409 of a model that is none of cvzoo's, 422 without images, or if the
    format does not fit.
    """
    require_loadable(found)
    images = body.images.strip()
    require_folder(request, who, images)
    if not images or "\0" in images or not os.path.exists(images):
        wrong = {"predicted": f"{images[:200]} does not exist" if images else "a folder of images must be named"}
        raise Problem(422, "some values are invalid", fields=wrong)
    refusal = why_no_predictions(found, body.form)
    if refusal is not None:
        raise Problem(422, "some values are invalid", fields={"form": refusal})
    spec = PredictSpec(found.word, found.key, digest_of(found), os.path.abspath(images), body.form)
    return new_job(request, f"{found.name} on {images}", spec, who)


def export(request: Request, found: Model, body: NewExport, who: Identity) -> Job:
    """Queues the export. Raises Problem 409 of a model that is none of cvzoo's, 422 of a quantized one, or without
    images for int8.
    """
    require_loadable(found)
    refusal = why_no_export(found, body.form)
    if refusal is not None:
        raise Problem(422, f"the model cannot be exported: {refusal}", fields={"form": refusal})
    if body.form == "int8" and not body.images:
        wrong = {"images": "int8 needs images, or a folder of images, to find the ranges of activations"}
        raise Problem(422, "the model cannot be quantized without images", fields=wrong)
    for each in body.images:
        require_folder(request, who, each)
        if not os.path.exists(each):
            raise Problem(422, "some values are invalid", fields={"images": f"{each[:200]} does not exist"})
    spec = ExportSpec(found.word, found.key, digest_of(found), body.form, tuple(body.images))
    return new_job(request, f"{found.name} as {body.form}", spec, who)


def require_loadable(found: Model) -> None:
    """Raises Problem 409 unless cvzoo loads the model on this machine."""
    if not found.is_loadable:
        is_member = found.member is not None
        raise Problem(
            409,
            f"{found.name} is not on this machine" if is_member else f"{found.name} is a model for other programs",
            hint=f"cvzoo predict IMAGE --model {found.word} downloads it" if is_member else "the model it was made of",
        )


def digest_of(found: Model) -> str:
    """The SHA-256 of the model's file, "" of the zoo's. Raises Problem 404 if the file is gone."""
    try:
        return "" if found.path is None else sha256_of(found.path)
    except OSError:
        raise Problem(404, "the model's file is gone") from None


def _row(found: Model) -> dict[str, Any]:
    run = None if found.run is None else {"id": found.run.id, "name": found.run.name, "state": found.run.state}
    return {
        "key": found.key,
        "name": found.name,
        "origin": found.origin,
        "bytes": found.n_byte or None,
        "changed_at": found.changed_at or None,
        "run": run,
        "is_loadable": found.is_loadable,
    }
