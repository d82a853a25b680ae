"""`cvzoo models` and `cvzoo models info NAME`."""

import json

from cvzoo.links.model.families import zoo_members


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


def test_the_list_can_be_narrowed_to_a_task(run):
    status, printed, _ = run("models", "--task", "detection")
    assert status == 0
    for member in zoo_members():
        assert (f" {member.name} " in printed) == (member.task == "detection"), member.name
    assert run("models", "list", "--task", "detection")[1] == printed
    assert run("models", "--task", "poetry")[0] == 2


def test_the_list_can_be_searched_for_words(run):
    status, printed, _ = run("models", "--search", "Resnet CIFAR-10")
    assert status == 0
    assert "cifar_resnet20_cifar10" in printed
    assert "resnet50_imagenet" not in printed
    status, printed, errors = run("models", "--search", "resnet zeppelin")
    assert (status, printed) == (1, "")
    assert "no model is like that" in errors


def test_the_list_stays_readable(run):
    for line in run("models")[1].splitlines():
        assert len(line) < 160


def test_what_ships_is_here(run, monkeypatch, tmp_path):
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    _, printed, _ = run("models", "--here")
    shipped = [member.name for member in zoo_members() if not member.files]
    assert shipped
    assert [line.split()[0] for line in printed.splitlines() if line.startswith("  ")][1:] == shipped


def test_the_list_comes_as_json_with_everything(run):
    listed = json.loads(run("models", "--json")[1])
    assert [each["name"] for each in listed] == [member.name for member in zoo_members()]
    assert {"licence", "data", "score", "files", "source", "preprocessing"} <= set(listed[0])


def test_a_name_like_no_other_is_answered_without_the_whole_list(run):
    status, _, errors = run("models", "info", "qqqq.xyz")
    assert status == 2
    assert "cvzoo models" in errors
    assert len(errors) < 300
