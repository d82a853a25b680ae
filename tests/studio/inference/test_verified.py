"""Whether a loaded model is sound."""

import hashlib

import numpy as np
import pytest

from cvzoo.config import set_seed
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.studio.inference.worker import Worker
from cvzoo.weights.record import Weights

ABOUT = {"licence": "MIT", "data": "-", "data_licence": "-", "source": "-"}
RECORD = Weights(name="net", url="https://example.org/net.npz", sha256="0" * 64, **ABOUT)


@pytest.fixture
def model():
    set_seed(0)
    return CIFARResNet(20, label_names=("cat", "dog"))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "net.npz"
    path.write_bytes(b"weights")
    return path


def verified(model, *files):
    return Worker(model, "", files).answer({"op": "verify"}, b"")[0]


def test_a_sound_model_has_the_hash_of_its_file_and_no_problem(model, file):
    sha256 = hashlib.sha256(b"weights").hexdigest()
    assert verified(model, (file, None)) == {"sha256": [sha256], "problems": []}


def test_another_hash_than_the_published_one_is_told(model, file):
    (problem,) = verified(model, (file, RECORD))["problems"]
    assert problem.startswith("net.npz has the SHA-256 ")
    assert problem.endswith(f"and {'0' * 64} was published")


def test_parameters_that_are_not_finite_are_named(model):
    name, param = next(iter(model.namedparams()))
    param.array[...] = np.inf
    assert verified(model)["problems"] == [f"the parameters {name} have NaN or infinite values"]


def test_outputs_that_are_not_finite_are_told(model):
    for _, param in model.namedparams():
        param.array[...] = np.float32(3e38)
    (problem,) = verified(model)["problems"]
    assert problem == "its outputs for a fixed image, scores, have NaN or infinite values"
