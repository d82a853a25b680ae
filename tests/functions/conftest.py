"""Every test of a function that asks for `backend` runs once on each."""

import pytest

from cvzoo.backends.dispatch import get_backend
from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import BackendError


@pytest.fixture(params=["numpy", "onednn"])
def backend(request):
    """The name of the backend that the test runs on."""
    try:
        get_backend(request.param)
    except BackendError as error:
        pytest.skip(str(error))
    with using_config("backend", request.param):
        yield request.param
