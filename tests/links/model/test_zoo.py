"""What holds for every trained model of the zoo."""

import typing

import pytest

from cvzoo.errors.exceptions import DownloadError
from cvzoo.links.model.families import zoo_members
from cvzoo.links.model.zoo_member import Task

MEMBERS = zoo_members()
FETCHED = [member for member in MEMBERS if member.files]


def test_names_are_unique_and_sorted():
    names = [member.name for member in MEMBERS]
    assert names == sorted(set(names))


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.name)
def test_a_member_has_provenance(member):
    assert member.weights in member.files or not member.files
    assert member.task in typing.get_args(Task)
    for record in member.files:
        assert record.url.startswith("https://")
        assert record.licence
    assert member.weights.source


@pytest.mark.parametrize(
    "name",
    [
        *("ultra_light_face_rfb_320", "ultra_light_face_slim_320"),
        *(f"cifar_resnet{n}_cifar10" for n in (20, 32, 44, 56)),
    ],
)
def test_models_from_fixed_commits_name_a_file_of_known_size_and_hash(name):
    (member,) = (member for member in MEMBERS if member.name == name)
    assert member.weights.sha256
    assert member.weights.size
    assert member.weights.label_names


def test_one_detector_ships_in_the_package():
    assert [member.name for member in MEMBERS if not member.files] == ["retinanet_text"]


@pytest.mark.parametrize("member", FETCHED, ids=lambda member: member.name)
def test_without_a_network_a_member_says_which_file_to_put_where(member, monkeypatch, tmp_path):
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    monkeypatch.setenv("CVZOO_OFFLINE", "1")
    with pytest.raises(DownloadError, match=str(tmp_path)):
        member.make()


def test_a_model_whose_file_is_in_the_cache_is_made(shared, monkeypatch, tmp_path):
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    monkeypatch.setenv("CVZOO_OFFLINE", "1")
    (member,) = (member for member in MEMBERS if member.name == "cifar_resnet20_cifar10")
    with pytest.raises(DownloadError) as error:
        member.make()
    place = next(word for word in str(error.value).split() if word.startswith(str(tmp_path)))
    data = (shared / "weights" / "resnet20_cifar10" / "resnet20-12fca82f.th").read_bytes()
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_bytes(data)
    assert member.make().count_params() == 269_722
