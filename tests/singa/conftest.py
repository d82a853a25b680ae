"""What these tests share: nothing that they set stays."""

import pytest

import cvzoo
from cvzoo.singa import autograd, device


@pytest.fixture(autouse=True)
def _as_before():
    cvzoo.set_seed(0)
    yield
    autograd.training = False
    device.get_default_device().SetVerbosity(0)
    device.get_default_device().SetSkipIteration(0)
