"""The playground's requests, with an imitated process and with the real one."""

import base64
import dataclasses
import io
import pathlib
import sys

import numpy as np
import pytest
from PIL import Image

from cvzoo.studio.inference.pool import Pool

FAKE = pathlib.Path(__file__).parents[1] / "inference" / "fake_worker.py"


@pytest.fixture
def studio(studio, monkeypatch):
    pool = Pool(command=(sys.executable, str(FAKE)))
    monkeypatch.setattr(studio.models.zoo, "members", list)
    yield dataclasses.replace(studio, inference=pool)
    pool.close()


def test_the_body_is_given_to_the_process_of_the_model(browser, run_id, watched):
    answer = browser.post(f"/api/v1/predict?model={run_id}&nms=0.5", content=b"image")
    assert answer.status_code == 200
    assert answer.json()["words"] == [str(watched / "first" / "best.safetensors"), "voc:shapes"]
    assert answer.json()["n_byte"] == 5


@pytest.mark.parametrize(
    ("query", "status"),
    [("model=wr_" + "a" * 16, 404), ("model=zoo:../x", 404), ("model=", 404), ("", 422), ("model={run}&nms=2", 422)]
    + [("model={run}&nms=nan", 422)],
)
def test_malformed_questions_are_refused(browser, run_id, query, status):
    assert browser.post(f"/api/v1/predict?{query.format(run=run_id)}", content=b"x").status_code == status


def test_without_an_image_it_says_so(browser, run_id):
    answer = browser.post(f"/api/v1/predict?model={run_id}")
    assert (answer.status_code, answer.json()["title"]) == (415, "Wrong type")


def test_an_image_of_more_than_32_megabytes_is_refused(browser, run_id):
    headers = {"content-length": str((32 << 20) + 1)}
    assert browser.post(f"/api/v1/predict?model={run_id}", content=b"", headers=headers).status_code == 413


def test_a_token_that_reads_may_predict(stranger, studio, run_id):
    from cvzoo.studio.access.tickets import new_ticket
    from cvzoo.studio.access.tokens import new_token

    new_ticket(studio.engine, studio.clock)
    bearer = {"authorization": f"Bearer {new_token(studio.engine, 'reader', 'read', 1, studio.clock)}"}
    assert stranger.post(f"/api/v1/predict?model={run_id}", content=b"x", headers=bearer).status_code == 200


def test_images_of_the_validation_data_come_with_their_annotation(browser, run_id):
    answer = browser.get(f"/api/v1/models/{run_id}/validation-images/3")
    assert answer.status_code == 200
    assert set(answer.json()) >= {"png", "pid"}


def png(size):
    file = io.BytesIO()
    Image.fromarray(np.zeros((*size, 3), np.uint8)).save(file, "PNG")
    return file.getvalue()


def bomb(width=40_000, height=25_000):
    """A PNG of 10^9 pixels in 10 kB: refused by its header."""
    import struct
    import zlib

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 10_000_000))


def test_the_real_process_answers_hostile_images_one_by_one(studio, browser, run_id, watched):
    from cvzoo.config import set_seed
    from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
    from cvzoo.serializers.model_file import save_model

    set_seed(0)
    model = CIFARResNet(20, label_names=("cat", "dog"))
    save_model(watched / "first" / "best.safetensors", model)
    studio.inference._command = Pool()._command
    whole = png((32, 32))
    bodies = [
        b"\xff\xd8\xff" + b"\0" * 100,
        whole[:60],
        b"GIF89a",
        b"<svg onload=alert(1)>",
        b"%PDF-1.4",
        bomb(),
        bomb(9000, 8000),
    ]
    for body in bodies:
        answer = browser.post(f"/api/v1/predict?model={run_id}", content=body)
        assert answer.status_code == 415, (body[:20], answer.text)
        assert answer.json()["detail"]
    assert (answer.json()["detail"], answer.json()["expected"], answer.json()["got"]) == (
        "too many pixels, perhaps a decompression bomb",
        "at most 40,000,000 pixels",
        "8000 x 9000 = 72,000,000 pixels",
    )
    answer = browser.post(f"/api/v1/predict?model={run_id}", content=whole)
    (prob,) = model.predict([np.zeros((3, 32, 32), np.float32)])
    assert {each["name"]: each["score"] for each in answer.json()["classes"]} == dict(
        zip(("cat", "dog"), prob.tolist())
    )
    assert len(studio.inference.pids) == 1
    layers = browser.get(f"/api/v1/models/{run_id}/layers").json()
    assert (layers["size"], layers["layers"][0]["name"]) == ([480, 640], "conv1/conv")
    (weight,) = browser.get(f"/api/v1/models/{run_id}/weights?layer=conv1/conv").json()["parameters"]
    assert (weight["name"], weight["shape"]) == ("W", [16, 3, 3, 3])
    path = f"/api/v1/predict/activations?model={run_id}&layer="
    found = browser.post(f"{path}conv1/conv", content=whole).json()
    assert found["shape"] == [1, 16, 32, 32]
    assert Image.open(io.BytesIO(base64.b64decode(found["png"]))).size == (134, 134)
    assert browser.post(f"{path}conv1/conv", content=whole[:60]).status_code == 415
    refused = browser.post(f"{path}conv9", content=whole)
    assert (refused.status_code, "no layer 'conv9'" in refused.json()["detail"]) == (422, True)


def test_outputs_of_a_layer_need_an_image(browser, run_id):
    assert browser.post(f"/api/v1/predict/activations?model={run_id}&layer=x").status_code == 415
    assert browser.post(f"/api/v1/predict/activations?model={run_id}", content=b"x").status_code == 422


def test_the_network_of_a_model_that_is_not_here_is_refused(browser, studio, monkeypatch):
    member = {"name": "ssd300_voc", "here": False}
    monkeypatch.setattr(studio.models.zoo, "members", lambda: [member])
    for path in ("/models/zoo:ssd300_voc/network", "/api/v1/models/zoo:ssd300_voc/layers"):
        answer = browser.get(path)
        assert answer.status_code == 409
        assert "is not on this machine" in answer.text


def test_a_file_that_is_no_model_is_told(studio, browser, run_id):
    studio.inference._command = Pool()._command
    answer = browser.post(f"/api/v1/predict?model={run_id}", content=b"x")
    assert answer.status_code == 422
    assert "best.safetensors" in answer.json()["detail"]
