"""`cvzoo evaluate` of images with a class each."""

import json
import shutil

import numpy as np
import pytest
from PIL import Image

from cvzoo.config import set_seed
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.serializers.model_file import save_model

NAMES = ("cat", "dog", "polar bear")


@pytest.fixture
def folder(tmp_path):
    """ROOT/cat with two images, ROOT/dog with one, ROOT/Polar_Bear with one."""
    root = tmp_path / "photos"
    rng = np.random.default_rng(0)
    for name in ("cat/a", "cat/b", "dog/c", "Polar_Bear/d"):
        path = root / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (40, 50, 3), "uint8")).save(path)
    return root


@pytest.fixture
def model(tmp_path):
    set_seed(0)
    path = tmp_path / "net.safetensors"
    save_model(path, ResNet(18, label_names=(*NAMES, "ufo")))
    return path


def results(tmp_path, text):
    path = tmp_path / "guesses.csv"
    path.write_text(text)
    return path


GUESSES = "photo,label,score\ncat/a.png,cat,.7\ncat/a.png,dog,.2\nb,dog,.9\nb,cat,.05\nc.png,dog,.6\nd,cat,.5\n"


def test_somebodys_guesses_get_accuracies_and_a_report(run, folder, tmp_path):
    words = ("--gt", f"folder:{folder}", "--results", results(tmp_path, GUESSES))
    status, out, err = run("evaluate", *words, "--json", tmp_path / "o.json", "--report", tmp_path / "r.html")
    assert status == 0, err
    record = json.loads((tmp_path / "o.json").read_text())
    assert record["accuracy"] == record["top1_accuracy"] == 0.5
    assert "top5_accuracy" not in record  # of three classes
    assert record["mean_class_accuracy"] == pytest.approx((0.5 + 1 + 0) / 3)
    assert [(row["name"], row["n_photos"], row["accuracy"]) for row in record["per_class"]] == [
        ("Polar_Bear", 1, 0.0),
        ("cat", 2, 0.5),
        ("dog", 1, 1.0),
    ]
    assert record["counts"] == {"images": 4, "classes": 3}
    worst = record["analysis"]["worst_photos"]
    assert [(each["photo"], each["guess"], each["score"]) for each in worst] == [
        ("cat/b.png", "dog", 0.9),
        ("Polar_Bear/d.png", "cat", 0.5),
    ]
    assert "mean_class_accuracy" in out
    assert out.startswith("class        images  accuracy")
    page = (tmp_path / "r.html").read_text()
    assert page.count("data:image/jpeg;base64,") == 2
    assert "http" not in page.replace("http-equiv", "")
    status, out, _ = run("evaluate", *words, "--json", "-")
    assert json.loads(out) == record


def test_a_classifier_is_scored_and_its_other_classes_are_never_right(run, folder, model, tmp_path):
    words = ("--model", model, "--data", f"folder:{folder}", "--json", tmp_path / "o.json", "--batch-size", 3)
    status, _, err = run("evaluate", *words)
    assert status == 0, err
    assert "4 of 4 images" in err
    record = json.loads((tmp_path / "o.json").read_text())
    assert record["analysis"]["confusion"]["names"] == ["Polar_Bear", "cat", "dog", "ufo"]
    assert len(record["per_class"]) == 3
    assert "1 class of the model" in record["notes"][0]
    assert record["macro_f1"] == pytest.approx(np.mean([row["f1"] for row in record["per_class"]]))
    assert {"expected_calibration_error", "brier_score", "negative_log_likelihood", "macro_auc"} < set(record)
    assert [row["recall"] for row in record["per_class"]] == [row["accuracy"] for row in record["per_class"]]
    assert [each["label"] for each in record["analysis"]["roc"]["classes"]] == ["Polar_Bear", "cat", "dog"]
    assert 0 < record["analysis"]["reliability"]["ece"] < 1
    assert run("evaluate", *words, "--limit", 1)[0] == 0
    assert json.loads((tmp_path / "o.json").read_text())["counts"]["images"] == 1


def test_saved_classes_have_the_models_scores(run, folder, tmp_path):
    set_seed(0)
    save_model(tmp_path / "net.safetensors", ResNet(18, label_names=NAMES))
    words = ("--data", f"folder:{folder}", "--json", tmp_path / "o.json", "--quiet")
    saved = tmp_path / "saved.csv"
    assert run("evaluate", "--model", tmp_path / "net.safetensors", *words, "--save-results", saved)[0] == 0
    model = json.loads((tmp_path / "o.json").read_text())
    assert run("evaluate", "--results", saved, *words)[0] == 0
    assert json.loads((tmp_path / "o.json").read_text()) == model
    status, _, err = run("evaluate", "--model", tmp_path / "net.safetensors", *words, "--save-results", tmp_path / "x")
    assert status == 2
    assert "are a FILE.csv" in err


def test_results_without_scores_of_all_classes_have_no_roc_curve(run, folder, tmp_path):
    words = ("--gt", f"folder:{folder}", "--results", results(tmp_path, GUESSES), "--json", tmp_path / "o.json")
    assert run("evaluate", *words)[0] == 0
    record = json.loads((tmp_path / "o.json").read_text())
    assert record["analysis"]["roc"] is None
    assert "macro_auc" not in record
    assert [row["auc"] for row in record["per_class"]] == [None] * 3
    assert [row["precision"] for row in record["per_class"]] == [None, 0.5, 0.5]


def test_a_classifier_of_the_zoo_on_cifars_own_files(run, shared, tmp_path, monkeypatch):
    home = tmp_path / "home" / "weights" / "cifar_resnet20_cifar10"
    home.mkdir(parents=True)
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path / "home"))
    shutil.copy(shared / "weights" / "resnet20_cifar10" / "resnet20-12fca82f.th", home)
    with np.load(shared / "data" / "cifar10_train_4000.npz") as data:
        imgs, labels = data["images"][:100], data["labels"][:100]
    rows = np.concatenate((labels[:, None].astype(np.uint8), imgs.transpose(0, 3, 1, 2).reshape(100, -1)), axis=1)
    (tmp_path / "cifar").mkdir()
    (tmp_path / "cifar" / "test_batch.bin").write_bytes(rows.tobytes())
    words = ("--model", "cifar_resnet20_cifar10", "--data", f"cifar10:{tmp_path / 'cifar'}", "--quiet")
    status, _, err = run("evaluate", *words, "--json", tmp_path / "o.json", "--report", tmp_path / "r.html")
    assert status == 0, err
    record = json.loads((tmp_path / "o.json").read_text())
    assert record["accuracy"] >= 0.97  # images that it was trained on
    assert record["top5_accuracy"] == 1.0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("photo,label\na,cat\n", "no class is predicted for 3 of 4 images, first "),
        ("photo,label\na,horse\n", "line 2: the ground truth has no class"),
        ("photo,label\nz,cat\n", "line 2: the ground truth has no photo"),
        ("photo,label\na,cat\na,cat\n", "line 3: this image's class was predicted before"),
        ("photo,label,score\na,cat,nan\n", "line 2: the score must be"),
        ("photo,label,score\na,cat,-1\n", "line 2: the score must be"),
        ("photo,label,score\na,cat\n", "line 2 has 2 columns"),
        ("photo,score\na,1\n", "no column for the label"),
    ],
)
def test_guesses_that_make_no_sense_are_named_and_no_number_printed(run, folder, tmp_path, text, says):
    words = ("--gt", f"folder:{folder}", "--results", results(tmp_path, text))
    status, out, err = run("evaluate", *words)
    assert (status, out) == (2, "")
    assert says in err


@pytest.mark.parametrize(("words", "n_image"), [((), 4), (("--split", "val"), 4), (("--split", "train"), 3)])
def test_the_data_of_a_training_are_evaluated_on_val_unless_another_split_is_given(run, folder, model, words, n_image):
    shutil.copytree(folder, folder.parent / "root/val")
    shutil.copytree(folder, folder.parent / "root/train")
    (folder.parent / "root/train/cat/a.png").unlink()
    data = ("--data", f"folder:{folder.parent / 'root'}")
    status, out, err = run("evaluate", "--model", model, *data, *words, "--json", "-")
    assert status == 0, err
    assert json.loads(out)["counts"] == {"images": n_image, "classes": 3}


def test_words_that_make_no_sense_are_errors(run, folder, model, net, tmp_path):
    guesses = results(tmp_path, GUESSES)
    truth, data = ("--gt", f"folder:{folder}"), ("--data", f"folder:{folder}")
    for words, says in (
        ((*truth, "--results", guesses, "--iou-type", "segm"), "--iou-type does not apply"),
        ((*truth, "--results", guesses, "--split", "val"), "--split val: "),
        ((*truth, "--results", guesses, *data), "evaluate needs one ground truth"),
        (("--gt", "folder:", "--results", guesses), "the folder of the data set is missing"),
        (("--gt", f"folder:{tmp_path / 'absent'}", "--results", guesses), "not a folder"),
        ((*truth, "--model", model), "a model needs images"),
        ((*data, *net), "needs a classifier"),
        ((*data, "--model", model, "--nms-thresh", "0.5"), "--nms-thresh does not apply"),
        ((*data, "--model", "yolo_v3"), "the zoo has no model"),
    ):
        status, out, err = run("evaluate", *words)
        assert (status, out) == (2, ""), words
        assert says in err


def test_a_classifier_without_names_goes_by_the_order_of_the_folders(run, folder, tmp_path):
    save_model(tmp_path / "three.safetensors", ResNet(18, 3))
    save_model(tmp_path / "four.safetensors", ResNet(18, 4))
    words = ("evaluate", "--data", f"folder:{folder}", "--quiet", "--model")
    assert run(*words, tmp_path / "three.safetensors")[0] == 0
    status, _, err = run(*words, tmp_path / "four.safetensors")
    assert status == 2
    assert "4 classes without names" in err


def test_verdicts_are_the_wrong_guesses(run, folder, tmp_path):
    words = ("evaluate", "--gt", f"folder:{folder}", "--results", results(tmp_path, GUESSES))
    assert run(*words, "--verdicts", tmp_path / "v.jsonl", "--json", tmp_path / "o.json")[0] == 0
    rows = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text().splitlines()]
    assert rows
    assert all(row["guess"] != row["label"] and row["path"].endswith(row["image"]) for row in rows)
