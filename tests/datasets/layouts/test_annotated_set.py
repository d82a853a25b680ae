"""Objects that are kept packed are those that were given."""

import math

from hypothesis import given
from hypothesis import strategies as st

from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, PackedObjects, packed

numbers = st.floats(allow_nan=False) | st.integers(-(10**30), 10**30)
texts = st.text(st.characters(codec=None)) | st.just("\udce9")  # half of a character, as JSON may have
values = st.recursive(
    st.none() | st.booleans() | numbers | texts, lambda few: st.lists(few) | st.dictionaries(texts, few)
)
objects = st.builds(
    AnnotatedObject,
    st.integers(0, 10**6),
    st.none() | texts,
    st.none() | st.tuples(*[st.floats(allow_nan=False)] * 4),
    st.lists(numbers).map(tuple),
    st.none() | st.integers(),
    st.lists(st.lists(numbers).map(tuple)).map(tuple),
    st.none() | st.dictionaries(texts, values),
    st.lists(numbers).map(tuple),
    st.dictionaries(texts, values),
)


@given(st.lists(objects))
def test_packed_objects_are_those_that_were_packed(given):
    found = PackedObjects(map(packed, given))
    assert found == tuple(given)
    assert repr(found) == repr(tuple(given))  # 1 is 1.0, but not as text
    assert len(found) == len(given)
    assert found[1:] == tuple(given)[1:]
    assert AnnotatedImage("a", None, objects=found) == AnnotatedImage("a", None, objects=tuple(given))


def test_a_box_of_nan_is_kept():
    (only,) = PackedObjects([packed(AnnotatedObject(0, "cat", (0.0, math.nan, 1.0, 1.0)))])
    assert math.isnan(only.bbox[1])


def test_a_value_that_is_nested_deeply_is_kept():
    tree = []
    for _ in range(5000):
        tree = [tree]
    (only,) = PackedObjects([packed(AnnotatedObject(0, "cat", None, extra={"tree": tree}))])
    assert only.extra["tree"] is tree
