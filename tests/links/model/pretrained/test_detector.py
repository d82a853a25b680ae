"""What a detector takes from a file, and what it refuses."""

import dataclasses

import numpy as np
import pytest

from cvzoo.errors.exceptions import FileFormatError, ValueRangeError, WeightsMismatchError
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.coco_categories import torchvision_label_names, unused_coco_categories
from cvzoo.links.model.fcos.fcos import FCOSConfig
from cvzoo.links.model.pretrained.detector import detector_source
from cvzoo.links.model.pretrained.source import PretrainedFile, decided_classes
from cvzoo.links.model.ssdlite.config import SSDLiteConfig
from cvzoo.links.model.ssdlite.ssdlite import SSDLite
from cvzoo.links.model.ssdlite.weights import ssdlite_files
from cvzoo.serializers.model_file import save_model
from cvzoo.serializers.npz import save_npz
from cvzoo.weights.formats.safetensors import read_safetensors, write_safetensors
from cvzoo.weights.model_header import read_model_header

TINY = SSDLiteConfig(insize=64, width=0.25, extras=(16,), scales=(0.2, 0.4, 0.7, 0.9), aspect_ratios=((2,),) * 3)
SOURCE = PretrainedFile("file", {}, n_class=2, label_names=("ape", "bee"))


@pytest.mark.parametrize(
    ("n", "names", "source", "default", "want"),
    [
        (3, None, None, None, (3, None)),
        (None, ("a", "b", "c"), None, None, (3, ("a", "b", "c"))),
        (None, None, SOURCE, None, (2, ("ape", "bee"))),
        (2, None, SOURCE, ("x", "y"), (2, ("ape", "bee"))),  # the file knows better than the default
        (3, None, SOURCE, None, (3, None)),  # fine-tuned to others
        (None, ["x", "y"], SOURCE, None, (2, ("x", "y"))),
        (None, None, None, ("x", "y"), (2, ("x", "y"))),
        (3, None, None, ("x", "y"), (3, None)),
    ],
)
def test_classes_are_those_given_else_the_files_else_the_default(n, names, source, default, want):
    n_default, known = (None, ()) if default is None else (len(default), (default,))
    assert decided_classes(n, names, source, name="n", default=n_default, known_names=known) == want


@pytest.mark.parametrize(("n", "names"), [(None, None), (0, None), (True, None), (1.0, None), (2, ("a",))])
def test_wrong_numbers_of_classes_are_refused(n, names):
    with pytest.raises(ValueRangeError, match=r"Model: n_fg_class|one per class"):
        decided_classes(n, names, None, name="Model: n_fg_class")


def read(path, *, config_class=SSDLiteConfig, config=None):
    return detector_source(
        path,
        {},
        ssdlite_files()._replace(config_class=config_class),
        n_fg_class=None,
        label_names=None,
        config=config,
    )


def test_a_file_that_cvzoo_saved_says_how_its_detector_is_built(tmp_path):
    path = tmp_path / "model.safetensors"
    save_model(path, SSDLite(2, label_names=("ape", "bee"), settings=TINY))
    source = read(path)
    assert (source.config, source.n_fg_class, source.label_names) == (TINY, 2, ("ape", "bee"))
    with pytest.raises(FileFormatError, match="make no SSDLite"):
        read(path, config_class=FCOSConfig)
    save_npz(tmp_path / "numbers.npz", SSDLite(2, settings=TINY))
    source = read(tmp_path / "numbers.npz")
    assert (source.config, source.n_fg_class, source.stored) == (None, 2, None)


def test_the_config_stands_where_the_family_says(tmp_path):
    path = tmp_path / "model.safetensors"
    save_model(path, SSDLite(2, settings=TINY))
    header, arrays = read_model_header(path), read_safetensors(path)
    settings = {"n_fg_class": 2, "config": header.settings["settings"]}
    write_safetensors(path, arrays, metadata=dataclasses.replace(header, settings=settings).to_metadata())
    assert read(path).config == TINY
    settings = {"n_fg_class": 2}
    write_safetensors(path, arrays, metadata=dataclasses.replace(header, settings=settings).to_metadata())
    with pytest.raises(FileFormatError, match="settings is missing"):
        read(path)


def test_a_file_of_another_network_is_refused_at_once(tmp_path):
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    with pytest.raises(WeightsMismatchError, match="contains neither a SSDLite nor a backbone"):
        read(tmp_path / "other.npz")


def test_an_asked_config_is_stronger_than_the_file_s(tmp_path):
    path = tmp_path / "model.safetensors"
    save_model(path, SSDLite(2, settings=TINY))
    asked = SSDLiteConfig(insize=320)
    source = read(path, config=asked)
    assert (source.config, source.is_given, source.file.config) == (asked, True, TINY)


def test_a_detector_of_torchvisions_ninety_categories_has_their_names():
    names = torchvision_label_names(90)
    assert [names[category - 1] for category in (1, 13, 90)] == ["person", "stop sign", "toothbrush"]
    assert [i + 1 for i, name in enumerate(names) if name == "N/A"] == list(unused_coco_categories)
    assert tuple(name for name in names if name != "N/A") == torchvision_label_names(80) == coco_bbox_label_names
    assert torchvision_label_names(91) == ("N/A", *names)
    assert torchvision_label_names(5) is None
