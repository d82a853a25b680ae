"""The model at its best."""

import json
import math

import numpy as np
import pytest

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.reporting.reporter import report
from cvzoo.serializers.model_file import load_model
from cvzoo.training.extensions.best_model import BestModel
from cvzoo.weights.formats.safetensors import read_safetensors, read_safetensors_metadata

SCORES = [0.1, math.nan, 0.5, 0.4, math.inf, 0.5, 0.3, 0.2]


@pytest.fixture
def watched(counting_trainer):
    """A function (extension of a link, key="score") -> trainer that reports SCORES and counts in the link's bias."""

    def make(make_extension, until=(2, "epoch")):
        link = Linear(2, 1)

        def act(iteration):
            link.b.array[...] = iteration
            report({"score": SCORES[iteration - 1]})

        return counting_trainer([make_extension(link)], act, until)

    return make


def stored(path):
    return read_safetensors(path)["b"][0]


def test_the_largest_score_counts_and_the_last_of_equal_ones(watched, tmp_path):
    trainer = watched(lambda link: BestModel(link, "score"))
    trainer.run()
    assert stored(tmp_path / "best.safetensors") == 6
    assert json.loads(read_safetensors_metadata(tmp_path / "best.safetensors")["training"]) == {
        "metric": "score",
        "value": 0.5,
        "iteration": 6,
    }
    extension = trainer.get_extension("BestModel")
    assert (extension.value, extension.iteration) == (0.5, 6)


def test_the_smallest_may_be_the_best(watched, tmp_path):
    watched(lambda link: BestModel(link, "score", "smallest", filename="a.safetensors")).run()
    assert stored(tmp_path / "a.safetensors") == 1


def test_a_run_that_goes_on_knows_what_was_best(watched, tmp_path):
    first = watched(lambda link: BestModel(link, "score", "smallest"), (4, "iteration"))
    first.run()
    second = watched(lambda link: BestModel(link, "score", "smallest"))
    second.load_state(first.state())
    second.run()
    assert stored(tmp_path / "best.safetensors") == 1


def test_the_best_by_one_score_is_not_compared_with_that_by_another():
    link = Linear(2, 1)
    first, second = BestModel(link, "validation/main/map"), BestModel(link, "validation/main/other")
    first.value, first.iteration = 0.9, 4
    second.load_state(first.state())
    assert second.iteration is None
    assert second.value != second.value


def test_a_score_that_never_comes_is_told(watched, tmp_path, capsys):
    watched(lambda link: BestModel(link, "validation/main/map")).run()
    said = capsys.readouterr().err
    assert "no best.safetensors yet: no validation reported 'validation/main/map'" in said
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_tried_again(watched, tmp_path, monkeypatch):
    whole = BestModel._write

    def full(self, path, metadata):
        if json.loads(metadata["training"])["iteration"] in (3, 6):
            raise OSError(28, "No space left on device")
        whole(self, path, metadata)

    monkeypatch.setattr(BestModel, "_write", full)
    with pytest.warns(RuntimeWarning, match="No space left"):
        watched(lambda link: BestModel(link, "score")).run()
    assert stored(tmp_path / "best.safetensors") == 4  # better than the one in the file


@pytest.mark.slow
def test_a_model_goes_with_its_names_and_its_preprocessing(counting_trainer, tmp_path):
    model = RetinaNet(n_fg_class=2, label_names=("cat", "dog"))
    trainer = counting_trainer([BestModel(model, "score", half=True)], lambda i: report({"score": i}), (1, "iteration"))
    trainer.run()
    again = load_model(tmp_path / "best.safetensors")
    assert again.label_names == ("cat", "dog")
    bboxes, _, _ = again.predict([np.zeros((3, 40, 50), np.float32)])
    assert len(bboxes) == 1


def test_there_is_no_middle(watched):
    with pytest.raises(ValueRangeError, match="best_is"):
        BestModel(Linear(1, 1), "score", "middle")
