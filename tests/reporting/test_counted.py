"""Numbers of things in words."""

from cvzoo.reporting.counted import counted


def test_one_is_singular_and_all_other_numbers_plural():
    assert [counted(n, "image") for n in (0, 1, 2)] == ["0 images", "1 image", "2 images"]
    assert [counted(n, "box", "boxes") for n in (1, 5)] == ["1 box", "5 boxes"]
    assert [counted(n, "hour", spec="g") for n in (1.0, 0.5)] == ["1 hour", "0.5 hours"]
    assert counted(12345, "parameter", spec=",") == "12,345 parameters"
