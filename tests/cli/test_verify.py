"""`cvzoo verify`."""

import json
import shutil

import numpy as np
import pytest

from cvzoo.cli.golden import golden_complaint, golden_path, golden_record
from cvzoo.cli.model_checks import check_numbers, check_predictions
from cvzoo.errors.exceptions import FileFormatError
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.links.model.raw_outputs import seeded_photo
from cvzoo.links.model.retinanet.text import TEXT_FILE, retinanet_text
from cvzoo.serializers.model_file import save_model

PHOTOS = [seeded_photo((40, 50)), seeded_photo((40, 50), seed=1), seeded_photo((20, 33), seed=2)]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "net.safetensors"
    save_model(path, CIFARResNet(8, 4))
    return path


def verdicts(printed):
    return {check["what"].split()[0]: check["is_right"] for check in json.loads(printed)["checks"]}


def test_a_file_that_is_right_gets_a_table_without_a_complaint(run, file):
    status, printed, _ = run("verify", file)
    assert status == 0
    assert "WRONG" not in printed
    for what in ("numbers", "deterministic", "batch invariance", "predict = evaluate", "saved and loaded"):
        assert what in printed


def test_the_table_comes_as_json_too(run, file, tmp_path):
    status, printed, _ = run("verify", file, "--json", "-")
    assert status == 0
    assert verdicts(printed)["file"] is None  # nothing to hold it to
    assert run("verify", file, "--json", tmp_path / "table.json")[0] == 0
    assert json.loads((tmp_path / "table.json").read_text())["is_right"] is True


def test_a_number_that_is_none_is_found(run, tmp_path):
    model = CIFARResNet(8, 4)
    model.fc.W.array[0, 0] = np.nan
    save_model(tmp_path / "nan.safetensors", model)
    status, printed, _ = run("verify", tmp_path / "nan.safetensors", "--json", "-")
    assert status == 1
    assert verdicts(printed)["numbers"] is False


def test_a_file_that_changed_since_its_certificate_is_found(run, file):
    certificate = file.with_name("net.certificate.json")
    certificate.write_text(json.dumps({"result": {"sha256": "0" * 64}}))
    status, printed, _ = run("verify", file)
    assert status == 1
    assert "another sha256" in printed
    certificate.write_text("[")
    assert run("verify", file)[0] == 2


def test_what_a_model_is_known_to_say_is_stored_and_held_to(run, file):
    assert run("verify", file, "--write-golden")[0] == 0
    assert golden_path(file).name == "net.golden.json"
    status, printed, _ = run("verify", file, "--json", "-")
    assert (status, verdicts(printed)["golden"]) == (0, True)
    save_model(file, CIFARResNet(8, 4))  # other random numbers
    status, printed, _ = run("verify", file)
    assert status == 1
    assert "probs differs by" in printed


def test_a_published_file_is_known_by_its_hash(run, shared):
    path = shared / "weights" / "resnet20_cifar10" / "resnet20-12fca82f.th"
    photo = shared / "data" / "photos"
    status, printed, _ = run("verify", path, "--photos", *sorted(photo.glob("*.jpg"))[:2])
    assert status == 0
    assert "by its sha256" in printed
    assert "2 images" in printed


def test_a_file_said_to_be_a_model_need_not_be_a_published_one(run, tmp_path):
    from_scratch = CIFARResNet(20, 10)
    save_model(tmp_path / "mine.safetensors", from_scratch)
    status, printed, _ = run("verify", tmp_path / "mine.safetensors", "--as", "cifar_resnet20_cifar10")
    assert status == 0
    assert "not one of" in printed


def test_a_model_whose_file_is_not_here_says_how_to_get_it(run, monkeypatch, tmp_path):
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    status, _, errors = run("verify", "cifar_resnet20_cifar10")
    assert status == 2
    assert "not here" in errors
    assert "--fetch" in errors
    assert "resnet20-12fca82f.th" in errors
    assert str(tmp_path) in errors


def test_a_member_whose_file_is_here_is_verified(run, monkeypatch, shared, tmp_path):
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    place = tmp_path / "weights" / "cifar_resnet20_cifar10"
    place.mkdir(parents=True)
    shutil.copy(shared / "weights" / "resnet20_cifar10" / "resnet20-12fca82f.th", place)
    status, printed, _ = run("verify", "cifar_resnet20_cifar10")
    assert status == 0
    assert "by its sha256" in printed


def test_photos_that_cannot_be_used_are_an_error(run, file, tmp_path):
    assert run("verify", file, "--photos", tmp_path / "none.jpg")[0] == 2


class Forgetful(CIFARResNet):
    """Answers differently each time, and differently in batches."""

    calls = 0

    def stages(self, x):
        self.calls += 1
        for name, h in super().stages(x):
            yield name, h * (1 + 0.01 * self.calls)


def test_a_model_that_answers_differently_each_time_is_found_out():
    found = {check.what: check.is_right for check in check_predictions(Forgetful(8, 4), PHOTOS)}
    assert found["deterministic"] is False
    assert found["batch invariance"] is False
    assert found["predict = evaluate"] is False
    assert found["saved and loaded"] is None  # files do not know it


class Scribbling(CIFARResNet):
    def predict(self, imgs, *, batch_size=32):
        result = super().predict(imgs, batch_size=batch_size)
        for img in imgs:
            if isinstance(img, np.ndarray):
                img[:] = 0
        return result


def test_a_model_that_writes_into_the_callers_photos_is_found_out():
    photos = [photo.copy() for photo in PHOTOS]
    found = {check.what: check.is_right for check in check_predictions(Scribbling(8, 4), photos)}
    assert found["leaves all as it was"] is False


def test_numbers_count_and_name_what_is_wrong():
    model = CIFARResNet(8, 4)
    assert check_numbers(model).is_right is True
    model.conv1.bn.avg_mean[0] = np.inf
    assert "conv1/bn/avg_mean" in check_numbers(model).detail


def test_the_shipped_detector_of_text_says_what_it_is_known_to_say():
    model = retinanet_text()
    record = json.loads(golden_path(TEXT_FILE).read_text())
    assert len(record["seen"][0]["score"]["values"]) > 3
    assert golden_complaint(record, model) == ""
    record["seen"][0]["score"]["values"][0] += 0.01
    assert "score differs by 0.01" in golden_complaint(record, model)


@pytest.mark.parametrize("record", [None, {}, {"golden": 2, "seen": []}, {"golden": 1, "seen": [{"probs": 3}, {}]}])
def test_a_damaged_record_is_an_error(record):
    model = CIFARResNet(8, 4)
    if isinstance(record, dict) and record.get("seen"):
        record["seen"][1] = golden_record(model)["seen"][1]
    with pytest.raises(FileFormatError, match="damaged"):
        golden_complaint(record, model)


def test_a_network_of_darknets_files_is_verified(run, net):
    status, printed, _ = run("verify", *net)
    assert status == 0
    assert "tiny.weights: DarknetDetector, the file belongs to" in printed
    for what in ("numbers", "deterministic", "predict = evaluate", "saved and loaded"):
        assert what in printed
    assert "WRONG" not in printed
    assert run("verify", net[3], "--cfg", net[1], "--write-golden")[0] == 0
    assert "tiny.golden.json" in run("verify", *net)[1]
