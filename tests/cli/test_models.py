"""`cvzoo models` and `cvzoo models info NAME`."""

from cvzoo.links.model.zoo import zoo_members


def test_the_list_has_every_member(run):
    status, printed, _ = run("models")
    assert status == 0
    for member in zoo_members():
        assert member.name in printed


def test_info_shows_where_weights_come_from(run):
    for member in zoo_members():
        status, printed, _ = run("models", "info", member.name)
        assert status == 0
        assert member.weights.url.removeprefix("file://") in printed
        assert "licence" in printed
        if member.weights.sha256:
            assert member.weights.sha256 in printed


def test_an_unknown_name_is_an_error_that_helps(run):
    status, _, errors = run("models", "info", "yolo_fastst")
    assert status == 2
    assert "yolo_fastst" in errors
    assert "yolo_fastest" in errors
