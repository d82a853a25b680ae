"""From a model's file back to the images: the job that made it, its run, the version, the data set; and forward."""

import dataclasses
from collections.abc import Iterable
from typing import Any

from cvzoo.reporting.counted import counted
from cvzoo.studio.data.library import DataLibrary
from cvzoo.studio.data.versions import Version
from cvzoo.studio.models.found import Model, Models


@dataclasses.dataclass(frozen=True)
class Origin:
    """A step back. what: in words; path: of its page; facts: (name, value)"""

    what: str
    name: str
    path: str
    facts: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, Any]:
        """For the REST interface."""
        return dataclasses.asdict(self)


def lineage_of(model: Model, data: DataLibrary) -> list[Origin]:
    """The steps from the model back, the nearest first; none of the zoo's and of uploaded models."""
    found = []
    if model.job is not None:
        found.append(Origin("made by", model.job.name, f"/jobs/{model.job.id}", (("Command", model.job.spec.kind),)))
    if model.run is None:
        return found
    recipe = ("Recipe", model.run.recipe or "unknown")
    found.append(Origin("trained by", model.run.name, f"/jobs/{model.run.id}", (recipe, ("State", model.run.state))))
    version = next((each for each in data.versions.ready() if each.data == model.run.data), None)
    dataset = None if version is None else data.datasets.get(version.dataset)
    if version is None or dataset is None:
        return found
    counts = version.counts
    numbers = f"{counted(counts['n_image'], 'image')}, {counted(counts['n_object'], 'object')}"
    facts = (("Images", numbers), ("Content (SHA-256)", version.content), ("Revision", str(version.rev)))
    found.append(Origin("on the version", version.name, f"/versions/{version.id}", facts))
    licence = ("Licence", dataset.licence or "not stated")
    return [*found, Origin("of the data set", dataset.name, f"/data/{dataset.id}", (licence,))]


def made_of(versions: Iterable[Version], models: Models) -> list[tuple[Model, Version]]:
    """The models of runs that were trained on one of the versions, and what was made of them, with the version."""
    by_data = {each.data: each for each in versions if each.data}
    if not by_data:
        return []
    found = ((each, by_data.get(each.run.data) if each.run else None) for each in models.own())
    return [(model, version) for model, version in found if version is not None]


def made_to_json(found: Iterable[tuple[Model, Version]]) -> list[dict[str, Any]]:
    """For the REST interface."""
    return [
        {"key": model.key, "name": model.name, "origin": model.origin, "version": version.id}
        for model, version in found
    ]
