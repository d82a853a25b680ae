"""What a name or a path of weights leads to."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import DtypeError, UnsupportedError, ValueRangeError, WeightsMismatchError
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.pretrained.source import read_pretrained
from cvzoo.weights.formats.safetensors import write_safetensors
from cvzoo.weights.model_header import ModelHeader

TABLE = {
    "the publisher": Names(
        marks=("fc.weight",),
        modules={"fc": "head"},
        only=("head/",),
        config=lambda config, theirs, ours: (config, "fc.weight" in theirs, "head/W" in ours),
    )
}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "net.safetensors"
    header = ModelHeader(architecture="Net", settings={}).to_metadata()
    write_safetensors(path, {"fc.weight": np.ones((2, 3), np.float32)}, metadata=header)
    return path


def test_a_publishers_file_says_what_it_is_about_and_how_it_is_built(file):
    found = read_pretrained(file, {}, TABLE, config="asked")
    assert (found.publisher, found.only, found.config) == ("the publisher", ("head/",), ("asked", True, True))
    assert found.arrays.keys() == {"head/W"}
    assert found.header.architecture == "Net"


@pytest.mark.parametrize(("architecture", "publisher"), [("Net", None), ("Other", "the publisher")])
def test_a_file_that_says_it_is_such_a_network_has_our_names(file, architecture, publisher):
    found = read_pretrained(file, {}, TABLE, architecture=architecture)
    assert found.publisher == publisher
    assert (found.header is None) == (architecture == "Other")


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueRangeError, match="neither a known name nor a file"):
        read_pretrained("nothing", {}, TABLE)


@pytest.mark.parametrize("value", [False, True, 3])
def test_a_switch_is_no_name(value):
    with pytest.raises(DtypeError, match="pretrained_model must be a known name or a path, or None for random weights"):
        read_pretrained(value, {}, TABLE)


@pytest.mark.parametrize("column", ["finish", "config"])
@pytest.mark.parametrize("error", [TypeError, ValueError, IndexError])
def test_arrays_that_cannot_be_laid_out_are_told_with_the_file(file, column, error):
    def fail(*_):
        raise error("a vector where a matrix should be")

    with pytest.raises(WeightsMismatchError, match=r"net\.safetensors: an array has a shape .* a vector"):
        read_pretrained(file, {}, {"the publisher": Names(marks=("fc.weight",), **{column: fail})})


def test_an_error_in_our_own_words_is_passed_on(file):
    def fail(*_):
        raise UnsupportedError("no such network here")

    with pytest.raises(UnsupportedError, match="no such network"):
        read_pretrained(file, {}, {"the publisher": Names(marks=("fc.weight",), config=fail)})
