"""A model in one `.safetensors` file that says what it is: architecture, settings, names of classes, preprocessing."""

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import CvzooError, FileFormatError, UnsupportedError, ValueRangeError
from cvzoo.links.chain import Chain
from cvzoo.links.file_then_model import check_file_then_model
from cvzoo.links.model.architectures import Architecture, architectures
from cvzoo.links.model.prepared import preprocessing_header
from cvzoo.links.quantization.stored import KEY as QUANTIZATION
from cvzoo.links.quantization.stored import is_quantized, stored_quantization, take_quantization
from cvzoo.weights.formats.safetensors import read_safetensors, write_safetensors
from cvzoo.weights.model_header import KEY, ModelHeader, read_model_header
from cvzoo.weights.sniff import sniff


def save_model(
    file: str | os.PathLike, model: Chain, *, half: bool = False, metadata: Mapping[str, Any] | None = None
) -> None:
    """Write the model, so that `load_model(file)` gives it back; the file is whole or not there (an old one stays).

    model: may be quantized: weights of eight bits are stored as they are, and the model comes back quantized
    half: filters and matrices are stored in float16, half the size; what float16 cannot hold stays as it is
    metadata: more texts for the header; what is no text is stored as JSON
    Raises UnsupportedError for a model that files do not know how to describe, GraphError if it has parameters without
    values, ValueRangeError if metadata use the names "cvzoo_model" or "cvzoo_quantization", DtypeError for arguments in
    another order.
    """
    check_file_then_model("save_model", file, model)
    architecture = _architecture_of(model)
    texts = {name: v if isinstance(v, str) else json.dumps(v) for name, v in (metadata or {}).items()}
    for name in (KEY, QUANTIZATION):
        if name in texts:
            raise ValueRangeError(f"save_model: metadata must not be called {name!r}")
    if is_quantized(model):
        arrays, texts[QUANTIZATION] = stored_quantization(model)
    else:
        arrays = model.state_arrays()
    header = ModelHeader(
        architecture=architecture.name,
        settings=architecture.settings(model),
        label_names=model.label_names,
        preprocessing=preprocessing_header(model),
        metadata=texts,
    )
    if half:
        arrays = {name: _halved(array) for name, array in arrays.items()}
    write_safetensors(file, arrays, metadata=header.to_metadata())


def load_model(file: str | os.PathLike) -> Any:
    """The model that `save_model` wrote, ready to predict.

    Raises FileFormatError for a damaged file or one that does not say what it is, UnsupportedError for an architecture
    that this cvzoo does not know or a quantized model that this machine cannot compute, WeightsMismatchError if the
    numbers do not fit.
    """
    header = read_model_header(file)
    if header is None:
        if sniff(file) is None:
            raise FileFormatError(f"{os.fspath(file)}: not a file of weights that cvzoo knows")
        raise FileFormatError(
            f"{os.fspath(file)}: does not say which model its numbers belong to",
            expected="a file that save_model wrote",
            hint="`cvzoo convert` makes one of a published file; or build the model, then load_weights(file, model)",
        )
    known = {each.name: each for each in architectures()}
    if header.architecture not in known:
        raise UnsupportedError(
            f"{os.fspath(file)}: there is no architecture {header.architecture[:80]!r}",
            hint=f"known: {', '.join(known)}",
        )
    try:
        model = known[header.architecture].build(header.settings, header.label_names)
    except (CvzooError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise FileFormatError(
            f"{os.fspath(file)}: its settings make no {header.architecture}: {str(error)[:200]}"
        ) from error
    arrays = read_safetensors(file)
    if QUANTIZATION in header.metadata:
        take_quantization(model, arrays, header.metadata[QUANTIZATION], os.path.basename(file))
    else:
        model.load_arrays(arrays)
    return model


def _architecture_of(model: Chain) -> Architecture:
    for each in architectures():
        if type(model) is each.model_class:
            return each
    raise UnsupportedError(
        f"model files do not know how to describe a {type(model).__name__}",
        hint="cvzoo.serializers.save_safetensors stores the numbers alone",
    )


def _halved(array: np.ndarray) -> np.ndarray:
    """In float16 if it is a filter or a matrix that float16 can hold; statistics and biases are small and touchy."""
    if array.ndim < 2 or array.dtype.kind != "f" or not np.isfinite(array).all():
        return array
    with np.errstate(over="ignore"):
        half = array.astype(np.float16)
    return half if np.isfinite(half).all() else array
