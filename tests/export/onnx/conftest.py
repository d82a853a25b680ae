"""Fixtures of the export's tests."""

import io

import numpy as np
import pytest

from cvzoo.export.onnx.model_proto import Node, Port, model_message
from cvzoo.export.onnx.network import add_network
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.images.read_image import read_image


@pytest.fixture(scope="session")
def onnxruntime():
    """ONNX Runtime; tests that need it skip where it is absent."""
    return pytest.importorskip("onnxruntime", reason="needs ONNX Runtime: pip install onnxruntime")


@pytest.fixture(scope="session")
def open_session(onnxruntime):
    """From a file's path or bytes, ONNX Runtime ready to run it, silent about optimizations that it leaves out."""

    def open_(model):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1
        model = model if isinstance(model, bytes) else str(model)
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    return open_


@pytest.fixture(scope="session")
def run_in_onnx(open_session):
    """From a call, the shapes of the probes and arrays, what ONNX Runtime makes of each array: a list of lists."""

    def run(call, shapes, xs):
        g = OnnxGraph()
        made = add_network(g, "x", call, shapes, names={})
        names = [f"y{i}" for i in range(len(made))]
        g.nodes += [Node("Identity", (value,), (name,), {}) for value, name in zip(made, names)]
        rank = len(shapes[0])
        inputs = [Port("x", "float32", tuple(f"n{i}" for i in range(rank)))]
        outputs = [
            Port(name, "float32", tuple(f"{name}_{i}" for i in range(len(g.shape_of(value)))))
            for name, value in zip(names, made)
        ]
        message = model_message("test", g.nodes, inputs, outputs, g.constants, producer_version="0", metadata={})
        file = io.BytesIO()
        message.write_to(file)
        session = open_session(file.getvalue())
        return [session.run(None, {"x": x}) for x in xs]

    return run


@pytest.fixture(scope="session")
def photos(shared):
    """Real photos, (3, H, W) float32."""
    return [read_image(shared / "data" / "photos" / f"{name}.jpg") for name in ("dog", "person", "horses")]


@pytest.fixture
def noise():
    """From a shape, numbers around 0."""
    return lambda *shape: np.random.default_rng(3).normal(size=shape).astype(np.float32)
