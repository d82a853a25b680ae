"""The network of a model next to its exported ONNX file in other runtimes."""

import importlib.metadata
import os
import pathlib
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from cvzoo.cli.load_predictor import Predictor
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import CvzooError, MissingExtraError
from cvzoo.export.onnx.contents import contents_of
from cvzoo.export.onnx.write import INPUT, export_onnx
from cvzoo.functions.array.dtypes import widened
from cvzoo.typing.aliases import Array, FilePath

RUNTIMES = ("onnxruntime", "openvino")
_NAMES = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO"}
_TOLERANCE, _MOST_APART = 1e-3, 0.001  # of the scale; fraction of values, as rounding decides max unpooling

_PERCENTILES = (50, 90, 99)
Outputs = Sequence[Array]


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """p50, p90, p99 and the mean in milliseconds."""
    milliseconds = {f"p{p}": 1000 * float(np.percentile(seconds, p)) for p in _PERCENTILES}
    return {**milliseconds, "mean": 1000 * float(np.mean(seconds))}


def compare_runtimes(
    model: Predictor, imgs: Sequence[Array], names: Sequence[str], *, calls: int, n_thread: int
) -> tuple[list[dict[str, Any]], list[str]]:
    """A record per runtime with times and differences, and notes about what could not be compared.

    imgs: (3, H, W) each, prepared by the model; those of the first one's shape make the batch
    names: of RUNTIMES; calls: measured calls, ours and theirs in turn; n_thread: of theirs
    Raises MissingExtraError if one is not installed.
    """
    x = _batch(model, imgs)
    with tempfile.TemporaryDirectory(prefix="cvzoo-benchmark-") as folder:
        file = pathlib.Path(folder, "model.onnx")
        try:
            call = contents_of(model).call
            export_onnx(file, model, batch=len(x), size=x.shape[2:])
        except CvzooError as error:
            return [], [f"not compared with other runtimes: {str(error).splitlines()[0]}"]
        return [_compared(call, file, x, name, calls, n_thread) for name in names], []


def _batch(model: Predictor, imgs: Sequence[Array]) -> Array:
    prepared = [model.prepare(img) for img in imgs]
    same = [each for each in prepared if each.shape == prepared[0].shape]
    return np.ascontiguousarray(np.stack((same * len(imgs))[: len(imgs)]), np.float32)


def _compared(
    call: Callable[[Any], Any], file: FilePath, x: Array, name: str, calls: int, n_thread: int
) -> dict[str, Any]:
    theirs = _SESSIONS[name](file, n_thread)

    def ours() -> Outputs:
        with using_config("train", False), no_backprop_mode():
            outputs = call(x)
        return [widened(each).array for each in (outputs if isinstance(outputs, tuple | list) else (outputs,))]

    a, b = ours(), theirs(x)
    scale = max(float(np.abs(each).max(initial=0)) for each in a)
    seconds: tuple[list[float], list[float]] = [], []
    for _ in range(calls):
        for one, into in ((ours, seconds[0]), (lambda: theirs(x), seconds[1])):
            begun = time.perf_counter()
            one()
            into.append(time.perf_counter() - begun)
    same_shapes = [each.shape for each in a] == [each.shape for each in b]
    off = np.concatenate([np.abs(p - q).ravel() for p, q in zip(a, b)]) if same_shapes else np.full(1, np.inf)
    return {
        "runtime": _NAMES[name],
        "version": importlib.metadata.version(name),
        "threads": n_thread,
        "input": list(x.shape),
        "milliseconds": percentiles(seconds[1]),
        "cvzoo": percentiles(seconds[0]),
        "difference": float(off.max(initial=0)),
        "scale": scale,
        # NaN agrees with nothing, hence not `off > ...`; the lower bound is for outputs that are all zero
        "agrees": bool(np.mean(~(off <= _TOLERANCE * max(scale, 1e-6))) <= _MOST_APART),
    }


def _onnxruntime(file: FilePath, n_thread: int) -> Callable[[Array], Outputs]:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError("ONNX Runtime is not installed", hint="pip install onnxruntime") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads, options.inter_op_num_threads = n_thread, 1
    session = onnxruntime.InferenceSession(os.fspath(file), options, providers=["CPUExecutionProvider"])
    return lambda x: cast(Outputs, session.run(None, {INPUT: x}))


def _openvino(file: FilePath, n_thread: int) -> Callable[[Array], Outputs]:
    try:
        import openvino
    except ImportError as error:
        raise MissingExtraError("OpenVINO is not installed", hint="pip install openvino") from error
    # float32 as the others have it: on some CPUs OpenVINO computes in bfloat16 unless told
    settings = {"INFERENCE_NUM_THREADS": n_thread, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    compiled = openvino.Core().compile_model(os.fspath(file), "CPU", settings)
    request = compiled.create_infer_request()

    def run(x: Array) -> Outputs:
        outputs = request.infer({INPUT: x})
        return [np.array(outputs[port]) for port in compiled.outputs]

    return run


_SESSIONS = {"onnxruntime": _onnxruntime, "openvino": _openvino}
