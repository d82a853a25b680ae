"""Self-describing `.safetensors` model files: weights with architecture, settings, class names and preprocessing."""

import dataclasses
import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from cvzoo.autodiff.parameter import parameters_within
from cvzoo.errors.exceptions import (
    CvzooError,
    DtypeError,
    FileFormatError,
    UnsupportedError,
    ValueRangeError,
    WeightsMismatchError,
)
from cvzoo.links.chain import Chain
from cvzoo.links.file_then_model import check_file_then_model
from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.architectures import architecture_of, architectures
from cvzoo.links.model.config import checked_values, config_from_json, config_to_json
from cvzoo.links.model.image_batches import preprocessing_header
from cvzoo.links.quantization.quantizable import AbstractQuantizable
from cvzoo.links.quantization.stored import KEY as QUANTIZATION
from cvzoo.links.quantization.stored import is_quantized, stored_quantization, take_quantization
from cvzoo.weights.formats.safetensors import read_safetensors, write_safetensors
from cvzoo.weights.model_header import KEY, ModelHeader, read_model_header
from cvzoo.weights.sniff import sniff


def save_model(
    file: str | os.PathLike, model: Chain, *, half: bool = False, metadata: Mapping[str, Any] | None = None
) -> None:
    """Save the model to a file that `load_model` reads, written atomically.

    model: of the zoo, or of a class of your own, see `load_model`; may be quantized: int8 weights are stored
        as they are, and the loaded model is quantized
    half: filters and matrices are stored in float16, half the size; arrays beyond float16's range stay float32
    metadata: additional metadata for the header; values that are not text are stored as JSON
    Raises UnsupportedError for a model that files cannot describe, GraphError if it has uninitialized parameters,
    ValueRangeError if metadata use the reserved names "cvzoo_model" or "cvzoo_quantization", DtypeError for swapped
    arguments.
    """
    check_file_then_model("save_model", file, model)
    architecture = _described(model)
    texts = {name: v if isinstance(v, str) else json.dumps(v) for name, v in (metadata or {}).items()}
    for name in (KEY, QUANTIZATION):
        if name in texts:
            raise ValueRangeError(f"save_model: metadata must not be called {name!r}")
    if isinstance(model, AbstractQuantizable) and is_quantized(model):
        arrays, texts[QUANTIZATION] = stored_quantization(model)
    else:
        arrays = model.state_arrays()
    header = ModelHeader(
        architecture=architecture.name,
        settings=architecture.settings(model),
        label_names=getattr(model, "label_names", None),
        preprocessing=preprocessing_header(model),
        metadata=texts,
    )
    if half:
        arrays = {name: _halved(array) for name, array in arrays.items()}
    write_safetensors(file, arrays, metadata=header.to_metadata())


def load_model(file: str | os.PathLike, *, architecture: type[Chain] | None = None) -> Any:
    """Load a model that `save_model` wrote.

    architecture: the model's class if it is not of the zoo. A file only names its architecture, and no code of a file
        is executed. The class has as `config_class` a frozen dataclass, and takes `config`, which it keeps as an
        attribute, and `label_names`
    Raises FileFormatError for a damaged file or one that is no model file, UnsupportedError for an unknown architecture
    or a quantized model that this machine cannot run, WeightsMismatchError if the weights do not fit or the file holds
    another architecture, DtypeError if `architecture` is no class of models.
    """
    requested = None if architecture is None else architecture_of(architecture)
    header = read_model_header(file)
    if header is None:
        if sniff(file) is None:
            raise FileFormatError(
                f"{os.fspath(file)}: not a weights file of a format that cvzoo reads",
                got=f"{os.path.getsize(file)} bytes",
            )
        raise FileFormatError(
            f"{os.fspath(file)}: does not say which model its numbers belong to",
            expected="a file that save_model wrote",
            hint="`cvzoo convert` makes one of a published file; or build the model, then load_weights(file, model)",
        )
    chosen = _architecture(file, header, requested)
    try:
        # each parameter is in the file, with a byte per element at least: what goes beyond is not allocated
        with parameters_within(os.path.getsize(file)):
            model = chosen.build(header.settings, header.label_names)
    except (CvzooError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, MemoryError) as error:
        raise FileFormatError(
            f"{os.fspath(file)}: its settings make no {header.architecture}: {str(error)[:200]}"
        ) from error
    arrays = read_safetensors(file)
    if QUANTIZATION in header.metadata:
        take_quantization(model, arrays, header.metadata[QUANTIZATION], os.path.basename(file))
    else:
        model.load_arrays(arrays)
    return model


def _architecture(file: str | os.PathLike, header: ModelHeader, requested: Architecture | None) -> Architecture:
    """The requested architecture, which must be the file's, else one of the zoo."""
    name = header.architecture[:80]
    if requested is not None:
        if header.architecture != requested.name:
            raise WeightsMismatchError(f"{os.fspath(file)}: holds a {name}, not a {requested.name}")
        return requested
    for each in architectures():
        if each.name == header.architecture:
            return each
    raise UnsupportedError(
        f"{os.fspath(file)}: {name!r} is no architecture of the zoo",
        hint=f"if it is a class of yours: load_model(file, architecture={name}), or on the command line "
        f"--architecture FILE.py:{name}",
    )


def _described(model: Chain) -> Architecture:
    """The model's architecture. Raises UnsupportedError unless a file can describe the model."""
    try:
        architecture = architecture_of(type(model))
    except (DtypeError, UnsupportedError) as error:
        raise UnsupportedError(
            f"model files cannot describe a {type(model).__name__}: {error}",
            hint="cvzoo.serializers.save_safetensors stores the numbers alone",
        ) from error
    config = getattr(model, "config", None)
    if type(config) is not architecture.config_class:
        raise UnsupportedError(
            f"{type(model).__name__}.config differs from the configuration of the model",
            expected=architecture.config_class.__name__,
            got=type(config).__name__,
        )
    _check_that_it_comes_back(config)
    return architecture


def _check_that_it_comes_back(config: Any) -> None:
    """Raises UnsupportedError for a config with values that files cannot hold."""
    name = type(config).__name__
    try:
        checked_values(type(config), {field.name: getattr(config, field.name) for field in dataclasses.fields(config)})
        restored = config_from_json(type(config), json.loads(json.dumps(config_to_json(config), allow_nan=False)))
    except (CvzooError, TypeError, ValueError, LookupError) as error:
        raise UnsupportedError(f"model files cannot hold this {name}: {error}") from error
    if restored != config:
        raise UnsupportedError(f"model files cannot hold this {name}", expected=config, got=restored)


def _halved(array: np.ndarray) -> np.ndarray:
    """In float16 if it is a filter or a matrix in float16's range; biases and statistics are small but sensitive."""
    if array.ndim < 2 or array.dtype.kind != "f" or not np.isfinite(array).all():
        return array
    with np.errstate(over="ignore"):
        half = array.astype(np.float16)
    return half if np.isfinite(half).all() else array
