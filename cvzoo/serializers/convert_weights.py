"""Conversion of a foreign weights file into a model file, with a certificate: mapping and error of each tensor."""

import datetime
import importlib.metadata
import os
import pathlib
import platform
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cvzoo.backends.dispatch import get_backend
from cvzoo.errors.exceptions import FileError, WeightsMismatchError
from cvzoo.files.file_hash import sha256_of
from cvzoo.links.chain import Chain
from cvzoo.links.connection.batch_normalization import BatchNormalization, FrozenBatchNormalization
from cvzoo.links.model.raw_outputs import greatest_difference, raw_outputs, seeded_photo
from cvzoo.reporting.counted import counted
from cvzoo.serializers.model_file import load_model, save_model
from cvzoo.serializers.tensor_parity import TensorParity, tensor_parity
from cvzoo.weights.formats.safetensors import read_safetensors
from cvzoo.weights.report import LoadReport
from cvzoo.weights.sniff import DARKNET, read_arrays, sniff

VERSION = 1
# buffers that a network computes itself but torch stores: they hold no trained values
_DERIVED = (".relative_coords_table",)
_DARKNET_HEADER = 20  # bytes, as of version 0.2


def convert_weights(
    source: str | os.PathLike,
    to: str | os.PathLike,
    load: Callable[[str], Chain],
    *,
    why: str,
    half: bool = False,
) -> dict[str, Any]:
    """Convert a weights file to a model file; returns a certificate of the conversion, ready for JSON.

    source: a weights file
    to: the `.safetensors` model file to write
    load: returns the model with all its weights, from the path of the source
    why: the evidence that the file belongs to this model, as text
    half: filters and matrices are stored in float16
    Raises WeightsMismatchError, naming the arrays, if one of the source is not used or one of the model not filled;
    FileError if a value is NaN or infinite; errors of reading and writing. Nothing is written then. FileError if the
    outputs of the written model differ.
    """
    model = load_strictly(load, os.fspath(source))
    everything = source_arrays(source)
    arrays = {name: array for name, array in everything.items() if not name.endswith(_DERIVED)}
    values = model.state_arrays()
    _refuse_not_finite(values, source)
    before = tensor_parity(arrays, values, values)
    _refuse_losses(before, source)
    origin = {"file": pathlib.PurePath(source).name, "sha256": sha256_of(source)}
    save_model(to, model, half=half, metadata={"converted_from": origin})
    stored = read_safetensors(to)
    parity = tensor_parity(arrays, values, stored)
    image = seeded_photo()
    difference = greatest_difference(
        outputs := raw_outputs(model, image), raw_outputs(load_model(to, architecture=type(model)), image)
    )
    if not half and (difference or parity.greatest_difference):
        raise FileError(
            f"{to}: the written model's outputs differ from those of {source}", got=f"a difference of {difference}"
        )
    return {
        "certificate": VERSION,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "versions": versions(),
        "source": {**origin, "size": os.path.getsize(source), "kind": sniff(source)},
        "result": {"file": pathlib.PurePath(to).name, "size": os.path.getsize(to), "sha256": sha256_of(to)},
        "model": {
            "class": type(model).__name__,
            "why": why,
            "names": type(model).__module__.rpartition(".")[0],
            "n_parameter": model.count_params(),
            "normalization_eps": normalization_eps(model),
            "normalization": "kept as it is; folded into the convolutions when it predicts, with these eps",
        },
        "half": half,
        "tensors": [
            {
                "source": row.source,
                "ours": list(row.ours),
                "how": row.how,
                **({"rows": f"{row.n_taken} of {row.n_row}"} if row.n_row else {}),
                "greatest_difference": row.difference,
            }
            for row in parity.rows
        ],
        "counts": parity.counts(),
        "dropped": [*parity.dropped, *(name for name in everything if name not in arrays)],
        "made": list(parity.made),
        "greatest_difference": parity.greatest_difference,
        "outputs": {
            "photo": f"cvzoo.links.model.raw_outputs.seeded_photo(), {image.shape[1]} x {image.shape[2]}",
            "shapes": {name: list(np.shape(array)) for name, array in outputs.items()},
            "greatest_difference": difference,
        },
    }


def load_strictly(load: Callable[[str], Chain], path: str) -> Chain:
    """The model, if all arrays of the file were used and all parameters filled.

    Raises WeightsMismatchError otherwise.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # reinitialized parameters are in the report as well
        model = load(path)
    report = vars(model).get("load_report")
    if isinstance(report, LoadReport) and not report.is_clean:
        raise WeightsMismatchError(f"{path} does not fill a {type(model).__name__}\n{report}")
    return model


def source_arrays(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """The arrays in the file by name; darknet's, which has no names, as one called "floats"."""
    if sniff(path) != DARKNET:
        return read_arrays(path)
    raw = pathlib.Path(path).read_bytes()
    major, minor = np.frombuffer(raw[:8], "<i4")
    start = _DARKNET_HEADER if major * 10 + minor >= 2 else 16
    return {"floats": np.frombuffer(raw[start : start + (len(raw) - start) // 4 * 4], "<f4").astype(np.float32)}


def normalization_eps(model: Chain) -> list[float]:
    """The distinct eps of the model's batch normalizations."""
    kinds = (BatchNormalization, FrozenBatchNormalization)
    return sorted({float(link.eps) for link in model.links() if isinstance(link, kinds)})


def versions() -> dict[str, str]:
    """Versions of cvzoo, Python and the numerical libraries."""
    try:
        own = importlib.metadata.version("cvzoo")
    except importlib.metadata.PackageNotFoundError:
        own = "from its source"
    return {
        "cvzoo": own,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "backend": get_backend().name,
        "machine": platform.machine(),
    }


def _refuse_not_finite(values: Mapping[str, np.ndarray], source: str | os.PathLike) -> None:
    wrong = [name for name, array in values.items() if not np.isfinite(array).all()]
    if wrong:
        raise FileError(
            f"{source}: {counted(len(wrong), 'array holds', 'arrays hold')} NaN or infinity: {', '.join(wrong[:10])}"
        )


def _refuse_losses(parity: TensorParity, source: str | os.PathLike) -> None:
    for names, what in ((parity.unused, "went nowhere"), (parity.unfilled, "came from nowhere")):
        if names:
            more = f" and {len(names) - 10} more" if len(names) > 10 else ""
            raise WeightsMismatchError(
                f"{source}: {counted(len(names), 'array')} {what}: {', '.join(names[:10])}{more}"
            )
