"""A published file without a whole hash is believed from the moment on when a model has taken all of its arrays."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import CvzooError
from cvzoo.links.chain import Chain
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.preparation.center_crop import PhotoPreparation
from cvzoo.links.model.pretrained.classifier import ClassWeights, classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.pretrained.source import read_pretrained
from cvzoo.weights.cache import cached_path
from cvzoo.weights.formats.npz import write_npz
from cvzoo.weights.record import Weights


class Net(Chain):
    def __init__(self):
        with self.init_scope():
            self.fc = Linear(3, 2)


@pytest.fixture(params=[True, False], ids=["right", "wrong"])
def record(request, monkeypatch, tmp_path):
    """Of a file that is the network's, or one with another shape."""
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path / "home"))
    path = tmp_path / "net.npz"
    write_npz(path, {"fc/W": np.zeros((2, 3 if request.param else 4), "f4"), "fc/b": np.zeros(2, "f4")})
    words = dict.fromkeys(("licence", "data", "data_licence", "source"), "not stated")
    return Weights(name="net", url=path.as_uri(), sha256=None, **words), request.param


def classifier(record, n_class=None):
    source = classifier_source(
        "net",
        {"net": ClassWeights(record, PhotoPreparation())},
        {},
        heads=("fc",),
        n_class=n_class,
        label_names=None,
        default=PhotoPreparation(),
    )
    load_pretrained(Net(), source.file)


def whole(record):
    load_pretrained(Net(), read_pretrained("net", {"net": record}, {}))


def detector(record):
    load_pretrained(Net(), read_pretrained("net", {"net": record}, {}), may_start_anew=("aux",))


def backbone(record):
    load_pretrained(Net(), read_pretrained("net", {"net": record}, {"any": Names(marks=(), only=("fc/",))}))


@pytest.mark.parametrize("take", [classifier, lambda record: classifier(record, 2), whole, detector, backbone])
def test_what_a_model_takes_is_pinned_and_what_it_refuses_is_not(record, take):
    record, is_right = record
    if is_right:
        take(record)
    else:
        with pytest.raises(CvzooError):
            take(record)
    path = cached_path(record)
    assert path.with_name("net.npz.sha256").exists() == is_right
    assert path.with_name(".net.npz.unproven").exists() != is_right
