"""From a model's file back to the images: the job that made it, its run, the version of the data set, the data set."""

import dataclasses
from typing import Any

from cvzoo.studio.data.library import DataLibrary
from cvzoo.studio.models.found import Model


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
    numbers = f"{counts['n_image']} images, {counts['n_object']} objects"
    facts = (("Images", numbers), ("Content (SHA-256)", version.content), ("Revision", str(version.rev)))
    found.append(Origin("on the version", version.name, f"/versions/{version.id}", facts))
    licence = ("Licence", dataset.licence or "not stated")
    return [*found, Origin("of the data set", dataset.name, f"/data/{dataset.id}", (licence,))]
