"""Models: the list, a model's card and file, and exports of it."""

import os
import re
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from fastapi import Depends, Header, Request
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, Field

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.who import Reader, Trainer, require_owner
from cvzoo.studio.api.actions import new_job
from cvzoo.studio.api.datasets import MAX_NOTES, audit
from cvzoo.studio.api.named_data import require_folder
from cvzoo.studio.data.data_name import data_name
from cvzoo.studio.etag import etag_of
from cvzoo.studio.ids import is_id
from cvzoo.studio.inference.pool import Loaded
from cvzoo.studio.jobs.job import Job
from cvzoo.studio.jobs.spec import ExportSpec, Form, PredictionForm, PredictSpec
from cvzoo.studio.models.card import card_of
from cvzoo.studio.models.fits import why_no_export, why_no_predictions
from cvzoo.studio.models.found import Model, header_of, sha256_of
from cvzoo.studio.models.lineage import lineage_of
from cvzoo.studio.problems import Problem
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import studio_of
from cvzoo.weights.model_header import ModelHeader

router = api_router("models")
_Path: TypeAlias = Annotated[str, Field(max_length=2000)]
MAX_CALIBRATION = 64


class NewModel(BaseModel):
    """A model that a user brings. upload: of its file"""

    name: Annotated[str, Field(min_length=1, max_length=120)]
    upload: Annotated[str, Field(max_length=20)]


class Notes(BaseModel):
    """What is noted of a model."""

    notes: Annotated[str, Field(max_length=MAX_NOTES)]


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
    zoo = [{"key": f"zoo:{each['name']}", **each} for each in models.zoo.members()]
    aliases = models.register.aliases()
    return {"items": [_row(each, aliases) for each in models.own()], "zoo": zoo, "aliases": aliases}


@router.post("/models", status_code=201)
def create_model(request: Request, body: NewModel, who: Trainer) -> dict[str, Any]:
    """A model of a file that was uploaded, which is loaded once; 415 if it is no model of cvzoo."""
    found = bring_model(request, body, who)
    return _row(found, studio_of(request).models.register.aliases())


@router.get("/models/{model}")
def get_model(request: Request, response: Response, found: FoundModel, _: Reader) -> dict[str, Any]:
    """A model's card, with provenance, thresholds and scores; its notes; its last verification; and its lineage, back
    to the images.
    """
    studio = studio_of(request)
    register, verified = studio.models.register, studio.verifications.get(found.key)
    more: dict[str, Any] = {"card": card_of(found), "notes": register.notes(found.key)}
    response.headers["etag"] = f'"{etag_of({"notes": more["notes"]})}"'
    more["verified"] = None if verified is None else verified.to_json()
    lineage = [each.to_json() for each in lineage_of(found, studio.data)]
    return {**_row(found, register.aliases()), **more, "lineage": lineage}


@router.patch("/models/{model}")
def change_model(
    request: Request,
    response: Response,
    found: FoundModel,
    body: Notes,
    who: Trainer,
    if_match: Annotated[str, Header(max_length=80)] = "",
) -> dict[str, Any]:
    """Other notes; 412 with those that are stored, as `current`, if If-Match is the ETag of others."""
    notes = change_notes(request, found, body, who, if_match)
    response.headers["etag"] = f'"{etag_of({"notes": notes})}"'
    return {"notes": notes}


def change_notes(request: Request, found: Model, body: Notes, who: Identity, seen: str) -> str:
    """The notes, after they were changed. Raises Problem 412 as `require_seen`."""
    notes = body.notes.strip()
    studio_of(request).models.register.set_notes(found.key, notes, seen)
    audit(request, who, "model.notes", found.key, {})
    return notes


@router.delete("/models/{model}", status_code=204)
def delete_model(request: Request, found: FoundModel, who: Trainer) -> None:
    """Moves an uploaded model to the trash, from where it is restored for 30 days; 409 of others."""
    trash_model(request, found, who)


def trash_model(request: Request, found: Model, who: Identity) -> None:
    """Moves an uploaded model to the trash, and records it in the audit. Raises Problem 403, 409."""
    register = studio_of(request).models.register
    known = next((each for each in register.uploaded() if each.id == found.key), None)
    if known is None:
        raise Problem(409, "only uploaded models are deleted", hint="the model of a run is deleted with the run")
    require_owner(who, known.created_by)
    register.trash(found.key)
    audit(request, who, "model.delete", found.key, {"name": found.name})


@router.put("/models/{model}/aliases/{alias}")
def set_alias(request: Request, found: FoundModel, alias: str, who: Trainer) -> dict[str, Any]:
    """Gives the model an alias, by which `@ALIAS` names it instead of a key; another model loses it."""
    name_model(request, found, alias, who)
    return {"aliases": studio_of(request).models.register.aliases()}


@router.delete("/models/{model}/aliases/{alias}", status_code=204)
def remove_alias(request: Request, found: FoundModel, alias: str, who: Trainer) -> None:
    """Takes an alias from the model."""
    if not studio_of(request).models.register.remove_alias(alias, found.key):
        raise Problem(404, "the model has no such alias")
    audit(request, who, "model.alias", found.key, {"alias": alias, "is_removed": True})


def name_model(request: Request, found: Model, alias: str, who: Identity) -> None:
    """Gives the model an alias. Raises Problem 422 for an impossible one."""
    register = studio_of(request).models.register
    before = register.aliases().get(alias)
    register.set_alias(alias, found.key)
    audit(request, who, "model.alias", found.key, {"alias": alias, "before": before})


def bring_model(request: Request, body: NewModel, who: Identity) -> Model:
    """A model of an upload, after a process with few rights has loaded it.

    Raises Problem 404 or 409 for an upload that is not there or not whole, 415 if it is no model, 422 if it does not
    load, 503 if that takes too long or is ended.
    """
    studio = studio_of(request)
    upload = studio.data.uploads.get(body.upload) if is_id(body.upload, "up") else None
    if upload is None or not studio.data.uploads.renew([upload.id]):
        raise Problem(404, "there is no such upload", hint="it may have expired")
    require_owner(who, upload.created_by)
    if upload.offset < upload.size:
        raise Problem(409, f"{upload.name} is not whole yet", hint="HEAD tells where the upload continues")
    header = header_of(studio.place.upload(upload.id))
    if not isinstance(header, ModelHeader):
        words = f"{upload.name} is no model of cvzoo"
        raise Problem(415, words, expected="a .safetensors file that cvzoo wrote", got=header or "another file")
    register = studio.models.register
    made = register.add(body.name, upload.id, who.user)
    found = studio.models.find(made.id)
    assert found is not None
    try:
        studio.inference.ask(loaded_of(found), {"op": "facts"})
    except Problem:
        register.remove(made.id)
        raise
    studio.data.uploads.delete(upload.id)
    audit(request, who, "model.create", made.id, {"name": made.name, "sha256": made.sha256})
    return found


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
    name = data_name(studio_of(request).engine, images)
    return new_job(request, f"{found.name} on {name}", spec, who)


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
            hint="download it first" if is_member else "the model it was made of",
        )


def digest_of(found: Model) -> str:
    """The SHA-256 of the model's file, "" of the zoo's. Raises Problem 404 if the file is gone."""
    try:
        return "" if found.path is None else sha256_of(found.path)
    except OSError:
        raise Problem(404, "the model's file is gone") from None


def loaded_of(found: Model) -> Loaded:
    """The process that has the model."""
    return Loaded(found.word, found.changed_at, "" if found.run is None else found.run.data)


def _row(found: Model, aliases: Mapping[str, str]) -> dict[str, Any]:
    run = None if found.run is None else {"id": found.run.id, "name": found.run.name, "state": found.run.state}
    return {
        "key": found.key,
        "name": found.name,
        "origin": found.origin,
        "bytes": found.n_byte or None,
        "changed_at": found.changed_at or None,
        "run": run,
        "is_loadable": found.is_loadable,
        "aliases": [alias for alias, key in aliases.items() if key == found.key],
    }
