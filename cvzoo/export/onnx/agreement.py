"""Whether ONNX Runtime says the same of a photo as the model that was exported."""

import os
from typing import Any, NamedTuple

import numpy as np

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import MissingExtraError
from cvzoo.export.onnx.contents import contents_of
from cvzoo.export.onnx.write import INPUT
from cvzoo.links.chain import Chain


class Agreement(NamedTuple):
    """How far two programs' outputs are apart.

    difference: the greatest of one number; scale: the greatest number itself
    """

    difference: float
    scale: float


def compare_with_onnxruntime(file: str | os.PathLike, model: Chain, x: np.ndarray) -> Agreement:
    """How far ONNX Runtime's outputs of the file are from the model's, for x (B, C, H, W) float32, prepared.

    Raises MissingExtraError where ONNX Runtime is not installed.
    """
    session = _session(file)
    with using_config("train", False), no_backprop_mode():
        ours = contents_of(model).call(x)
    ours = ours if isinstance(ours, tuple) else (ours,)
    theirs = session.run(None, {INPUT: x})
    difference = max(float(np.abs(a.array - b).max(initial=0)) for a, b in zip(ours, theirs, strict=True))
    return Agreement(difference, max(float(np.abs(a.array).max(initial=0)) for a in ours))


def _session(file: str | os.PathLike) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError("ONNX Runtime is not installed", hint="pip install onnxruntime") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(os.fspath(file), options, providers=["CPUExecutionProvider"])
