"""The process that downloads the weights of a model of the zoo."""

import json

import numpy as np
import pytest

from cvzoo.errors.exceptions import CvzooError, DownloadError
from cvzoo.files.file_hash import sha256_of
from cvzoo.links.model.zoo_member import ZooMember
from cvzoo.studio.worker import fetch_weights
from cvzoo.weights.record import Weights


@pytest.fixture
def member(tmp_path, monkeypatch):
    """A model of the zoo whose publisher is a folder; `made` has how often it was loaded."""
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path / "cvzoo"))
    np.savez(tmp_path / "net.npz", W=np.zeros(3, np.float32))
    about = {"licence": "MIT", "data": "-", "data_licence": "-", "source": "-"}
    url, sha256 = f"file://{tmp_path}/net.npz", sha256_of(tmp_path / "net.npz")
    record = Weights(name="net", url=url, sha256=sha256, size=(tmp_path / "net.npz").stat().st_size, **about)
    made = []
    members = [ZooMember("net", lambda: made.append(1), record, (record,))]
    monkeypatch.setattr(fetch_weights, "zoo_members", lambda: members)
    return made


def test_the_process_downloads_and_loads_a_model(member, tmp_path):
    told = []
    fetch_weights.fetch("net", told.append)
    assert member == [1]
    assert (tmp_path / "cvzoo" / "weights" / "net" / "net.npz").is_file()
    assert told[-1]["done"] == told[-1]["total"]
    json.dumps(told)


def test_the_process_says_what_is_not_there(member, tmp_path, monkeypatch):
    with pytest.raises(CvzooError, match="the zoo has no model 'none'"):
        fetch_weights.fetch("none", print)
    (tmp_path / "net.npz").unlink()
    with pytest.raises(DownloadError, match="no URL returned the file"):
        fetch_weights.fetch("net", print)
    monkeypatch.setenv("CVZOO_OFFLINE", "1")
    with pytest.raises(DownloadError, match="CVZOO_OFFLINE"):
        fetch_weights.fetch("net", print)
