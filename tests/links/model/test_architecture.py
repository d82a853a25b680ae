"""Files keep the thresholds of models that find instances; old files, which have none, still load."""

import pytest

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.links.model.thresholds import Preset
from cvzoo.links.model.ultra_light_face.ultra_light_face import UltraLightFace
from cvzoo.serializers.model_file import load_model, save_model
from cvzoo.weights.formats.safetensors import read_safetensors, write_safetensors
from cvzoo.weights.model_header import ModelHeader, read_model_header


@pytest.fixture
def saved(tmp_path):
    """Of a change of its settings, the path of a file."""

    def write(**change):
        path = tmp_path / "m.safetensors"
        save_model(path, UltraLightFace())
        header = read_model_header(path)
        settings = {name: value for name, value in {**header.settings, **change}.items() if value != "gone"}
        header = ModelHeader(architecture=header.architecture, settings=settings, label_names=header.label_names)
        write_safetensors(path, read_safetensors(path), metadata=header.to_metadata())
        return path

    return write


def test_an_old_file_has_the_models_own_thresholds(saved):
    model = load_model(saved(presets="gone", limit="gone"))
    assert (model.presets, model.limit) == (UltraLightFace.presets, UltraLightFace.limit)
    assert (model.nms_thresh, model.score_thresh) == UltraLightFace.presets["visualize"]


def test_presets_and_limit_are_the_files(saved):
    model = load_model(saved(presets={"visualize": [0.4, 0.3]}, limit=3))
    assert (model.presets, model.limit) == ({"visualize": Preset(0.4, 0.3)}, 3)
    assert (model.nms_thresh, model.score_thresh) == (0.4, 0.3)
    assert load_model(saved(limit=None)).limit is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"presets": 3},
        {"presets": {}},
        {"presets": {"visualize": [0.4]}},
        {"presets": {"visualize": ["a", "b"]}},
        {"limit": "many"},
        {"limit": [1]},
    ],
)
def test_wrong_thresholds_are_refused(saved, wrong):
    with pytest.raises(FileFormatError, match="make no UltraLightFace"):
        load_model(saved(**wrong))
