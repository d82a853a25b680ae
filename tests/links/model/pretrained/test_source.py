"""What a name or a path of weights leads to."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import ValueRangeError
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
