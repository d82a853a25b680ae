"""The data set, and the version, that a route's path names."""

from typing import Annotated, TypeAlias

from fastapi import Depends, Request

from cvzoo.studio.access.who import Reader
from cvzoo.studio.data.datasets import Dataset
from cvzoo.studio.data.versions import Version
from cvzoo.studio.ids import is_id
from cvzoo.studio.problems import Problem
from cvzoo.studio.state import studio_of


def found_dataset(request: Request, dataset: str, _: Reader) -> Dataset:
    """The data set. Raises Problem 401 or 404."""
    found = studio_of(request).data.datasets.get(dataset) if is_id(dataset, "ds") else None
    if found is None:
        raise Problem(404, "there is no such data set", hint="it may have been deleted")
    return found


def found_version(request: Request, version: str, _: Reader) -> Version:
    """The version. Raises Problem 401 or 404."""
    found = studio_of(request).data.versions.get(version) if is_id(version, "ve") else None
    if found is None:
        raise Problem(404, "there is no such version of a data set")
    return found


FoundDataset: TypeAlias = Annotated[Dataset, Depends(found_dataset)]
FoundVersion: TypeAlias = Annotated[Version, Depends(found_version)]
