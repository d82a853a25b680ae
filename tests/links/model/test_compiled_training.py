"""Every network of the zoo trains to the same numbers when it is compiled: to the same bits where it gives one result.

Gradients of several results meet within the network in an order of their own, and three numbers added in another order
are other bits.
"""

import copy

import numpy as np
import pytest
from neighbour import neighbour

from cvzoo import optimizers
from cvzoo.config.randomness import set_seed

classifiers, detectors, instances, segmenters = (
    neighbour(__file__, f"test_{name}")
    for name in ("classifier_conformance", "detector_conformance", "instance_networks", "segmenter_conformance")
)


def steps_of(model, loss):
    """The losses and the numbers after some steps."""
    set_seed(3)
    optimizer = optimizers.MomentumSGD(lr=1e-6).setup(model)
    losses = []

    def lossfun():
        value = loss(model)
        losses.append(value.item())
        return value

    for _ in range(3):  # as written, recorded, replayed
        optimizer.update(lossfun)
    return losses, model.state_arrays()


def assert_trains_alike(model, loss, *, tolerance=0.0):
    eager, model = copy.deepcopy(model), copy.deepcopy(model)
    model.compile(train=True)
    want, arrays = steps_of(eager, loss)
    got, others = steps_of(model, loss)
    assert model.graphs()
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=0)
    gradients = {path: param.grad for path, param in eager.namedparams() if param.grad is not None}
    for path, param in model.namedparams():
        assert (param.grad is not None) == (path in gradients)
        if param.grad is not None:
            arrays[path], others[path] = gradients[path], param.grad
    largest = max(np.abs(array).max() for array in gradients.values())
    for name, array in arrays.items():
        scale = max(np.abs(array).max(initial=0), largest)  # what normalizations take away again is rounding alone
        np.testing.assert_allclose(others[name], array, rtol=0, atol=tolerance * scale, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("name", classifiers.CLASSIFIERS)
def test_a_classifier(name):
    assert_trains_alike(classifiers._made(name), classifiers.conformance.loss)


@pytest.mark.slow
@pytest.mark.parametrize("name", detectors.MAKERS)
def test_a_detector(name):
    assert_trains_alike(detectors._made(name), detectors.LOSSES.get(name, detectors.conformance.loss), tolerance=1e-4)


@pytest.mark.parametrize("name", [name for name in instances.MODELS if name in instances.LOSSES])
def test_a_model_of_instances(name):
    assert_trains_alike(instances._made(name), instances.LOSSES[name], tolerance=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", segmenters.SEGMENTERS)
def test_a_segmenter(name):
    several = any(word in name for word in ("PSPNet", "DeepLabV3,", "FCN"))  # a second, auxiliary loss
    tolerance = 1e-5 if several else 0.0
    assert_trains_alike(segmenters._made(name), segmenters.conformance.loss, tolerance=tolerance)
