"""A network whose convolutions are cuDNN's, on a made-up GPU, against the same on the processor."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.backends.arrays import to_numpy
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import using_config
from cvzoo.links.model.resnet.resnet import ResNet

# of the largest number; all but float32 round what is summed in another order
BOUNDS = {"float32": 1e-4, "tf32": 5e-2, "mixed_fp16": 1e-1, "mixed_bf16": 3e-1}


def gradients(mode, device, backend):
    """The loss, the outputs and the parameters' gradients of a small network."""
    set_seed(0)
    rng = np.random.default_rng(0)
    x, t = rng.standard_normal((4, 3, 64, 64), np.float32), np.array([0, 1, 2, 3], np.int32)
    with using_config("dtype", mode), using_config("backend", backend):
        model = ResNet(10, n_class=4, pretrained_model=None)
        model.to_device(device)
        y = model(model.xp.asarray(x))
        loss = F.softmax_cross_entropy(y, model.xp.asarray(t))
        model.cleargrads()
        loss.backward()
        grads = {name: to_numpy(p.grad) for name, p in model.namedparams()}
        return to_numpy(loss.array), to_numpy(y.array).astype(np.float32), grads


@pytest.mark.parametrize("mode", BOUNDS)
def test_a_resnet_learns_the_same(gpu, mode):
    _, fake = gpu
    loss, y, grads = gradients(mode, "gpu:0", "cudnn")
    wanted_loss, wanted_y, wanted_grads = gradients("float32", "cpu", "numpy")
    bound = BOUNDS[mode]
    assert abs(loss - wanted_loss) < bound
    assert np.abs(y - wanted_y).max() <= bound * np.abs(wanted_y).max()
    assert grads.keys() == wanted_grads.keys()
    for name, grad in grads.items():
        assert grad.dtype == np.float32
        difference = np.linalg.norm(grad - wanted_grads[name])
        assert difference <= 2 * bound * np.linalg.norm(wanted_grads[name]) + 1e-6, name
    kinds = [call[1] for call in fake.calls if call[0] == "cudnnBackendExecute"]
    assert kinds.count("weight_grad") == 12
    assert kinds.count("input_grad") == 11


def test_a_compiled_resnet_adds_and_activates_in_its_convolutions(gpu):
    machine, fake = gpu
    x = np.random.default_rng(0).standard_normal((2, 3, 64, 64), np.float32)
    with using_config("train", False), using_config("enable_backprop", False):
        model = ResNet(10, n_class=4, pretrained_model=None)
        wanted = model(x).array
        model.to_device("gpu:0")
        x = machine.cupy.array(x)
        model.compile(x)
        captured = [call[1] for call in fake.calls if call[0] == "cudnnBackendExecute"]
        before = len(fake.calls)
        with machine.no_sync():
            y = model(x).array
    np.testing.assert_allclose(to_numpy(y), wanted, rtol=0, atol=1e-4 * np.abs(wanted).max())
    assert len(fake.calls) == before  # the graph is replayed
    assert captured[-12:].count("forward-add-relu") == 5
    assert captured[-12:].count("forward-add-add-relu") == 4
    assert captured[-12:].count("forward-add") == 3
