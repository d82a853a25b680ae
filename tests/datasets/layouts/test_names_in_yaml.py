"""Names of classes out of data.yaml."""

import pytest

from cvzoo.datasets.layouts.names_in_yaml import names_in_yaml


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("names: [cat, dog]", ("cat", "dog")),
        ("nc: 2\nnames: ['cat', \"big dog\"]  # two", ("cat", "big dog")),
        ("names: ['a, b', c]", ("a, b", "c")),
        ("names: [cat,\n  dog,\n  cow]\nnc: 3", ("cat", "dog", "cow")),
        ("names:\n  - cat\n  - dog\nnc: 2", ("cat", "dog")),
        ("names:\n- cat\n- 'it''s'\nval: x", ("cat", "it's")),
        ("names:\n  0: cat\n  1: dog\nval: x", ("cat", "dog")),
        ("names:\n  0: cat\n  2: dog", ("cat", "", "dog")),
        ("names: {0: cat, 1: dog}", ("cat", "dog")),
        ("train: x\nval: y", None),
        ("", None),
        ("names: []", ()),
        ('names:\n  0: "caf\\u00e9"', ("café",)),
    ],
)
def test_names_are_found(text, names):
    assert names_in_yaml(text) == names
