"""Recognition of weight files: by hash, by array names, or by trying the models of the zoo."""

import functools
import os
import pathlib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.links.chain import Chain
from cvzoo.links.model.zoo_member import ZooMember
from cvzoo.weights.name_digits import file_hashes, published_as
from cvzoo.weights.record import Signature, Weights
from cvzoo.weights.sniff import KINDS, sniff

_ENUM = re.compile(r"\b(\w+)_Weights\b")
_NOT_IN_THE_ZOO = {"blocks.0.layers.0.layers.MBconv.layers.pre_norm.weight": "torchvision's maxvit_t"}  # by an array


class Candidate(NamedTuple):
    """A model that a file may belong to.

    member: the member of the zoo with the same architecture
    load: from the path of a file, the model with its weights; raises a CvzooError if they do not match
    why: reason, as text
    is_published: whether the file is the member's own, by its hash
    """

    member: ZooMember
    load: Callable[[str], Chain]
    why: str
    is_published: bool = False


def loader(member: ZooMember) -> Callable[[str], Chain] | None:
    """From a path, a model of the member's architecture with the file's weights; None if the member takes no file."""
    make = member.make
    if not isinstance(make, functools.partial) or "pretrained_model" not in make.keywords:
        return None
    keywords = {name: value for name, value in make.keywords.items() if name != "pretrained_model"}
    if member.weights.file_name.endswith(".weights") and member.weights.label_names:
        keywords["label_names"] = member.weights.label_names  # darknet's files do not contain the number of classes

    def load(path: str) -> Chain:
        return make.func(*make.args, pretrained_model=path, **keywords)

    return load


def recognise(
    path: str | os.PathLike, arrays: Mapping[str, np.ndarray], members: Iterable[ZooMember]
) -> tuple[Candidate, ...]:
    """The models that the file may belong to, the most probable first; members of one architecture are listed once.

    arrays: of the file
    members: of the zoo
    A published file is recognized by its hash and is the only candidate. Otherwise array names decide; for a layout
    with unknown names, all models published in files of this kind are candidates.
    Raises UnsupportedError if array names are those of a known network that the zoo does not have.
    """
    known = [(member, load) for member in members if (load := loader(member)) is not None]
    hashes = file_hashes(path)
    for member, load in known:
        for record in member.files:
            said = published_as(record, hashes)
            if said:
                return (Candidate(member, load, said, is_published=True),)
    same = [
        Candidate(member, load, f"has the names and shapes of torchvision's {torchvision_name(member.weights)}")
        for member, load in known
        if member.weights.signature is not None and _has(arrays, member.weights.signature)
    ]
    if same:
        return _distinct(same)
    for array, network in _NOT_IN_THE_ZOO.items():
        if array in arrays:
            raise UnsupportedError(f"{path} has the weights of {network}, a network that is not in the zoo")
    kind = sniff(path)
    alike = [
        Candidate(member, load, "fits, as the only one that does")
        for member, load in known
        if any(KINDS.get(pathlib.PurePath(record.file_name).suffix.lower()) == kind for record in member.files)
        if member.weights.signature is None
    ]
    return _distinct(alike)


def torchvision_name(record: Weights) -> str | None:
    """torchvision's name of a file's network, such as "resnet50"; None for files of other publishers."""
    match = _ENUM.search(record.source)
    return match[1].lower() if match else None


def _has(arrays: Mapping[str, np.ndarray], signature: Signature) -> bool:
    n_array = sum(not name.endswith("num_batches_tracked") for name in arrays)
    array = arrays.get(signature.array)
    return n_array == signature.n_array and array is not None and array.shape == signature.shape


def _distinct(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    seen: dict[tuple[object, str, str], Candidate] = {}
    for each in candidates:
        make = each.member.make
        if not isinstance(make, functools.partial):
            continue  # dropped by `loader`
        keywords = {name: value for name, value in make.keywords.items() if name != "pretrained_model"}
        seen.setdefault((make.func, repr(make.args), repr(sorted(keywords.items()))), each)
    return tuple(seen.values())
