"""What every network of the zoo promises beside its predict, as plain check functions that raise AssertionError.

predicted: from a model, the arrays of a prediction on the suite's photos
"""

import numpy as np
import pytest

from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import BackendError, FileFormatError
from cvzoo.serializers.load_weights import load_weights
from cvzoo.serializers.model_file import load_model, save_model
from cvzoo.serializers.npz import save_npz


def assert_same(one, other):
    """Two predictions have the same bits."""
    assert len(one) == len(other)
    for a, b in zip(one, other):
        np.testing.assert_array_equal(a, b)


def check_determinism(model, predicted):
    """Twice the same bits."""
    assert_same(predicted(model), predicted(model))


def check_copies(model, predicted):
    """A copy predicts the same; what is done to its numbers does not reach the original."""
    before = predicted(model)
    assert_same(predicted(model.copy()), before)
    twin = model.copy("copy")
    assert_same(predicted(twin), before)
    for parameter in twin.params():
        parameter.array[...] = 0
    assert_same(predicted(model), before)


def check_model_file(model, predicted, folder):
    """A file that says what it is gives the same model back; it holds no pickle, and half of it is refused."""
    path = folder / "model.safetensors"
    save_model(path, model)
    assert path.read_bytes()[8:9] == b"{"
    again = load_model(path)
    assert type(again) is type(model)
    assert again.label_names == model.label_names
    assert_same(predicted(again), predicted(model))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(FileFormatError):
        load_model(path)


def check_numbers_in_npz(model, predicted, folder):
    """The numbers alone go to `.npz` and back without pickle; a file with one number less is refused."""
    path = folder / "numbers.npz"
    save_npz(path, model)
    with np.load(path, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays)
    before = predicted(model)
    twin = model.copy("copy")
    for parameter in twin.params():
        parameter.array[...] = 0
    load_weights(path, twin)
    assert_same(predicted(twin), before)


def check_device(model, predicted):
    """`to_device` gives the model itself; a device that is not there is told and changes nothing."""
    before = predicted(model)
    assert model.to_device("cpu") is model
    with pytest.raises(BackendError):
        model.to_device("gpu:99")
    assert_same(predicted(model), before)


def check_gradients(model, loss, *, dead=()):
    """A gradient that is finite and not all zero reaches every parameter from `loss(model)`, a scalar.

    dead: parts of the names of parameters that cannot have one, such as what a normalization takes away again
    """
    with using_config("train", True):
        model.cleargrads()
        loss(model).backward()
    bad = []
    for name, parameter in model.namedparams():
        if any(part in name for part in dead):
            continue
        grad = parameter.grad
        if grad is None or not np.isfinite(grad).all() or not np.any(grad):
            bad.append(name)
    model.cleargrads()
    assert not bad, bad
