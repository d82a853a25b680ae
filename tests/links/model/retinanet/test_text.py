"""The detector that ships: its file is the one of its record, and it reads a receipt that it has not seen."""

import hashlib
import json
import pathlib

import numpy as np

from cvzoo.evaluations import eval_detection_coco
from cvzoo.links import retinanet_text, zoo_members
from cvzoo.links.model.retinanet.text import RETINANET_TEXT, TEXT_FILE
from cvzoo.weights.model_header import read_model_header

ROOT = pathlib.Path(__file__).resolve().parents[4]
TRUTH = json.loads(pathlib.Path(__file__).with_name("receipt_boxes.json").read_text())


def test_the_file_is_the_one_of_the_record():
    data = TEXT_FILE.read_bytes()
    assert (hashlib.sha256(data).hexdigest(), len(data)) == (RETINANET_TEXT.sha256, RETINANET_TEXT.size)
    assert len(data) < 8e6


def test_the_file_says_what_it_is():
    header = read_model_header(TEXT_FILE)
    assert header.architecture == "RetinaNet"
    assert header.label_names == ("text",)


def test_it_is_in_the_zoo_and_needs_no_download():
    member = next(each for each in zoo_members() if each.name == "retinanet_text")
    assert member.files == ()
    assert member.weights == RETINANET_TEXT


def test_it_finds_the_lines_of_an_unseen_receipt():
    model = retinanet_text()
    model.use_preset("evaluate")
    bboxes, labels, scores = model.predict([ROOT / "examples/receipt.png"])
    truth = np.array(TRUTH, np.float32)
    found = eval_detection_coco(bboxes, labels, scores, [truth], [np.zeros(len(truth), np.int32)])
    assert found["coco_eval"].summary["AP50"] > 0.9


def test_a_blank_sheet_has_no_text():
    bboxes, _, _ = retinanet_text().predict([np.full((3, 300, 200), 250, np.float32)])
    assert len(bboxes[0]) == 0
