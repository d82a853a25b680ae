"""A plugin of pytest: the whole run sees a made-up GPU, so that the tests that need one do not skip.

    CVZOO_MADE_UP_GPU=2 pytest -p made_up_gpu tests/gpu             what those tests do, where there is no GPU
    pytest -p made_up_gpu -p real_gpu tests/backends/cuda           as plugin real_gpu would run them

It shows that such tests run, not what a GPU computes.
"""

import contextlib
import os

import pytest
from fake_gpu import install

_kept = contextlib.ExitStack()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    _kept.enter_context(install.fake_gpu(devices=int(os.environ.get("CVZOO_MADE_UP_GPU", "2"))))


def pytest_unconfigure(config):
    with contextlib.suppress(Exception):  # blocks that tests broke were told of there
        _kept.close()
