"""Metadata about the model in the header of a `.safetensors` file."""

import dataclasses
import json
import os
from collections.abc import Mapping
from typing import Any

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.weights import formats
from cvzoo.weights.sniff import SAFETENSORS, sniff

KEY = "cvzoo_model"
VERSION = 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelHeader:
    """The metadata from which a model can be rebuilt.

    architecture: its name
    settings: of the architecture, as JSON values
    label_names: class names, or None
    preprocessing: of images, for readers other than cvzoo
    metadata: other texts in the header
    """

    architecture: str
    settings: Mapping[str, Any]
    label_names: tuple[str, ...] | None = None
    preprocessing: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    metadata: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def to_metadata(self) -> dict[str, str]:
        """The texts for a `.safetensors` header."""
        own = {
            "version": VERSION,
            "architecture": self.architecture,
            "settings": self.settings,
            "label_names": self.label_names,
            "preprocessing": self.preprocessing,
        }
        return {KEY: json.dumps(own, ensure_ascii=False, allow_nan=False), **self.metadata}


def read_model_header(path: str | os.PathLike) -> ModelHeader | None:
    """The metadata of the file's model; None for other kinds of files, or without metadata.

    Raises FileFormatError if it is damaged or from a later version; what reading a file raises.
    """
    if sniff(path) != SAFETENSORS:
        return None
    texts = dict(formats.read_safetensors_metadata(path))
    text = texts.pop(KEY, None)
    if text is None:
        return None
    try:
        own = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path}: its metadata about the model is damaged: {str(error)[:100]}") from error
    version = own.get("version") if isinstance(own, dict) else None
    if type(version) is int and version > VERSION:
        raise FileFormatError(
            f"{path}: written by a later cvzoo", expected=f"version {VERSION}", got=version, hint="update cvzoo"
        )
    names, preprocessing = (own.get("label_names"), own.get("preprocessing", {})) if version == VERSION else (0, 0)
    if not (
        version == VERSION
        and isinstance(own.get("architecture"), str)
        and isinstance(own.get("settings"), dict)
        and isinstance(preprocessing, dict)
        and (names is None or (isinstance(names, list) and all(isinstance(name, str) for name in names)))
    ):
        raise FileFormatError(f"{path}: its metadata about the model is damaged", got=text[:80])
    return ModelHeader(
        architecture=own["architecture"],
        settings=own["settings"],
        label_names=None if names is None else tuple(names),
        preprocessing=preprocessing,
        metadata=texts,
    )
