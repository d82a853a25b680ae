"""What a model cannot be asked for is told at once, and no job is queued."""

import numpy as np
import pytest
from PIL import Image

from cvzoo.studio.jobs import recipe_helper

TASKS = {"CIFARResNet": "classification", "SSD": "detection", "PSPNet": "segmentation"}
FOLDERS = {"classes": "folder:{}/classes", "maps": "folder:{}/maps", "boxes": "voc:{}/boxes"}


@pytest.fixture(autouse=True)
def zoo(studio, monkeypatch):
    monkeypatch.setattr(studio.models.zoo, "members", list)
    monkeypatch.setattr(recipe_helper, "_listing", lambda: {"recipes": [], "tasks": TASKS})


@pytest.fixture
def data(tmp_path):
    """A folder of data sets of three kinds."""
    for name in ("classes/val/cat", "maps/labels/val", "maps/images/val", "boxes/Annotations", "boxes/JPEGImages"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "maps" / "classes.txt").write_text("road\n")
    for name in ("maps/labels/val/a", "maps/images/val/a", "boxes/a"):
        Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(tmp_path / f"{name}.png")
    return tmp_path


def write_model(watched, architecture, **metadata):
    from cvzoo.weights.formats.safetensors import write_safetensors
    from cvzoo.weights.model_header import ModelHeader

    header = ModelHeader(architecture=architecture, settings={}, label_names=("cat", "dog"), metadata=metadata)
    write_safetensors(
        watched / "first" / "best.safetensors", {"W": np.zeros(1, np.float32)}, metadata=header.to_metadata()
    )


@pytest.mark.parametrize(
    ("architecture", "form", "why"),
    [
        ("CIFARResNet", "coco", "this model predicts classes of whole images: choose CSV or JSON lines"),
        ("CIFARResNet", "csv", None),
        ("PSPNet", "csv", "CSV cannot hold label maps"),
        ("PSPNet", "coco", None),
        ("SSD", "coco", None),
        ("SSD", "csv", None),
        ("OfAUser", "coco", None),
        ("CIFARResNet", "jsonl", None),
    ],
)
def test_predictions_in_a_format_that_cannot_hold_them_are_refused(
    browser, studio, run_id, watched, data, architecture, form, why
):
    write_model(watched, architecture)
    answer = browser.post(f"/api/v1/models/{run_id}/predictions", json={"images": str(data / "boxes"), "form": form})
    assert answer.status_code == (201 if why is None else 422)
    assert len(studio.jobs.all()) == (why is None)
    if why is not None:
        assert why in answer.json()["fields"]["form"]
        page = browser.post(f"/models/{run_id}/predictions", data={"predicted": str(data / "boxes"), "form": form})
        assert page.status_code == 422
        assert why in page.text


@pytest.mark.parametrize("name", ["classes", "maps", "boxes"])
def test_a_folder_of_label_maps_is_told_from_one_of_classes_as_evaluations_do(data, name):
    from cvzoo.datasets.label_map_folder_dataset import is_label_map_folder
    from cvzoo.studio.models import fits

    assert (fits._annotated("folder", str(data / name)) == fits._MAPS) == is_label_map_folder(data / name)


@pytest.mark.parametrize("kind", FOLDERS)
@pytest.mark.parametrize(
    ("architecture", "of"), [("CIFARResNet", "classes"), ("PSPNet", "maps"), ("SSD", "boxes"), ("OfAUser", None)]
)
def test_an_evaluation_on_data_of_another_task_is_refused(
    browser, studio, run_id, watched, data, architecture, of, kind
):
    write_model(watched, architecture)
    spec = FOLDERS[kind].format(data)
    answer = browser.post("/api/v1/evaluations", json={"model": run_id, "data": spec})
    fits = of in (None, kind)
    assert answer.status_code == (201 if fits else 422), answer.text
    assert len(studio.jobs.all()) == fits
    if not fits:
        assert "this model predicts" in answer.json()["fields"]["data"]
        page = browser.post("/evaluations", data={"model": run_id, "data": spec})
        assert page.status_code == 422
        assert "this model predicts" in page.text


@pytest.mark.parametrize(("architecture", "status"), [("CIFARResNet", 422), ("SSD", 201)])
def test_thresholds_are_found_for_detectors_only(browser, run_id, watched, data, architecture, status):
    write_model(watched, architecture)
    spec = FOLDERS["boxes" if status == 201 else "classes"].format(data)
    body = {"model": run_id, "data": spec, "find_thresholds": True}
    answer = browser.post("/api/v1/evaluations", json=body)
    assert answer.status_code == status
    if status == 422:
        assert "detectors" in answer.json()["fields"]["find_thresholds"]
        assert "thresholds are those of detectors" in browser.post("/evaluations", data=body).text


def test_an_evaluation_on_a_folder_that_does_not_exist_is_refused(browser, studio, run_id, watched, data):
    write_model(watched, "SSD")
    answer = browser.post("/api/v1/evaluations", json={"model": run_id, "data": f"voc:{data}/nowhere,split=val"})
    assert answer.json()["fields"] == {"data": f"{data}/nowhere does not exist"}
    assert studio.jobs.all() == []


@pytest.mark.parametrize("spec", ["{}/images", "voc:{}/images", "folder:{}/images", "coco:{}/images", "yolo:{}/images"])
def test_an_evaluation_on_images_without_annotations_is_refused(browser, studio, run_id, watched, data, spec):
    (data / "images").mkdir()
    (data / "boxes" / "a.png").rename(data / "images" / "a.png")
    write_model(watched, "OfAUser")
    body = {"model": run_id, "data": spec.format(data)}
    answer = browser.post("/api/v1/evaluations", json=body)
    assert answer.status_code == 422, answer.text
    assert str(data / "images") in answer.json()["fields"]["data"]
    page = browser.post("/evaluations", data=body)
    assert page.status_code == 422
    assert f'id="data-error">{data / "images"}' in page.text or f'id="data-error">{body["data"]}' in page.text
    assert studio.jobs.all() == []


@pytest.mark.parametrize("form", ["onnx", "int8"])
def test_a_quantized_model_is_neither_exported_nor_quantized_again(browser, studio, run_id, watched, data, form):
    write_model(watched, "CIFARResNet", cvzoo_quantization="{}")
    body = {"form": form, "images": [str(data / "boxes")]}
    answer = browser.post(f"/api/v1/models/{run_id}/exports", json=body)
    assert answer.status_code == 422
    assert "the model that it was made of" in answer.json()["fields"]["form"]
    assert studio.jobs.all() == []


def test_the_name_of_the_header_is_that_of_quantized_files():
    from cvzoo.links.quantization.stored import KEY
    from cvzoo.studio.models import fits

    assert fits._QUANTIZED == KEY


def test_the_helper_knows_the_tasks_of_all_architectures():
    from cvzoo.links.model.architectures import architectures
    from cvzoo.studio.worker.recipes import listing

    tasks = listing()["tasks"]
    assert TASKS.items() <= tasks.items()
    assert set(tasks) == {each.name for each in architectures()}
