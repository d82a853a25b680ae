"""The API reference before it is built: an entry for each public name, and what a written name means."""

import re

import pytest
from site_names import definition_of, doors, entries, inherited_of, members_of, public_names, summary_of
from site_reference import meaning_of, reference_pages
from site_sources import source_address

from cvzoo.links import AbstractDetector, RetinaNet

DIRECTIVE = re.compile(r"^\.\. (?:autoclass|autofunction|py:\w+):: (?:cvzoo\.)?([\w.]+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def pages():
    return reference_pages()


def test_each_public_name_has_one_entry(pages):
    entries_of_door = {door: [] for door in doors()}
    for path, text in pages.items():
        door = max((door for door in doors() if path == door or path.startswith(f"{door}.")), key=len, default=None)
        if door:
            entries_of_door[door] += [name.rsplit(".", 1)[-1] for name in DIRECTIVE.findall(text)]
    for each in public_names():
        assert entries_of_door[each.door].count(each.name) == 1, each.path


def test_nothing_private_has_an_entry():
    assert not [path for path in entries() if re.search(r"\._", path)]


def test_the_entry_of_a_name_of_two_rooms_stands_in_the_room_that_defines_it():
    places = {each.path: each.entry for each in public_names()}
    assert places["cvzoo.Variable"] == "cvzoo.autodiff.Variable"
    assert places["cvzoo.datasets.voc_bbox_label_names"].startswith("cvzoo.labels.")


@pytest.mark.parametrize(
    ("written", "door", "meant"),
    [
        ("nms", "cvzoo.geometry", "cvzoo.geometry.nms"),
        ("nms", "", None),  # a plain word in a sentence
        ("bbox_iou", "", "cvzoo.geometry.bbox_iou"),
        ("L.ResNet50", "", "cvzoo.links.ResNet50"),
        ("F.relu", "", "cvzoo.functions.relu"),
        ("cvzoo.geometry.nms()", "", "cvzoo.geometry.nms"),
        ("cvzoo.Variable", "", "cvzoo.autodiff.Variable"),
        ("geometry.nowhere", "", None),
        ("x + y", "", None),
    ],
)
def test_what_a_written_name_means(written, door, meant):
    assert meaning_of(written, door) == meant


def test_the_source_of_a_name_and_of_a_method_is_a_line():
    assert re.fullmatch(r"\.\./source/cvzoo/geometry/nms\.html#L-\d+", source_address("cvzoo.geometry.nms"))
    assert re.search(r"#L-\d+$", source_address("cvzoo.links.AbstractDetector.predict"))
    assert re.search(r"source/cvzoo/images/.*#L-\d+$", source_address("cvzoo.images.MAX_PIXELS"))


def test_a_constant_is_described_by_the_comment_beside_it():
    box = entries()["cvzoo.typing.BBox"]
    assert summary_of(box).startswith("(R, 4) float32")
    assert definition_of(box.door, box.name).value == "npt.NDArray[Any]"


def test_methods_of_bases_without_an_entry_are_the_classes_own():
    assert "prepare" in members_of(AbstractDetector)  # of a base that is not public
    assert "predict" in members_of(AbstractDetector)
    assert "add_param" not in members_of(AbstractDetector)  # of Link, which is


def test_methods_of_bases_with_an_entry_are_named_as_inherited():
    inherited = dict(inherited_of(RetinaNet))
    assert inherited["predict"] == "cvzoo.links.AbstractDetector.predict"
    assert "add_param" not in inherited
