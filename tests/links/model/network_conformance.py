"""What the zoo's networks promise beside what `cvzoo.testing` holds: model files, gradients, other classes.

predicted: from a model, the arrays of a prediction on the suite's photos
"""

import numpy as np
import pytest

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import (
    CvzooError,
    FileFormatError,
)
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.thresholds import AbstractThresholds, Preset
from cvzoo.serializers.model_file import load_model, save_model
from cvzoo.serializers.npz import save_npz


def settle_norms(model, loss):
    """The model, whose batch norms know the statistics of what `loss(model)` sees: random numbers do not blow up."""
    norms = [link for link in model.links() if isinstance(link, BatchNormalization)]
    decays = [norm.decay for norm in norms]
    for norm in norms:
        norm.decay = 0
    with using_config("train", True), no_backprop_mode():
        loss(model)
    for norm, decay in zip(norms, decays):
        norm.decay = decay
    return model


def assert_same(one, other):
    """Two predictions have the same bits."""
    assert len(one) == len(other)
    for a, b in zip(one, other):
        np.testing.assert_array_equal(a, b)


def check_model_file(model, predicted, folder):
    """A file that says what it is gives the same model back; it holds no pickle, and half of it is refused."""
    path = folder / "model.safetensors"
    save_model(path, model)
    assert path.read_bytes()[8:9] == b"{"
    again = load_model(path)
    assert type(again) is type(model)
    assert again.label_names == model.label_names
    assert_same(predicted(again), predicted(model))
    if isinstance(model, AbstractThresholds):
        _check_kept_thresholds(model, path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(FileFormatError):
        load_model(path)


def _check_kept_thresholds(model, path):
    presets, limit = model.presets, model.limit
    try:
        for model.limit in (7, None):
            model.presets = {"visualize": Preset(0.31, 0.27), "evaluate": Preset(0.32, 0.03), "night": Preset(0.3, 0.1)}
            save_model(path, model)
            again = load_model(path)
            assert (again.presets, again.limit) == (model.presets, model.limit)
            assert (again.nms_thresh, again.score_thresh) == (0.31, 0.27)
    finally:
        model.presets, model.limit = presets, limit


def check_other_classes(make, predicted, folder, *, heads):
    """From a file with its own number of classes to another: a warning names what starts anew, all else is taken.

    make: (n_fg_class, pretrained_model, label_names) -> the network
    heads: paths under which arrays may initialized anew
    """
    old = make(4, None, None)
    path = folder / "four.npz"
    save_npz(path, old)
    same = make(None, path, None)
    assert (same.n_fg_class, same.label_names) == (4, None)
    assert same.load_report.is_clean
    assert_same(predicted(same), predicted(old))
    assert make(4, path, ("ape", "bee", "cat", "dog")).load_report.is_clean
    with pytest.warns(UserWarning, match="initialized anew"):
        new = make(None, path, ("ape", "bee", "cat"))
    assert (new.n_fg_class, new.label_names) == (3, ("ape", "bee", "cat"))
    report = new.load_report
    assert not report.missing
    assert not report.unexpected
    assert report.mismatching
    strays = [name for name in report.mismatching if not name.startswith(tuple(f"{head}/" for head in heads))]
    assert not strays, strays
    ours, theirs = new.state_arrays(), old.state_arrays()
    assert ours.keys() == theirs.keys()
    for name in ours.keys() - report.mismatching.keys():
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    for name in report.mismatching:
        # zeros would stay the same for every class
        assert name.rsplit("/", 1)[-1] != "W" or np.std(ours[name]) > 0, name
    predicted(new)
    with pytest.raises(CvzooError, match="nothing"):
        make(None, folder / "nothing.npz", None)
    save_npz(folder / "foreign.npz", Linear(2, 2))
    with pytest.raises(CvzooError):
        make(3, folder / "foreign.npz", None)


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
