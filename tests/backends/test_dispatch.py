import numpy as np
import pytest

from cvzoo.backends.dispatch import backend_of, get_backend
from cvzoo.backends.numpy import NumpyBackend
from cvzoo.backends.onednn import OneDNNBackend
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import BackendError, DtypeError


def test_a_backend_is_made_once():
    assert get_backend("numpy") is get_backend("numpy")


def test_the_switch_decides_for_arrays_on_the_cpu():
    with using_config("backend", "numpy"):
        assert backend_of(np.zeros(3)).name == "numpy"
        assert backend_of(np.float32(3)).name == "numpy"
        assert get_backend().name == "numpy"


def test_an_unknown_backend_is_refused_by_name():
    with pytest.raises(BackendError, match="tpu"):
        get_backend("tpu")


def test_what_is_no_array_is_refused():
    with pytest.raises(DtypeError, match="list"):
        backend_of([1, 2])


def test_backends_go_by_their_older_names_too():
    assert NumpyBackend() is get_backend("numpy")
    if why_no_onednn() is None:
        assert OneDNNBackend() is get_backend("onednn")
